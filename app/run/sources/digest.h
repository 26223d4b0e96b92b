#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headscope::app {

/// The hash by which the hub names a file's content: SHA-256 of large files, of small ones git's SHA-1 of a
/// blob. Fed piece by piece. Throws std::runtime_error where OpenSSL has no such hash.
class Digest {
 public:
  static Digest sha256();
  /// `expected`: 64 hexadecimal digits or 40, which says which of the two it is; `bytes`: the file's size.
  Digest(std::string_view expected, std::uint64_t bytes);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void add(std::string_view bytes);
  /// In hexadecimal digits; nothing can be added after it.
  std::string hex();

 private:
  struct State;
  explicit Digest(bool git);
  std::unique_ptr<State> state_;
};

/// Whether a text is such a name: 40 or 64 hexadecimal digits in lower case.
bool is_digest(std::string_view text);

}  // namespace headscope::app
