#include "app/views/parts/menu_lines.h"

#include "app/run/analyses/sweep.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/parts.h"

namespace headscope::app {

const Option<ShownOfKeys> kShownOfKeys = choice_option<ShownOfKeys>(
    "strips", "Strips", "qQ", "which vectors are shown next to the keys",
    {{"values", "Values", "The values, as weighted by attention, and their sum"},
     {"products", "q × k", "Query times key, component by component: they add up to the score"},
     {"breakdown", "Score breakdown",
      "How the weight of the chosen key, or else of the strongest one, is computed, step by step"}});

MenuLine choose_query(const ViewContext& c, int position, std::string_view words) {
  return {std::string(words) + " " + token_name(c.run->tokens, position), {SelectQuery{position}}};
}

void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& c, int position, int of) {
  if (!may_see(c, of, position)) return;
  const bool chosen = position == c.selection.key && of == c.selection.query;
  MenuLine line{(chosen ? "Clear key " : "Select key ") + token_name(key_tokens(*c.run), position), {}};
  if (of != c.selection.query) line.actions.emplace_back(SelectQuery{of});
  line.actions.emplace_back(SelectKey{chosen ? -1 : position});
  menu.push_back(std::move(line));
}

void add_copies_of_token(Facts& facts, const ViewContext& c, int id, std::string label) {
  if (label.empty()) label = label_of(c, id);
  const auto& tokenizer = c.run->model->tokenizer;
  facts.copy("“" + label + "”", tokenizer ? tokenizer->text(id) : label);
  if (tokenizer) facts.value("id", std::to_string(id), Fact::Location::menu);
}

namespace {

using model::Edit;
using model::Site;

constexpr float kHidden = -std::numeric_limits<float>::infinity();

const PromptRun& run_of(const ViewContext& c) {
  return c.asked ? *c.asked : *c.run;
}

MenuLine toggle(const ViewContext& c, std::string words, const Edit& edit) {
  if (is_edited(c, edit)) words = "Undo: " + edit_words(edit);
  return {std::move(words), toggled(edit)};
}

/// The row of wpe that a position uses.
int position_id(const ViewContext& c, int position) {
  int id = position;
  for (const Edit& edit : run_of(c).prompt.edits)
    if (const auto* set = std::get_if<model::SetPositionIds>(&edit); set && position < std::ssize(set->ids))
      id = set->ids[position];
  return id;
}

std::string patch_command(const ViewContext& c, const std::string& what) {
  return "Patch " + what + " from the " + second_words(run_of(c));
}

/// The patch from the second prompt or model, at a place's positions or at all.
std::optional<model::PatchFrom> patch(const ViewContext& c, model::EditSite at) {
  const PromptRun& run = run_of(c);
  if (!compares_different_inputs(run)) return std::nullopt;
  return patch_prompt_of(run).at(std::move(at));
}

}  // namespace

bool can_edit(const ViewContext& c) {
  return c.run && !c.run->model->patterns;
}

bool is_edited(const ViewContext& c, const Edit& edit) {
  return c.run && has_edit(run_of(c).prompt.edits, edit);
}

ViewActions toggled(const Edit& edit) {
  return {ToggleEdit{edit}};
}

Edit head_off(int layer, int head) {
  return model::SetValues{{{Site::z, layer}, head, {}, {}}, {0}};
}

Edit head_at_mean(int layer, int head) {
  return model::SetMean{{{Site::z, layer}, head, {}, {}}};
}

std::vector<HeadEdit> head_edits(const ViewContext& c, int layer, int head) {
  std::vector<HeadEdit> edits;
  if (!can_edit(c)) return edits;
  const std::string name = head_name(layer, head);
  const model::EditSite place{{Site::z, layer}, head, {}, {}};
  edits.push_back({toggle(c, "Turn off " + name, head_off(layer, head)),
                   {"switch off", "turn off", "set head to zero", "ablate", "zero ablation", "knock out",
                    "switch off head", "turn off head", "disable head"}});
  edits.push_back({toggle(c, "Replace " + name + " by its mean", head_at_mean(layer, head)),
                   {"mean ablation", "ablate", "set head to its mean"}});
  edits.push_back(
      {toggle(c, "Halve " + name, model::ScaleValues{place, 0.5F}), {"scale head", "half", "weaken head"}});
  if (auto from = patch(c, place))
    edits.push_back({toggle(c, patch_command(c, name), *from), {"patch head", "activation patching"}});
  return edits;
}

