#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace headscope::system {

/// A cryptographic hash as the system computes it: by Windows itself, elsewhere by OpenSSL.
/// Members throw std::runtime_error (one sentence) if the system lacks it.
class Hash {
 public:
  enum class Kind { sha1, sha256 };

  explicit Hash(Kind kind);
  Hash(Hash&&) noexcept;
  Hash& operator=(Hash&&) noexcept;
  ~Hash();

  void add(std::string_view bytes);
  /// 20 or 32 bytes; nothing can be added afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::system
