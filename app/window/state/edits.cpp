#include "app/window/state/edits.h"

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

/// Replaces the list if the model supports it; otherwise sets the problem and leaves the list alone.
void replace_if_supported(EditsState& edits, EditList list, const Snapshot& snapshot) {
  try {
    require_few(list.edits.size());
    if (snapshot.model) require(*snapshot.model, Capability::weights);
    if (snapshot.model)
      for (const ListedEdit& listed : list.edits) check(snapshot.model->config(), listed.edit);
  } catch (const model::RunError& e) {
    edits.open = true;
    edits.problem = e.what();
    return;
  }
  edits.problem.clear();
  edits.list = std::move(list);
}

/// All that is brushed in one drag is one step.
void brush(EditsState& edits, EditList list, ReduceContext& w) {
  if (list == edits.list) return;
  replace_if_supported(edits, std::move(list), w.snapshot);
  if (edits.problem.empty()) w.extends_step = std::exchange(edits.dragging, true);
}

}  // namespace

void reduce(EditsSlice& s, const AddEdits& a, ReduceContext& w) {
  EditList list = s.edits.list;
  for (const model::Edit& edit : a.edits) list.edits.push_back({edit, true});
  replace_if_supported(s.edits, std::move(list), w.snapshot);
}

void reduce(EditsSlice& s, const ToggleEdit& a, ReduceContext& w) {
  const EditList& list = s.edits.list;
  replace_if_supported(s.edits, has_edit(list, a.edit) ? without_edit(list, a.edit) : with_edit(list, a.edit),
                       w.snapshot);
}

void reduce(EditsSlice& s, const SetPositionId& a, ReduceContext& w) {
  replace_if_supported(s.edits, with_position_id(s.edits.list, a.position, a.id), w.snapshot);
}

void reduce(EditsSlice& s, const SetVisibility& a, ReduceContext& w) {
  const int length = w.snapshot.run ? w.snapshot.run->run->length() : 0;
  if (a.query >= length || a.key >= length) return;
  brush(s.edits, with_visibility(s.edits.list, {a.layer, a.head}, length, a.query, a.key, a.sees), w);
}

void reduce(EditsSlice& s, const DragEdit& a, ReduceContext& w) {
  brush(s.edits, with_joined_edit(s.edits.list, a.edit), w);
}

void reduce(EditsSlice& s, const ListEdits& a, ReduceContext& w) {
  s.edits.problem.clear();
  s.edits.list = a.list;
  w.extends_step = s.edits.dragging && a.dragging;
  s.edits.dragging = a.dragging;
}

void reduce(EditsSlice& s, const TypeEdits&, ReduceContext& w) {
  const std::string& text = s.edits.typed.edit.text;
  if (!w.snapshot.model || text.empty()) return;
  try {
    reduce(s, AddEdits{parse_edits(text, *w.snapshot.model)}, w);
    if (s.edits.problem.empty()) s.edits.typed = {};
  } catch (const model::RunError& e) {
    s.edits.problem = e.what();
  }
}

void reduce(EditsSlice& s, const ShowEdits& a, ReduceContext&) {
  s.edits.open = a.open;
  s.edits.problem.clear();
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
  const Prompt now = typed_prompt(s);
  if (now == before) return;
  try {
    const auto starts = [](const Prompt& prompt) { return prompt.start_token.value_or(false); };
    positions = moved_positions(ids_of(before), ids_of(now), starts(before) && starts(now) ? 1 : 0);
  } catch (const model::RunError&) {  // the worker reports the error
    return;
  }
  const int n_ctx = snapshot.model->config().n_ctx;
  MovedEdits moved = moved_edits(s.edits.list, positions, n_ctx);
  if (moved.list == s.edits.list) return;
  if (s.tour.edits == s.edits.list) s.tour.edits = moved.list;
  s.edits.list = std::move(moved.list);
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

}  // namespace headscope::app
