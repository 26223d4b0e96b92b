#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/config.h"

namespace headscope::model {

/// The kept activations of positions [first, first + filled): for each layer q, k, v and resid_pre, and the last
/// layer's resid_post as `resid(n_layer)`. Row-major, one row of d_model floats a position; head h of q, k, v stands in
/// columns [h * d_head, (h + 1) * d_head). Runs share pages; a page is written once, by the pass that made it.
class Page {
 public:
  static constexpr int kPositions = 64;  ///< positions a page has room for

  Page(const Config& config, int first);
  int first() const { return first_; }
  int filled() const { return filled_; }
  void set_filled(int filled) { filled_ = filled; }

  float* q(int layer) { return at(layer, 0); }
  float* k(int layer) { return at(layer, 1); }
  float* v(int layer) { return at(layer, 2); }
  float* resid(int layer) { return at(layer, 3); }  ///< layer == n_layer: the last resid_post
  const float* q(int layer) const { return const_cast<Page*>(this)->q(layer); }
  const float* k(int layer) const { return const_cast<Page*>(this)->k(layer); }
  const float* v(int layer) const { return const_cast<Page*>(this)->v(layer); }
  const float* resid(int layer) const { return const_cast<Page*>(this)->resid(layer); }
  std::size_t bytes() const { return values_.size() * sizeof(float); }

 private:
  float* at(int layer, int what);
  int first_, filled_ = 0, n_layer_, d_model_;
  std::vector<float> values_;
};

/// What one forward pass left behind. Immutable; shared between the interface and the worker.
struct Run {
  Config config;
  std::vector<int> tokens;                         ///< [T]
  std::vector<std::shared_ptr<const Page>> pages;  ///< position p stands in pages[p / Page::kPositions]
  int computed_positions = 0;                      ///< positions that this pass computed (the rest were reused)

  int length() const { return static_cast<int>(tokens.size()); }

  /// One position's row. q, k, v: [d_model], head after head; resid: [d_model], layer in [0, n_layer].
  std::span<const float> q(int layer, int pos) const;
  std::span<const float> k(int layer, int pos) const;
  std::span<const float> v(int layer, int pos) const;
  std::span<const float> resid(int layer, int pos) const;
  std::size_t bytes() const;  ///< of all pages, those shared with other runs too
};

}  // namespace headscope::model
