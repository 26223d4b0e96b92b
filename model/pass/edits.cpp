#include "model/pass/edits.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "model/files/error.h"
#include "model/pass/each_kind.h"

namespace headscope::model {
namespace {

[[noreturn]] void refuse(HookPoint point, const std::string& what) {
  throw RunError("the edit of " + hook_name(point) + " " + what);
}

void check_index(HookPoint point, const std::string& what, int index, int count) {
  if (index >= 0 && index < count) return;
  refuse(point, "names " + what + " " + std::to_string(index) + ", but the model has " + what + "s 0 to " +
                    std::to_string(count - 1));
}

void check_number(HookPoint point, float value, bool may_hide) {
  if (std::isfinite(value) || (may_hide && value == -std::numeric_limits<float>::infinity())) return;
  refuse(point, "has a value that is not a finite number");
}

void check_point(const Config& config, HookPoint point, const std::optional<int>& head) {
  if (in_block(point.site)) check_index(point, "layer", point.layer, config.n_layer);
  if (!head) return;
  if (!has_heads(point.site)) refuse(point, "names a head, but this site is not split by head");
  check_index(point, "head", *head, config.n_head);
}

void check_place(const Config& config, const EditSite& at) {
  check_point(config, at.point, at.head);
  for (const int position : at.positions) check_index(at.point, "position", position, config.n_ctx);
  if (has_cells(at.point.site) && !at.units.empty())
    refuse(at.point, "names units, but scores and patterns take cells");
  for (const int unit : at.units) check_index(at.point, "unit", unit, unit_count(config, at.point.site));
}

void check_values(const Config& config, const EditSite& at, std::span<const float> values) {
  for (const float value : values) check_number(at.point, value, at.point.site == Site::attn_scores);
  const int units = !at.units.empty()          ? static_cast<int>(at.units.size())
                    : has_cells(at.point.site) ? 1
                                               : unit_count(config, at.point.site);
  const bool by_head = has_heads(at.point.site) && !has_cells(at.point.site) && !at.head && config.n_head > 1;
  const int of_heads = by_head ? units * config.n_head : units;
  if (values.size() == 1 || std::ssize(values) == units || std::ssize(values) == of_heads) return;
  std::string takes = "takes one";
  if (units > 1) takes += " or " + std::to_string(units);
  if (by_head) takes += " or " + std::to_string(of_heads) + " (" + std::to_string(units) + " for each head)";
  refuse(at.point, "has " + std::to_string(values.size()) + " values, but " + takes);
}

void check_kind(const Config& config, const SetValues& set) {
  check_place(config, set.at);
  check_values(config, set.at, set.values);
}

void check_kind(const Config& config, const SetMean& set) {
  check_place(config, set.at);
  if (has_cells(set.at.point.site) || set.at.point.site == Site::logits)
    refuse(set.at.point, "sets a mean over positions, which scores, patterns and logits do not support");
}

void check_kind(const Config& config, const ScaleValues& scale) {
  check_place(config, scale.at);
  check_number(scale.at.point, scale.factor, false);
}

void check_kind(const Config& config, const AddVector& add) {
  check_place(config, add.at);
  check_values(config, add.at, add.vector);
  for (const float value : add.vector) check_number(add.at.point, value, false);
  check_number(add.at.point, add.factor, false);
}

int depth_of(const Edits& edits) {
  int depth = 0;
  for (const Edit& edit : edits)
    if (const auto* patch = std::get_if<PatchFrom>(&edit))
      depth = std::max(depth, 1 + depth_of(patch->edits));
  return depth;
}

void check_source_edits(const Config& config, const PatchFrom& patch) {
  const HookPoint point = patch.at.point;
  if (depth_of(patch.edits) >= PatchFrom::kMaxRuns)
    refuse(point, "patches through more than " + std::to_string(PatchFrom::kMaxRuns) + " runs");
  if (patch.second && patches_from_second(patch.edits))
    refuse(point, "patches from the second model a run that patches from it");
  for (const Edit& edit : patch.edits) check(config, edit);
}

/// Checks a path patch, whose edits are checked already.
void check_path(const Config& config, const PatchFrom& patch) {
  const HookPoint receiver = patch.at.point;
  const bool from_elsewhere = !patch.tokens.empty() || !patch.positions.empty() || patch.second;
  if (patch.edits.size() != 1 || from_elsewhere)
    refuse(receiver, "takes a path from one edit of a sender, and nothing else");
  const bool is_end = receiver == HookPoint{Site::resid_post, config.n_layer - 1};
  if (!is_end && receiver.site != Site::q && receiver.site != Site::k && receiver.site != Site::v)
    refuse(receiver, "takes a path, but only q, k, v and the logits (resid_post of the last layer) receive");
  const Edit& edit = patch.edits.front();
  const HookPoint sender = point_of(edit);
  if (sender.site != Site::z && sender.site != Site::mlp_out)
    refuse(receiver, "takes a path from " + hook_name(sender) + ", but only z and mlp_out send");
  if (!is_end && sender.layer >= receiver.layer)
    refuse(receiver, "takes a path from " + hook_name(sender) + ", which is not in an earlier layer");
}

void check_kind(const Config& config, const PatchFrom& patch) {
  check_place(config, patch.at);
  const HookPoint point = patch.at.point;
  check_source_edits(config, patch);
  if (patch.direct) return check_path(config, patch);
  const int length = static_cast<int>(patch.tokens.size());
  const bool own = patch.second || !patch.edits.empty();
  if (length == 0 && own && patch.positions.empty()) return;  // the tokens of the run
  if (length == 0) refuse(point, "patches from a prompt without tokens");
  if (length > config.n_ctx)
    refuse(point, "patches from " + std::to_string(length) + " tokens, but the model takes at most " +
                      std::to_string(config.n_ctx));
  for (const int id : patch.tokens)
    if (id < 0 || id >= config.vocab_size)
      refuse(point, "patches from token id " + std::to_string(id) + ", but the vocabulary has the ids 0 to " +
                        std::to_string(config.vocab_size - 1));
  if (!patch.positions.empty() && patch.positions.size() != patch.at.positions.size())
    refuse(point, "patches " + std::to_string(patch.at.positions.size()) + " positions from " +
                      std::to_string(patch.positions.size()));
  const std::vector<int>& from = patch.positions.empty() ? patch.at.positions : patch.positions;
  for (const int position : from)
    if (position < 0 || position >= length)
      refuse(point, "patches from position " + std::to_string(position) + " of a prompt of " +
                        std::to_string(length) + (length == 1 ? " token" : " tokens"));
}

/// Cells that set a row's weights must leave some weight to the other keys, whatever the prompt's length:
/// keys after the query exist only if it is long enough.
void check_sums(HookPoint point, const std::vector<CellValue>& cells) {
  constexpr double kRounding = 1e-6;
  std::map<int, std::map<int, std::size_t>> rows;  // by query and key the cell that counts, the last one
  for (std::size_t i = 0; i < cells.size(); ++i) rows[cells[i].query][cells[i].key] = i;
  for (auto [query, row] : rows) {
    const bool all = query == CellValue::kAllQueries;
    if (const auto of_all = rows.find(CellValue::kAllQueries); of_all != rows.end())
      for (const auto& [key, i] : of_all->second) {
        const auto [own, is_new] = row.try_emplace(key, i);
        if (!is_new) own->second = std::max(own->second, i);
      }
    double sum = 0;
    for (auto cell = row.begin(); cell != row.end(); ++cell) {
      sum += static_cast<double>(cells[cell->second].value);
      const bool may_end = all || std::next(cell) == row.end() || std::next(cell)->first > query;
      if (may_end && (sum > 1 + kRounding || sum < -kRounding))
        refuse(point, "renormalises " + (all ? "all queries" : "query " + std::to_string(query)) +
                          ", whose cells add up to " + std::to_string(sum) + " already");
    }
  }
}

void check_kind(const Config& config, const SetCells& set) {
  const HookPoint point = set.point;
  check_point(config, point, set.head);
  if (!has_cells(point.site)) refuse(point, "sets cells, which only scores and patterns have");
  if (set.cells.empty()) refuse(point, "names no cells");
  if (set.renormalise && point.site != Site::pattern)
    refuse(point, "renormalises, which only patterns support");
  for (const CellValue& cell : set.cells) {
    if (cell.query != CellValue::kAllQueries) check_index(point, "position", cell.query, config.n_ctx);
    check_index(point, "position", cell.key, config.n_ctx);
    check_number(point, cell.value, point.site == Site::attn_scores);
  }
  if (set.renormalise) check_sums(point, set.cells);
}

void check_kind(const Config& config, const SetMask& mask) {
  const HookPoint point = point_of(mask);
  if (mask.layer) check_index(point, "layer", *mask.layer, config.n_layer);
  if (mask.head) check_index(point, "head", *mask.head, config.n_head);
  const std::size_t n = mask.sees.size();
  if (n > static_cast<std::size_t>(config.n_ctx))
    refuse(point, "has a mask of " + std::to_string(n) + " queries, but the model takes at most " +
                      std::to_string(config.n_ctx));
  for (std::size_t query = 0; query < n; ++query) {
    const std::vector<bool>& row = mask.sees[query];
    const std::string name = std::to_string(query);
    if (row.size() != n)
      refuse(point, "has a mask whose query " + name + " has " + std::to_string(row.size()) +
                        " keys instead of " + std::to_string(n));
    if (std::ranges::find(row, true) == row.end())
      refuse(point, "has a mask whose query " + name + " sees no key");
  }
}

void check_kind(const Config& config, const SetPositionIds& set) {
  const HookPoint point{Site::pos_embed};
  if (set.ids.empty()) refuse(point, "names no positions");
  if (std::ssize(set.ids) > config.n_ctx)
    refuse(point, "has " + std::to_string(set.ids.size()) + " position ids, but the model has " +
                      std::to_string(config.n_ctx) + " positions");
  for (const int id : set.ids)
    if (id != -1) check_index(point, "position", id, config.n_ctx);
}

}  // namespace

bool PatchFrom::operator==(const PatchFrom&) const = default;

const PatchFrom* path_patch(const Edit& edit) {
  const auto* patch = std::get_if<PatchFrom>(&edit);
  return patch != nullptr && patch->direct ? patch : nullptr;
}

bool patches_from_second(const Edit& edit) {
  const auto* patch = std::get_if<PatchFrom>(&edit);
  return patch != nullptr && (patch->second || patches_from_second(patch->edits));
}

bool patches_from_second(const Edits& edits) {
  return std::ranges::any_of(edits, [](const auto& one) { return patches_from_second(one); });
}

bool patches_from_own_tokens(const Edits& edits) {
  return std::ranges::any_of(edits, [](const Edit& edit) {
    const auto* patch = std::get_if<PatchFrom>(&edit);
    return patch != nullptr && patch->tokens.empty();
  });
}

HookPoint point_of(const Edit& edit) {
  return std::visit(EachKind{
                        [](const SetCells& set) { return set.point; },
                        [](const SetMask& mask) {
                          return HookPoint{Site::attn_scores, mask.layer.value_or(0)};
                        },
                        [](const SetPositionIds&) { return HookPoint{Site::pos_embed}; },
                        [](const auto& kind) { return kind.at.point; },
                    },
                    edit);
}

int unit_count(const Config& config, Site site) {
  return has_cells(site) ? 0 : static_cast<int>(hook_shape(config, {site}, 1).back());
}

int column_count(const Config& config, Site site) {
  return (has_heads(site) ? config.n_head : 1) * unit_count(config, site);
}

void check(const Config& config, const Edit& edit) {
  std::visit([&](const auto& kind) { check_kind(config, kind); }, edit);
}

}  // namespace headscope::model