void add_head_edits(std::vector<MenuLine>& menu, const ViewContext& c, int layer, int head) {
  for (HeadEdit& edit : head_edits(c, layer, head)) menu.push_back(std::move(edit.line));
}

void add_cell_edits(std::vector<MenuLine>& menu, const ViewContext& c, int layer, int head, int query,
                    int key) {
  if (!can_edit(c)) return;
  const PromptRun& run = run_of(c);
  const auto cell = [&](Site site, float value, bool renormalise) {
    return model::SetCells{{site, layer}, head, {{query, key, value}}, renormalise};
  };
  const std::string q = std::to_string(query), k = std::to_string(key);
  const Edit hidden = cell(Site::attn_scores, kHidden, false);
  if (!may_see(run, {layer, head}, query, key)) {
    if (is_edited(c, hidden)) menu.push_back(toggle(c, "Mask key " + k + " for query " + q, hidden));
    menu.push_back({"Unmask key " + k + " for query " + q, {SetVisibility{layer, head, query, key, true}}});
    return;
  }
  menu.push_back(
      {"How this weight is computed",
       {SelectHead{layer, head}, SelectQuery{query}, SelectKey{key},
        SetOption{&kShownOfKeys, static_cast<int>(ShownOfKeys::breakdown)}, ShowPart{Part::weight}}});
  if (query > 0) menu.push_back(toggle(c, "Mask key " + k + " for query " + q, hidden));
  menu.push_back(toggle(c, "Put all weight of query " + q + " on key " + k, cell(Site::pattern, 1, true)));
  menu.push_back(
      toggle(c, "Freeze query " + q + "'s weights at their original values",
             model::PatchFrom{{{Site::pattern, layer}, head, {query}, {}}, run.run->tokens, {query}}));
}

void add_position_edits(std::vector<MenuLine>& menu, const ViewContext& c, int position) {
  if (!can_edit(c)) return;
  if (position >= c.run->run->length()) return;
  const std::string token = token_name(c.run->tokens, position);
  const int id = position_id(c, position);
  if (id != -1) menu.push_back({"Remove the position of " + token, {SetPositionId{position, -1}}});
  if (id != position)
    menu.push_back({"Restore the position of " + token, {SetPositionId{position, position}}});
  if (position + 1 < c.run->run->length())
    menu.push_back(
        {"Swap positions with the next token",
         {SetPositionId{position, position_id(c, position + 1)}, SetPositionId{position + 1, id}}});
}

void add_neuron_edit(std::vector<MenuLine>& menu, const ViewContext& c, int layer, int neuron) {
  const std::string name = "neuron " + std::to_string(neuron);
  const model::SetValues off{{{Site::mlp_post, layer}, {}, {}, {neuron}}, {0}};
  menu.push_back(toggle(c, "Turn off " + name, off));
}

void add_part_edits(std::vector<MenuLine>& menu, const ViewContext& c, int layer, bool mlp) {
  const Site site = mlp ? Site::mlp_out : Site::attn_out;
  const std::string name = std::string(mlp ? "MLP" : "attention") + " in layer " + std::to_string(layer);
  menu.push_back(toggle(c, "Turn off " + name, model::SetValues{{{site, layer}, {}, {}, {}}, {0}}));
  menu.push_back(toggle(c, "Replace " + name + " by its mean", model::SetMean{{{site, layer}, {}, {}, {}}}));
  add_patch(menu, c, {site, layer}, -1, name);
}

void add_patch(std::vector<MenuLine>& menu, const ViewContext& c, model::HookPoint point, int position,
               const std::string& what) {
  model::EditSite place{point, {}, {}, {}};
  if (position >= 0) place.positions = {position};
  if (auto from = patch(c, std::move(place))) menu.push_back(toggle(c, patch_command(c, what), *from));
}

}  // namespace headscope::app
