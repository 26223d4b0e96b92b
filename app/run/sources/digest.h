#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headscope::app {

/// The hash by which the hub identifies a file's content: SHA-256 for large files, git's SHA-1 of a blob for
/// small ones. Data is added piece by piece. Throws std::runtime_error if OpenSSL lacks the hash.
class Digest {
 public:
  static Digest sha256();
  /// `expected`: 64 or 40 hexadecimal digits, which selects SHA-256 or SHA-1; `bytes`: the file's size.
  Digest(std::string_view expected, std::uint64_t bytes);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void add(std::string_view bytes);
  /// In hexadecimal digits; nothing can be added afterwards.
  std::string hex();

 private:
  struct State;
  explicit Digest(bool git);
  std::unique_ptr<State> state_;
};

/// Whether a text is such a hash: 40 or 64 hexadecimal digits in lower case.
bool is_digest(std::string_view text);

}  // namespace headscope::app
