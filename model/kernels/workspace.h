#pragma once
#include <memory>

namespace headscope::model {

/// Threads and scratch memory for computations. Each thread that computes needs its own. Memory grows as
/// needed and is kept until free_scratch, so that later tokens allocate little.
class Workspace {
 public:
  /// `threads` <= 0: one per processor. Results are bit-identical for any number.
  explicit Workspace(int threads = 0);
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  ~Workspace();
  int threads() const;
  /// For a time without computations. What the next one needs is allocated again.
  void free_scratch();

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::model
