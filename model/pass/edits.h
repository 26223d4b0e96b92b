#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/pass/hooks.h"

/// Edits of the forward pass as values: what researchers write as hooks, in a form that can be compared,
/// stored and repeated. Edits apply in the order of the list; see plan.h.
namespace headscope::model {

/// The part of an activation that is edited.
struct EditSite {
  HookPoint point;
  std::optional<int> head;     ///< for a site with heads; nothing: all heads
  std::vector<int> positions;  ///< for scores and patterns: queries; empty: all
  std::vector<int>
      units;  ///< along the last axis; empty: all; scores and patterns have keys instead of units
  bool operator==(const EditSite&) const = default;
};

/// Sets values: one for all units, or one for each unit of the place, of all heads also head by head. For
/// scores and patterns, one value for every key that the query sees.
struct SetValues {
  EditSite at;
  std::vector<float> values;
  std::string mean_over = {};  ///< the list of prompts whose mean the values are, for people; empty: none
  bool operator==(const SetValues&) const = default;
};

/// Sets each unit to its mean over all positions of the run (mean ablation). Not for scores, patterns and
/// logits.
struct SetMean {
  EditSite at;
  bool operator==(const SetMean&) const = default;
};

/// Multiplies values by a factor. Scores of -inf remain -inf.
struct ScaleValues {
  EditSite at;
  float factor = 1;
  bool operator==(const ScaleValues&) const = default;
};

/// Adds factor * vector (steering); the vector is given like the values of SetValues.
struct AddVector {
  EditSite at;
  std::vector<float> vector;
  float factor = 1;
  bool operator==(const AddVector&) const = default;
};

struct CellValue {
  static constexpr int kAllQueries = -1;
  int query = 0;  ///< or kAllQueries: all that see the key by the mask
  int key = 0;
  float value = 0;  ///< for scores: -inf masks the key
  bool operator==(const CellValue&) const = default;
};

/// Sets single scores or weights.
struct SetCells {
  HookPoint point;  ///< attn_scores or pattern
  std::optional<int> head;
  std::vector<CellValue> cells;
  bool renormalise = false;  ///< for patterns: the other weights are scaled so that each row adds up to 1
  bool operator==(const SetCells&) const = default;
};

/// Replaces the causal mask: which keys each query sees.
struct SetMask {
  std::optional<int> layer;  ///< nothing: all
  std::optional<int> head;
  /// [n][n], row = query; later queries and keys remain causal. Empty: every query sees every key.
  std::vector<std::vector<bool>> sees;
  bool operator==(const SetMask&) const = default;
};

/// The row of wpe for each position; -1: zeros instead of a row. Positions beyond the list keep their own.
struct SetPositionIds {
  std::vector<int> ids;
  bool operator==(const SetPositionIds&) const = default;
};

struct PatchFrom;

/// In the order of help and messages. The compiler reports what is missing for a new kind: its check in
/// edits.cpp, its effect on a pass in plan.cpp, and its EditKind.
using Edit =
    std::variant<SetValues, SetMean, ScaleValues, AddVector, SetCells, PatchFrom, SetMask, SetPositionIds>;
using Edits = std::vector<Edit>;

/// Copies the same site's values from a run of other tokens (activation patching), or of the run's own tokens
/// with other edits. For scores and patterns, the rows of queries; keys that the other run does not have are
/// masked.
struct PatchFrom {
  EditSite at;
  std::vector<int> tokens = {};     ///< [source's T]; empty, for a second model or with edits: the run's own
  std::vector<int> positions = {};  ///< in the source, for each of the place's positions; empty: the same
                                    ///< positions, as far as they exist
  bool second = false;              ///< from another model of the same shape: see Transformer::plan
  /// Of the source's run, which may patch from runs of its own: what one head changes on the way to another
  /// (path patching, Wang et al. 2022) is patched from a run in which only that head is.
  Edits edits = {};
  /// A path patch (Wang et al. 2022): copies the values that the place, the receiver, has if the one edit of
  /// `edits`, of a sender, acts while all other heads and MLPs before the receiver write what they do in the
  /// run: the direct path through the stream. In the paper, MLPs between are recomputed. Senders are z and
  /// mlp_out; receivers q, k and v of later layers, and resid_post of the last layer, for the logits. The run
  /// has its other edits except paths into other receivers, so that each path has the effect of its sender
  /// alone; a later path into the same receiver adds to an earlier one.
  bool direct = false;
  static constexpr int kMaxRuns = 4;  ///< that may be nested: each costs a pass, and is read recursively
  bool operator==(const PatchFrom&) const;
};

/// The point where an edit first acts in a pass: masks at the scores, position ids at pos_embed.
HookPoint point_of(const Edit& edit);

/// The edit as a path patch; null: it is none.
const PatchFrom* path_patch(const Edit& edit);

/// Whether an edit, or one of the run that it patches from, patches from the second model.
bool patches_from_second(const Edit& edit);
bool patches_from_second(const Edits& edits);
/// Whether an edit patches from a run of the run's own tokens: in the second model, or with other edits.
bool patches_from_own_tokens(const Edits& edits);

/// Units of the last axis, per head if the site has heads; 0 for scores and patterns.
int unit_count(const Config& config, Site site);
/// The same for all heads of the site side by side.
int column_count(const Config& config, Site site);

/// Checks an edit against a model. Throws RunError, one sentence with the place, for a layer, head, position
/// or unit that does not exist, a vector of another length, NaN, nothing to patch, or a query that would see
/// no key.
void check(const Config& config, const Edit& edit);

}  // namespace headscope::model
