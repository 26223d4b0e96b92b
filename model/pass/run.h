#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/files/config.h"
#include "model/kernels/float_memory.h"
#include "model/pass/plan.h"

namespace headscope::model {

/// The kept activations of positions [first, first + kPositions): for each layer q, k, v and resid_pre, and
/// the last layer's resid_post as `resid(n_layer)`. Row-major, one row per position: d_model floats for the
/// residual stream, and d_head for q and v, where each head has its own rows, so that attention reads
/// contiguous memory. A head's keys are transposed, one row per dimension: scores are then ordinary products,
/// and bit-identical for one query and for many.
///
/// Runs share pages. Each row is written once, by the pass that claimed it, and is immutable afterwards; a
/// run that continues another one writes to the same page, after the other's last row. A page is read-only
/// for everybody who has no claimed rows.
///
/// A page may hold only the layers from some layer on, and refer to another page for earlier ones: so a run
/// that is edited in a late layer shares the earlier layers with the unedited run.
class Page {
 public:
  class ClaimedRows;

  static constexpr int kPositions = 64;  ///< positions a page has room for

  /// Takes its memory from `memory` and returns it there; null: the system. Layers before `first_layer`, at
  /// most n_layer, are those of `below`, a page for the same positions.
  explicit Page(const Config& config, std::shared_ptr<PageMemory> memory = nullptr,
                std::shared_ptr<const Page> below = nullptr, int first_layer = 0);
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page();

  /// The number of pages for that many positions.
  static constexpr int count_for(int positions) { return (positions + kPositions - 1) / kPositions; }

  /// The memory of a page that holds all of the model's layers.
  static std::size_t bytes(const Config& config);

  int first_layer() const { return first_layer_; }                     ///< that it holds itself
  const std::shared_ptr<const Page>& below() const { return below_; }  ///< null if it holds all layers
  int claimed() const { return claimed_.load(); }                      ///< rows that have a writer

  /// Claims rows [from, to) for writing. Returns nothing if row `from` is already claimed, or an earlier row
  /// is not. Thread-safe: no row is claimed twice.
  std::optional<ClaimedRows> claim(int from, int to);

  /// Row 0 of a head's rows: q, v [kPositions, d_head], k [d_head, kPositions].
  const float* q(int layer, int head) const { return at(layer, Kept::q, head); }
  const float* k(int layer, int head) const { return at(layer, Kept::k, head); }
  const float* v(int layer, int head) const { return at(layer, Kept::v, head); }

  /// Row 0 of a layer's rows [kPositions, d_model]; layer == n_layer: the last resid_post.
  const float* resid(int layer) const { return at(layer, Kept::resid, 0); }
  std::size_t bytes() const { return size_ * sizeof(float); }  ///< without the page below

 private:
  enum class Kept { q, k, v, resid };                        // the arrays of a layer, in their order
  std::size_t offset(int layer, Kept what, int head) const;  // in values_
  const float* at(int layer, Kept what, int head) const;

  static std::size_t floats(const Config& config, int first_layer);

  Config config_;
  int first_layer_;
  std::shared_ptr<const Page> below_;
  std::atomic<int> claimed_ = 0;
  std::size_t size_;  // in floats
  std::shared_ptr<PageMemory> memory_;
  FloatMemory values_;  // [4 * layers + 1][kPositions * d_model]; those of the first layer first
};

/// Rows of a page that only the holder may write; the page must outlive it. Same layout as the page's own.
class Page::ClaimedRows {
 public:
  float* q(int layer, int head) const { return at(layer, Kept::q, head); }
  float* k(int layer, int head) const { return at(layer, Kept::k, head); }
  float* v(int layer, int head) const { return at(layer, Kept::v, head); }
  float* resid(int layer) const { return at(layer, Kept::resid, 0); }

  /// Copies the first `rows` rows of every layer that the page holds from another page of the same model.
  /// They must be claimed.
  void copy_from(const Page& other, int rows) const;
  /// The same for one head's keys and values.
  void copy_keys_and_values(const Page& other, int layer, int head, int rows) const;

 private:
  friend class Page;
  explicit ClaimedRows(Page& page) : page_(&page) {}
  float* at(int layer, Kept what, int head) const {
    return page_->values_.get() + page_->offset(layer, what, head);
  }
  Page* page_;
};

/// The result of one forward pass. Immutable; shared between the interface and the worker.
struct Run {
  Config config;
  std::vector<int> tokens;                   ///< [T]
  std::vector<std::shared_ptr<Page>> pages;  ///< position p is in pages[p / Page::kPositions]
  int computed_positions = 0;                ///< positions that this pass computed (the rest were reused)
  std::shared_ptr<const void> weights;       ///< identity of the weights that computed it
  std::shared_ptr<const Plan> plan;          ///< the edits; null: none
  Means means;                               ///< the plan's means, computed by the pass

  int length() const { return static_cast<int>(tokens.size()); }

  /// One position's row. q, k, v: [d_head]; resid: [d_model], layer in [0, n_layer]. Throw RunError for a
  /// position that the run does not have.
  std::span<const float> q(int layer, int head, int pos) const;
  std::vector<float> k(int layer, int head, int pos) const;
  std::span<const float> v(int layer, int head, int pos) const;
  std::span<const float> resid(int layer, int pos) const;

  /// The memory of the pages of a run of the longest prompt.
  static std::size_t max_bytes(const Config& config);
};

/// The length of the common prefix.
int common_tokens(std::span<const int> a, std::span<const int> b);

/// The same run, truncated to `length` positions.
std::shared_ptr<const Run> shortened(const Run& run, int length);

/// Throws RunError if the run lacks one of the positions [first, first + count).
void check_positions(const Run& run, int first, int count = 1);

}  // namespace headscope::model
