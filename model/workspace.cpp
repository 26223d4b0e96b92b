#include "model/workspace.h"

namespace headscope::model {

float* Buffer::reserve(std::size_t size) {
  if (size > size_) {
    values_.reset();  // first, so that both are never held at once
    size_ = 0;
    values_ = std::make_unique_for_overwrite<float[]>(size);
    size_ = size;
  }
  return values_.get();
}

Workers::Workers(int threads, const PanelKernels& kernels)
    : kernels_(kernels), pool_(threads), scratch_(static_cast<std::size_t>(pool_.threads())) {}

void Workers::reserve_scratch(std::size_t size) {
  for (Buffer& buffer : scratch_) buffer.reserve(size);
}

Workspace::Workspace(int threads) : impl_(std::make_unique<Impl>(threads)) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
int Workspace::threads() const {
  return impl_->workers.threads();
}

}  // namespace headscope::model
