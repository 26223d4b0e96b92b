#include "app/window/state/prompt.h"

#include <algorithm>
#include <utility>

#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/window/state.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

/// Whether an edit patches from a prompt, or from a run that does.
bool names_tokens(const model::Edit& edit) {
  const auto* patch = std::get_if<model::PatchFrom>(&edit);
  return patch != nullptr && (!patch->tokens.empty() || std::ranges::any_of(patch->edits, names_tokens));
}

/// Replaces the edits if the model supports the list; otherwise sets the problem and leaves them alone.
void replace_if_supported(UiState& s, EditList list, const Snapshot& snapshot) {
  try {
    require_few(list.edits.size());
    if (snapshot.model) require(*snapshot.model, Capability::weights);
    if (snapshot.model)
      for (const ListedEdit& listed : list.edits) check(snapshot.model->config(), listed.edit);
  } catch (const model::RunError& e) {
    s.edits_bar.open = true;
    s.edits_bar.problem = e.what();
    return;
  }
  s.edits_bar.problem.clear();
  if (!has_comparison(s)) s.side = Side::run;  // a first edit is seen, whatever an earlier one showed
  s.edits = std::move(list);
}

/// All that is brushed in one drag is one step.
void brush(UiState& s, EditList list, ReduceContext& w) {
  if (list == s.edits) return;
  replace_if_supported(s, std::move(list), w.snapshot);
  if (s.edits_bar.problem.empty()) w.extends_step = std::exchange(s.edits_bar.dragging, true);
}

}  // namespace

void reduce(UiState& s, const AddEdits& a, ReduceContext& w) {
  EditList list = s.edits;
  for (const model::Edit& edit : a.edits) list.edits.push_back({edit, true});
  replace_if_supported(s, std::move(list), w.snapshot);
}

void reduce(UiState& s, const ToggleEdit& a, ReduceContext& w) {
  const EditList& list = s.edits;
  replace_if_supported(s, has_edit(list, a.edit) ? without_edit(list, a.edit) : with_edit(list, a.edit),
                       w.snapshot);
}

void reduce(UiState& s, const SetPositionId& a, ReduceContext& w) {
  replace_if_supported(s, with_position_id(s.edits, a.position, a.id), w.snapshot);
}

void reduce(UiState& s, const SetVisibility& a, ReduceContext& w) {
  const int length = w.snapshot.run ? w.snapshot.run->run->length() : 0;
  if (a.query >= length || a.key >= length) return;
  brush(s, with_visibility(s.edits, {a.layer, a.head}, length, a.query, a.key, a.sees), w);
}

void reduce(UiState& s, const DragEdit& a, ReduceContext& w) {
  brush(s, with_joined_edit(s.edits, a.edit), w);
}

void reduce(UiState& s, const ListEdits& a, ReduceContext& w) {
  s.edits_bar.problem.clear();
  s.edits = a.list;
  w.extends_step = s.edits_bar.dragging && a.dragging;
  s.edits_bar.dragging = a.dragging;
}

void reduce(UiState& s, const TypeEdits&, ReduceContext& w) {
  const std::string& text = s.edits_bar.text.edit.text;
  if (!w.snapshot.model || text.empty()) return;
  try {
    reduce(s, AddEdits{parse_edits(text, *w.snapshot.model)}, w);
    if (s.edits_bar.problem.empty()) s.edits_bar.text = {};
  } catch (const model::RunError& e) {
    s.edits_bar.problem = e.what();
  }
}

void reduce(UiState& s, const ShowEdits& a, ReduceContext&) {
  s.edits_bar.open = a.open;
  s.edits_bar.problem.clear();
}

void move_with_tokens(UiState& s, const Prompt& before, const Snapshot& snapshot) {
  if (!snapshot.model || snapshot.model->patterns) return;
  std::vector<int> positions;
  const auto ids_of = [&](const Prompt& prompt) {
    std::vector<int> ids;
    const PromptRun* run = snapshot.run.get();
    const bool is_shown = run && run->model == snapshot.model && run->prompt.text == prompt.text &&
                          run->prompt.ids == prompt.ids && run->prompt.start_token == prompt.start_token;
    const PromptTokens tokens = is_shown ? run->tokens : tokenize(*snapshot.model, prompt);
    if (tokens.was_empty) return ids;  // the token that runs for an empty prompt is not part of the prompt
    for (const model::Token& token : tokens.tokens) ids.push_back(token.id);
    return ids;
  };
  const Prompt now = prompt_without_edits(s);
  if (now == before) return;
  try {
    const auto starts = [](const Prompt& prompt) { return prompt.start_token.value_or(false); };
    positions = moved_positions(ids_of(before), ids_of(now), starts(before) && starts(now) ? 1 : 0);
  } catch (const model::RunError&) {  // the worker reports the error
    return;
  }
  const int n_ctx = snapshot.model->config().n_ctx;
  MovedEdits moved = moved_edits(s.edits, positions, n_ctx);
  if (moved.list == s.edits) return;
  if (s.tour.entered && s.tour.entered->document.edits == s.edits)
    s.tour.entered->document.edits = moved.list;
  s.edits = std::move(moved.list);
  if (moved.gone.empty()) return;
  std::string gone;
  for (const model::Edit& edit : moved.gone) gone += (gone.empty() ? "" : "; ") + edit_brief(edit);
  s.message = {"Edits of deleted tokens were removed: " + gone + ". Ctrl+Z restores them."};
}

int remove_unsupported(EditList& list, const model::Config& config) {
  return static_cast<int>(std::erase_if(list.edits, [&](const ListedEdit& listed) {
    if (names_tokens(listed.edit)) return true;  // its ids mean other tokens now
    try {
      check(config, listed.edit);
      return false;
    } catch (const model::RunError&) {
      return true;
    }
  }));
}

bool shows_edits(const UiState& s) {
  return s.edits_bar.open || !s.edits.edits.empty();
}

}  // namespace headscope::app
