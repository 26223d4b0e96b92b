#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "model/files/config.h"
#include "model/kernels/view.h"
#include "model/pass/edits.h"
#include "model/pass/hooks.h"

namespace headscope::model {

/// The means for SetMean, computed by a pass: [edits][heads * units]; empty until then, and for other kinds.
using Means = std::vector<std::vector<float>>;

/// A list of edits, checked against a model, with all data they need; the pass and all partial recomputations
/// use it. Immutable; created by Transformer::plan.
class Plan {
 public:
  /// The activations copied by a PatchFrom, [positions, columns]: heads side by side, of scores and patterns
  /// with the keys of all positions each.
  struct Source {
    std::vector<float> values;
    int rows = 0;
    int columns = 0;
    bool depends_on_later = false;  ///< whether values of the run's own tokens depend on later ones

    std::span<const float> row(int i) const {
      return std::span(values).subspan(static_cast<std::size_t>(i) * columns, columns);
    }
  };

  /// A column of an activation, whose heads are side by side, and what SetValues or AddVector has for it.
  struct Column {
    int index = 0;
    float value = 0;
  };

  /// An edit with the data it needs.
  struct Op {
    std::size_t index = 0;  ///< in the list
    const Edit* edit = nullptr;
    std::map<int, int> positions = {};  ///< of its place: where a source has each, else itself; empty: all
    std::vector<Column> columns = {};   ///< of its place, by index
    std::shared_ptr<const Source> source = nullptr;
  };

  /// sources: one for each edit, null except for PatchFrom. Throws RunError, see check.
  Plan(const Config& config, Edits edits, std::vector<std::shared_ptr<const Source>> sources);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Edits& edits() const { return edits_; }
  std::size_t source_bytes() const;  ///< memory of the patched activations

  /// No edit acts before this point, in the order of the pass.
  HookPoint first_point() const { return first_point_; }
  /// No edit acts at positions before this one.
  int first_position() const { return first_position_; }
  /// Whether a position depends on later ones, so that the run of a prefix cannot be reused for a longer run.
  bool needs_whole_run() const { return needs_whole_run_; }

  bool edits(HookPoint point) const { return by_point_.contains(point); }
  /// Whether edits affect the scores, mask or pattern of a head.
  bool edits_cells(int layer, int head) const { return cells_[index(layer, head)]; }
  bool edits_cells(int layer) const;  ///< the same for any head
  /// Whether a query of the head may attend to later keys.
  bool sees_future(int layer, int head) const { return future_[index(layer, head)]; }
  bool sees(int layer, int head, int query, int key) const;

  int row_of_wpe(int position) const;  ///< -1: none

  /// Edits part of an activation. Of scores, those of keys that a query does not see become -inf first.
  /// `means`: as computed by the pass.
  void apply(const Activation2d& piece, const Means& means) const;
  /// The same for a `piece` with all positions of the run: computes the means first.
  void apply_to_all(const Activation2d& piece, Means& means) const;
  Means no_means() const { return Means(edits_.size()); }

  /// The derivative of `apply`: replaces the derivatives with respect to an activation after the edits by
  /// those with respect to it before them.
  /// - Set or patched values have zero gradient; scaled values multiply it by the factor; those to which a
  /// vector is added keep it.
  /// - A mean passes on, to each position, what all places that take it have, divided by the number of
  /// positions: the piece must have all positions of the run where means are taken.
  /// - A rescaled weight passes on the factor times its own and, since the factor depends on the sum of the
  /// row, the same amount for all of the row that was not set.
  /// - A hidden score has zero gradient.
  /// `before`: the activation before the edits, which only a pattern with rescaled cells needs.
  void apply_gradient(const Activation2d& gradient, const Means& means, ConstFloatRows before = {}) const;

 private:
  std::size_t index(int layer, int head) const { return std::size_t(layer) * config_.n_head + head; }
  std::span<const Op* const> ops_at(HookPoint point) const;
  void set_hidden(const Activation2d& cells, float value) const;
  void add(Op& op);
  // These file an edit where it acts, and return the first position that it changes.
  int add_values(Op& op, const EditSite& at, std::span<const float> values = {}, bool future = false);
  int add_cells(Op& op, const SetCells& set);
  int add_mask(const SetMask& mask);
  int add_position_ids(const SetPositionIds& set);
  void mark_cells(HookPoint point, const std::optional<int>& head, bool future);

  Config config_;
  Edits edits_;
  std::vector<Op> ops_;                                   // [edits]
  std::map<HookPoint, std::vector<const Op*>> by_point_;  // those that act there, in order
  std::vector<const SetMask*> masks_;                     // [layer][head], null: causal
  std::vector<bool> cells_, future_;                      // [layer][head]
  const SetPositionIds* position_ids_ = nullptr;
  HookPoint first_point_{Site::logits};
  int first_position_ = 0;
  bool needs_whole_run_ = false;
};

/// Whether two plans have the same edits; null: none.
bool same_edits(const Plan* a, const Plan* b);

}  // namespace headscope::model
