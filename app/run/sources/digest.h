#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "system/hash.h"

namespace headscope::app {

/// The hash by which the hub identifies a file's content: SHA-256 for large files, git's SHA-1 of a blob for
/// small ones. Data is added piece by piece. Throws std::runtime_error if the system lacks the hash.
class Digest {
 public:
  static Digest sha256() { return Digest(system::Hash::Kind::sha256); }
  /// `expected`: 64 or 40 hexadecimal digits, which selects SHA-256 or SHA-1; `bytes`: the file's size.
  Digest(std::string_view expected, std::uint64_t bytes);

  void add(std::string_view bytes) { hash_.add(bytes); }
  /// In hexadecimal digits; nothing can be added afterwards.
  std::string hex();

 private:
  explicit Digest(system::Hash::Kind kind) : hash_(kind) {}

  system::Hash hash_;
};

/// Whether a text is such a hash: 40 or 64 hexadecimal digits in lower case.
bool is_digest(std::string_view text);

}  // namespace headscope::app
