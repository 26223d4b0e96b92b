#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "model/pass/hooks.h"

/// Edits of the computation as values: what researchers write as hooks, in a form that can be compared,
/// kept and done again. A list is applied in its order; see plan.h for how.
namespace headscope::model {

/// What of an activation is changed.
struct EditedPlace {
  HookPoint point;
  std::optional<int> head;     ///< of a site that has heads; nothing: all of them
  std::vector<int> positions;  ///< of scores and patterns: queries; empty: all
  std::vector<int> units;      ///< of the last axis; empty: all; scores and patterns have keys, and no units
  bool operator==(const EditedPlace&) const = default;
};

/// Puts values in: one for all units, or one for each unit of the place. In scores and patterns one, for
/// every key that the query sees.
struct SetValues {
  EditedPlace at;
  std::vector<float> values;
  bool operator==(const SetValues&) const = default;
};

/// Puts each unit's mean over all positions of the run in (mean ablation). Not in scores, patterns and
/// logits.
struct SetMean {
  EditedPlace at;
  bool operator==(const SetMean&) const = default;
};

/// Multiplies. Scores that are -inf stay so.
struct ScaleValues {
  EditedPlace at;
  float factor = 1;
  bool operator==(const ScaleValues&) const = default;
};

/// Adds factor * vector (steering); the vector as in SetValues.
struct AddVector {
  EditedPlace at;
  std::vector<float> vector;
  float factor = 1;
  bool operator==(const AddVector&) const = default;
};

/// Puts in what a run of other tokens, in which nothing is changed, has at the same site (activation
/// patching). Of scores and patterns the rows of queries; keys that the other run does not have are hidden.
struct PatchFrom {
  EditedPlace at;
  std::vector<int> tokens;     ///< [source's T]; empty, of a second model alone: those of the run itself
  std::vector<int> positions;  ///< of the source, for each of the place's; empty: the same positions, as far
                               ///< as the source goes
  bool second = false;         ///< of another model of the same shape: see Transformer::plan
  bool operator==(const PatchFrom&) const = default;
};

struct CellValue {
  int query = 0;
  int key = 0;
  float value = 0;  ///< of scores: -inf hides the key
  bool operator==(const CellValue&) const = default;
};

/// Puts single scores or weights in.
struct SetCells {
  HookPoint point;  ///< attn_scores or pattern
  std::optional<int> head;
  std::vector<CellValue> cells;
  bool renormalise = false;  ///< of patterns: what is not set is scaled until each row adds up to 1 again
  bool operator==(const SetCells&) const = default;
};

/// Which keys each query sees, instead of those up to itself.
struct SetMask {
  std::optional<int> layer;  ///< nothing: all
  std::optional<int> head;
  /// [n][n], query by query; queries and keys behind it stay causal. Empty: every query sees every key.
  std::vector<std::vector<bool>> sees;
  bool operator==(const SetMask&) const = default;
};

/// Which row of wpe stands for each position; -1: none, zeros. Positions behind the list keep their own.
struct SetPositionIds {
  std::vector<int> ids;
  bool operator==(const SetPositionIds&) const = default;
};

/// In the order in which help and messages list them. The compiler names what a new kind lacks: its check in
/// edits.cpp, what it does to a pass in plan.cpp, and what the program knows about it.
using Edit =
    std::variant<SetValues, SetMean, ScaleValues, AddVector, SetCells, PatchFrom, SetMask, SetPositionIds>;
using Edits = std::vector<Edit>;

/// Where an edit works first in a pass: masks at the scores, position ids at pos_embed.
HookPoint point_of(const Edit& edit);

bool patches_from_second(const Edit& edit);
/// Whether one of them does.
bool patches_from_second(const Edits& edits);
/// Whether one of them patches from what a second model makes of the tokens of the run itself.
bool patches_from_own_tokens(const Edits& edits);

bool has_heads(Site site);    ///< q, k, v, scores, pattern, z and result
bool is_of_cells(Site site);  ///< scores and pattern: [head, query, key]

/// Units of the last axis, of one head where there are heads; 0 of scores and patterns.
int unit_count(const Config& config, Site site);

/// Throws RunError for one that this model does not have: layer, head, position, unit, length of a vector,
/// values that are no numbers, nothing to patch, a query that would see no key. One sentence, which says
/// where.
void check(const Config& config, const Edit& edit);

}  // namespace headscope::model
