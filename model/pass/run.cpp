#include "model/pass/run.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "model/files/error.h"

namespace headscope::model {

Page::Page(const Config& config, std::shared_ptr<PageMemory> memory, std::shared_ptr<const Page> below,
           int first_layer)
    : config_(config),
      first_layer_(first_layer),
      below_(std::move(below)),
      size_(floats(config, first_layer)),
      memory_(std::move(memory)),
      values_(memory_ ? memory_->take(size_) : allocate_floats(size_)) {
  assert(first_layer == 0 || below_ != nullptr);
}

Page::~Page() {
  if (memory_) memory_->give_back(std::move(values_), size_);
}

std::size_t Page::floats(const Config& config, int first_layer) {
  return (4 * static_cast<std::size_t>(config.n_layer - first_layer) + 1) * kPositions *
         static_cast<std::size_t>(config.n_embd);
}

std::size_t Page::bytes(const Config& config) {
  return floats(config, 0) * sizeof(float);
}

const float* Page::at(int layer, Kept what, int head) const {
  return layer < first_layer_ ? below_->at(layer, what, head) : values_.get() + offset(layer, what, head);
}

std::size_t Page::offset(int layer, Kept what, int head) const {
  const bool is_end = layer == config_.n_layer;  // the last resid_post, after the last layer's four arrays
  assert(layer >= first_layer_ && (layer < config_.n_layer || (is_end && what == Kept::resid)));
  const std::ptrdiff_t array = 4 * (layer - first_layer_) + (is_end ? 0 : static_cast<int>(what));
  return static_cast<std::size_t>(array * config_.n_embd + head * config_.d_head()) * kPositions;
}

std::optional<Page::ClaimedRows> Page::claim(int from, int to) {
  if (!claimed_.compare_exchange_strong(from, to)) return std::nullopt;
  return ClaimedRows(*this);
}

void Page::ClaimedRows::copy_from(const Page& other, int rows) const {
  const Config& config = page_->config_;
  assert(other.config_.n_layer == config.n_layer && rows <= page_->claimed());
  const auto copy = [&](const float* from, float* to, int width) {
    std::copy_n(from, static_cast<std::ptrdiff_t>(rows) * width, to);
  };
  for (int layer = page_->first_layer_; layer < config.n_layer; ++layer) {
    for (int head = 0; head < config.n_head; ++head) {
      copy(other.q(layer, head), q(layer, head), config.d_head());
      copy_keys_and_values(other, layer, head, rows);
    }
    copy(other.resid(layer), resid(layer), config.n_embd);
  }
  copy(other.resid(config.n_layer), resid(config.n_layer), config.n_embd);
}

void Page::ClaimedRows::copy_keys_and_values(const Page& other, int layer, int head, int rows) const {
  const std::ptrdiff_t d_head = page_->config_.d_head();
  for (std::ptrdiff_t i = 0; i < d_head; ++i)
    std::copy_n(other.k(layer, head) + i * kPositions, rows, k(layer, head) + i * kPositions);
  std::copy_n(other.v(layer, head), rows * d_head, v(layer, head));
}

namespace {

std::span<const float> row_of(const float* rows, int width, int pos) {
  return {rows + static_cast<std::ptrdiff_t>(pos % Page::kPositions) * width,
          static_cast<std::size_t>(width)};
}

const Page& page_of(const Run& run, int pos) {
  check_positions(run, pos);
  return *run.pages[pos / Page::kPositions];
}

}  // namespace

std::span<const float> Run::q(int layer, int head, int pos) const {
  return row_of(page_of(*this, pos).q(layer, head), config.d_head(), pos);
}
std::vector<float> Run::k(int layer, int head, int pos) const {
  const float* keys = page_of(*this, pos).k(layer, head) + pos % Page::kPositions;
  std::vector<float> key(config.d_head());
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = keys[i * Page::kPositions];
  return key;
}
std::span<const float> Run::v(int layer, int head, int pos) const {
  return row_of(page_of(*this, pos).v(layer, head), config.d_head(), pos);
}
std::span<const float> Run::resid(int layer, int pos) const {
  return row_of(page_of(*this, pos).resid(layer), config.n_embd, pos);
}

std::size_t Run::max_bytes(const Config& config) {
  return static_cast<std::size_t>(Page::count_for(config.n_ctx)) * Page::bytes(config);
}

int common_tokens(std::span<const int> a, std::span<const int> b) {
  return static_cast<int>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::shared_ptr<const Run> shortened(const Run& run, int length) {
  auto result = std::make_shared<Run>(run);
  result->tokens.resize(length);
  result->pages.resize(Page::count_for(length));
  result->computed_positions = std::max(0, run.computed_positions - (run.length() - length));
  return result;
}

void check_positions(const Run& run, int first, int count) {
  if (first >= 0 && count >= 0 && first <= run.length() - count) return;
  const std::string one = "there is no position " + std::to_string(first),
                    more = "there are no positions " + std::to_string(first) + " to " +
                           std::to_string(first + count - 1);
  throw RunError((count == 1 ? one : more) + "; the run has positions 0 to " +
                 std::to_string(run.length() - 1));
}

}  // namespace headscope::model
