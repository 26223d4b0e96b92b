#pragma once
#include <cstddef>

namespace headscope::model {

/// A block of zeroed memory, allocated at once (on huge pages if the system has them) and handed out in
/// pieces.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< alignment of each piece: a cache line

  /// Throws std::bad_alloc.
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// The space that a piece of `bytes` takes in an arena.
  static constexpr std::size_t room_for(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// Takes the next `bytes`; there must be room for them.
  std::byte* take(std::size_t bytes);

  std::size_t size() const { return size_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
};

}  // namespace headscope::model
