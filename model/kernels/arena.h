#pragma once
#include <cstddef>

namespace headscope::model {

/// One stretch of zeroed memory, taken from the system at once (on huge pages, where it has them) and handed
/// out piece by piece.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< of each piece: a cache line

  /// Throws std::bad_alloc.
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// What a piece of `bytes` takes of an arena.
  static constexpr std::size_t room_for(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// The next `bytes`; there must be room for them.
  std::byte* take(std::size_t bytes);

  std::size_t size() const { return size_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
};

}  // namespace headscope::model
