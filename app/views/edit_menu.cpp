#include "app/views/edit_menu.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "app/views/common.h"

namespace headscope::app {
namespace {

using model::Intervention;
using model::Site;

constexpr float kHidden = -std::numeric_limits<float>::infinity();

const PromptRun& run_of(const ViewContext& c) {
  return c.asked ? *c.asked : *c.run;
}

MenuLine toggle(const ViewContext& c, std::string words, const Intervention& edit) {
  if (is_changed(c, edit)) words = "No longer: " + words;
  return {std::move(words), toggled(c, edit)};
}

/// Rows of wpe as they are now, and one of them otherwise.
model::SetPositionIds position_ids(const ViewContext& c) {
  model::SetPositionIds ids;
  for (const Intervention& edit : run_of(c).prompt.interventions)
    if (const auto* set = std::get_if<model::SetPositionIds>(&edit)) ids = *set;
  for (int i = static_cast<int>(ids.ids.size()); i < c.run->run->length(); ++i) ids.ids.push_back(i);
  return ids;
}

/// What is put back is no change any more.
MenuLine set_positions(std::string words, model::SetPositionIds ids) {
  while (!ids.ids.empty() && ids.ids.back() == static_cast<int>(ids.ids.size()) - 1) ids.ids.pop_back();
  if (ids.ids.empty()) return {std::move(words), {}};
  return {std::move(words), {AddEdits{{std::move(ids)}}}};
}

/// Where a second prompt, or the unchanged run, is patched from, at a position or at all that it has.
std::optional<model::PatchFrom> patch(const ViewContext& c, model::EditedPlace at, int position) {
  const PromptRun& run = run_of(c);
  if (!run.other || run.other->run->tokens == run.run->tokens) return std::nullopt;
  model::PatchFrom patch{std::move(at), run.other->run->tokens, {}};
  for (int i = 0; i < run.run->length(); ++i) {
    const int there = run.aligned[static_cast<std::size_t>(i)];
    if (there < 0 || (position >= 0 && i != position)) continue;
    patch.at.positions.push_back(i);
    patch.positions.push_back(there);
  }
  if (patch.positions.empty()) return std::nullopt;
  return patch;
}

}  // namespace

bool is_changed(const ViewContext& c, const Intervention& edit) {
  if (!c.run) return false;
  const auto& made = run_of(c).prompt.interventions;
  const auto* cells = std::get_if<model::SetCells>(&edit);
  return std::ranges::any_of(made, [&](const Intervention& other) {
    const auto* all = std::get_if<model::SetCells>(&other);
    if (!cells || !all) return other == edit;
    return all->point == cells->point && all->head == cells->head && all->renormalise == cells->renormalise &&
           std::ranges::all_of(cells->cells, [&](const model::CellValue& cell) {
             return std::ranges::find(all->cells, cell) != all->cells.end();
           });
  });
}

ViewActions toggled(const ViewContext& c, const Intervention& edit) {
  if (is_changed(c, edit)) return {RemoveEdits{{edit}}};
  return {AddEdits{{edit}}};
}

Intervention head_off(int layer, int head) {
  return model::SetValues{{{Site::z, layer}, head, {}, {}}, {0}};
}

Intervention head_at_mean(int layer, int head) {
  return model::SetMean{{{Site::z, layer}, head, {}, {}}};
}

void add_head_edits(std::vector<MenuLine>& menu, const ViewContext& c, int layer, int head) {
  const std::string name = head_name(layer, head);
  const model::EditedPlace place{{Site::z, layer}, head, {}, {}};
  menu.push_back(toggle(c, name + " off", head_off(layer, head)));
  menu.push_back(toggle(c, name + " at its mean", head_at_mean(layer, head)));
  menu.push_back(toggle(c, name + " half as strong", model::ScaleValues{place, 0.5F}));
  if (auto from = patch(c, place, -1)) menu.push_back(toggle(c, name + " as in the second prompt", *from));
}

void add_cell_edits(std::vector<MenuLine>& menu, const ViewContext& c, int layer, int head, int query, int key) {
  const auto cell = [&](Site site, float value, bool renormalise) {
    return model::SetCells{{site, layer}, head, {{query, key, value}}, renormalise};
  };
  const std::string q = std::to_string(query), k = std::to_string(key);
  if (query > 0)
    menu.push_back(toggle(c, "Query " + q + " may not see key " + k, cell(Site::attn_scores, kHidden, false)));
  menu.push_back(toggle(c, "All weight of query " + q + " on key " + k, cell(Site::pattern, 1, true)));
  const PromptRun& run = run_of(c);
  menu.push_back(toggle(c, "Freeze the weights of query " + q + " as they are without changes",
                        model::PatchFrom{{{Site::pattern, layer}, head, {query}, {}}, run.run->tokens, {query}}));
}

void add_position_edits(std::vector<MenuLine>& menu, const ViewContext& c, int position) {
  const auto at = static_cast<std::size_t>(position);
  const model::SetPositionIds now = position_ids(c);
  if (at >= now.ids.size()) return;
  const auto with = [&](int id) {
    model::SetPositionIds ids = now;
    ids.ids[at] = id;
    return ids;
  };
  const auto add = [&](MenuLine line) {
    if (!line.actions.empty()) menu.push_back(std::move(line));
  };
  const std::string token = token_name(c.run->tokens, position);
  if (now.ids[at] != -1) add(set_positions("No position for " + token, with(-1)));
  if (now.ids[at] != position) add(set_positions("Its own position for " + token, with(position)));
  if (at + 1 < now.ids.size()) {
    model::SetPositionIds swapped = now;
    std::swap(swapped.ids[at], swapped.ids[at + 1]);
    add(set_positions("Change positions with the next token", swapped));
  }
}

void add_part_edits(std::vector<MenuLine>& menu, const ViewContext& c, int layer, bool mlp) {
  const Site site = mlp ? Site::mlp_out : Site::attn_out;
  const std::string name = std::string(mlp ? "MLP" : "attention") + " in layer " + std::to_string(layer);
  menu.push_back(toggle(c, "No " + name, model::SetValues{{{site, layer}, {}, {}, {}}, {0}}));
  menu.push_back(toggle(c, "The mean of " + name, model::SetMean{{{site, layer}, {}, {}, {}}}));
  add_patch(menu, c, {site, layer}, -1, "The " + name + " as in the second prompt");
}

void add_patch(std::vector<MenuLine>& menu, const ViewContext& c, model::HookPoint point, int position,
               const std::string& words) {
  if (auto from = patch(c, {point, {}, {}, {}}, position)) menu.push_back(toggle(c, words, *from));
}

}  // namespace headscope::app
