#include "model/run.h"

#include <algorithm>
#include <cassert>

namespace headscope::model {

Page::Page(const Config& config, int first)
    : first_(first),
      n_layer_(config.n_layer),
      d_model_(config.n_embd),
      values_(std::make_unique_for_overwrite<float[]>(size())) {}

float* Page::at(int layer, int what) const {
  assert(layer >= 0 && (layer < n_layer_ || (layer == n_layer_ && what == 3)));
  // The last resid_post comes directly after the last layer's four planes.
  const std::size_t index = layer == n_layer_
                                ? 4 * static_cast<std::size_t>(layer)
                                : 4 * static_cast<std::size_t>(layer) + static_cast<std::size_t>(what);
  return values_.get() + index * plane();
}

void Page::copy_rows(const Page& other, int rows) {
  assert(other.size() == size() && rows <= kPositions);
  const auto floats = static_cast<std::ptrdiff_t>(rows) * d_model_;
  for (std::size_t start = 0; start < size(); start += plane()) {
    std::copy_n(other.values_.get() + start, floats, values_.get() + start);
  }
}

namespace {

std::span<const float> row_of(const Run& run, const float* rows, int pos) {
  const auto width = static_cast<std::size_t>(run.config.n_embd);
  return {rows + static_cast<std::size_t>(pos % Page::kPositions) * width, width};
}

const Page& page_of(const Run& run, int pos) {
  assert(pos >= 0 && pos < run.length());
  return *run.pages[static_cast<std::size_t>(pos / Page::kPositions)];
}

}  // namespace

std::span<const float> Run::q(int layer, int pos) const {
  return row_of(*this, page_of(*this, pos).q(layer), pos);
}
std::span<const float> Run::k(int layer, int pos) const {
  return row_of(*this, page_of(*this, pos).k(layer), pos);
}
std::span<const float> Run::v(int layer, int pos) const {
  return row_of(*this, page_of(*this, pos).v(layer), pos);
}
std::span<const float> Run::resid(int layer, int pos) const {
  return row_of(*this, page_of(*this, pos).resid(layer), pos);
}

std::size_t Run::bytes() const {
  std::size_t sum = 0;
  for (const auto& page : pages) sum += page->bytes();
  return sum;
}

}  // namespace headscope::model
