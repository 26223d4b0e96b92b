#pragma once
#include <cstddef>
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

  void add(std::string_view bytes);
  /// In 40 or 64 hexadecimal digits; nothing can be added afterwards.
  std::string hex();

 private:
  std::unique_ptr<void, void (*)(void*)> state_;  // the system's
  std::size_t size_;                              // of the hash, in bytes
};

}  // namespace headscope::system
