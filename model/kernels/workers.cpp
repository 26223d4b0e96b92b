#include "model/kernels/workers.h"

namespace headscope::model {

std::size_t Buffer::room_for(std::size_t size) {
  constexpr std::size_t kHugePage = kHugePageBytes / sizeof(float);
  return size > kHugePage / 4 ? (size + kHugePage - 1) / kHugePage * kHugePage : size;
}

float* Buffer::reserve(std::size_t size) {
  if (size > size_) {
    values_.reset();  // first, so that both are never held at once
    size_ = 0;
    size = room_for(size);
    values_ = allocate_floats(size);
    size_ = size;
  }
  return values_.get();
}

void Workers::reserve_scratch(std::size_t size) {
  if (size <= scratch_size_) return;
  constexpr std::size_t kLine = kCacheLineBytes / sizeof(float);
  size = (size + kLine - 1) / kLine * kLine;
  scratch_size_ = 0;  // the previous memory has been freed
  scratch_.reserve(size * threads());
  scratch_size_ = size;
}

Workspace::Workspace(int threads) : impl_(std::make_unique<Impl>(threads)) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
int Workspace::threads() const {
  return impl_->workers.threads();
}

void Workspace::free_scratch() {
  Impl& own = *impl_;
  for (Buffer* buffer :
       {&own.activations, &own.gradients, &own.transposed, &own.scores, &own.result, &own.logits})
    *buffer = {};
  own.pages->keep_at_most(0);
}

}  // namespace headscope::model
