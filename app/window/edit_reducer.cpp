#include "app/window/edit_reducer.h"

#include <algorithm>
#include <utility>

#include "app/run/edits/edit_text.h"
#include "app/run/edits/moved_edits.h"
#include "app/window/sessions.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

constexpr std::size_t kMostUndone = 100;

/// Makes it the list unless some of it cannot be: then that is said, and nothing changes.
void become_if_possible(UiState& s, EditList list, const Snapshot& snapshot, bool goes_on = false) {
  try {
    if (snapshot.model) require(*snapshot.model, Capability::weights);
    if (snapshot.model)
      for (const ListedEdit& listed : list.edits) check(snapshot.model->config(), listed.edit);
  } catch (const model::RunError& e) {
    s.edits.open = true;
    s.edits.problem = e.what();
    return;
  }
  s.edits.problem.clear();
  become(s.edits, std::move(list), goes_on);
}

/// The place in the run of what stands at `position` of the other one; -1: nothing stands for it.
int own_position(const PromptRun& run, int position) {
  const auto found = std::ranges::find(run.aligned, position);
  return position < 0 || found == run.aligned.end() ? -1 : static_cast<int>(found - run.aligned.begin());
}

}  // namespace

void become(EditsState& changes, EditList list, bool goes_on) {
  changes.painting = false;
  if (list.edits.empty()) list.all_off = false;
  if (list == changes.list) return;
  EditList was = std::exchange(changes.list, std::move(list));
  changes.after.clear();
  if (goes_on && !changes.before.empty()) return;
  changes.before.push_back(std::move(was));
  if (changes.before.size() > kMostUndone) changes.before.erase(changes.before.begin());
}

ViewActions on_own_side(ViewActions actions, const PromptRun& run) {
  ViewActions own;
  for (ViewAction& action : actions) {
    if (auto* query = std::get_if<SelectQuery>(&action); query && query->position >= 0) {
      query->position = own_position(run, query->position);
      if (query->position < 0) continue;
    }
    if (auto* key = std::get_if<SelectKey>(&action); key && key->position >= 0) {
      key->position = own_position(run, key->position);
      if (key->position < 0) continue;
    }
    const auto* guess = std::get_if<AppendToken>(&action);  // that says whose it is goes on with that one
    const bool goes_on = (guess && !guess->of) || std::holds_alternative<SetTokens>(action);
    const bool of_the_other =
        (goes_on && !compares_one_prompt(run)) || std::holds_alternative<ToggleEdit>(action) ||
        std::holds_alternative<SetPositionId>(action) || std::holds_alternative<PaintMask>(action) ||
        std::holds_alternative<PaintEdit>(action);
    if (!of_the_other) own.push_back(std::move(action));
  }
  return own;
}

void reduce(UiState& s, const AddEdits& a, const Snapshot& snapshot) {
  EditList list = s.edits.list;
  for (const model::Edit& edit : a.edits) list.edits.push_back({edit, true});
  list.all_off = false;
  become_if_possible(s, std::move(list), snapshot);
}

void reduce(UiState& s, const ToggleEdit& a, const Snapshot& snapshot) {
  const EditList& list = s.edits.list;
  become_if_possible(s, has_edit(list, a.edit) ? without_edit(list, a.edit) : with_edit(list, a.edit),
                     snapshot);
}

void reduce(UiState& s, const SetPositionId& a, const Snapshot& snapshot) {
  become_if_possible(s, with_position_id(s.edits.list, a.position, a.id), snapshot);
}

void reduce(UiState& s, const PaintMask& a, const Snapshot& snapshot) {
  const int length = snapshot.run ? snapshot.run->run->length() : 0;
  if (a.query >= length || a.key >= length) return;
  const bool goes_on = s.edits.painting;
  become_if_possible(s, with_visibility(s.edits.list, {a.layer, a.head}, length, a.query, a.key, a.sees),
                     snapshot, goes_on);
  s.edits.painting = true;
}

void reduce(UiState& s, const PaintEdit& a, const Snapshot& snapshot) {
  EditList list = with_painted(s.edits.list, a.edit);
  if (list == s.edits.list) return;
  become_if_possible(s, std::move(list), snapshot, s.edits.painting);
  s.edits.painting = true;
}

void reduce(UiState& s, const ListEdits& a, const Snapshot&) {
  s.edits.problem.clear();
  become(s.edits, a.list, s.edits.pulling && a.pulling);
  s.edits.pulling = a.pulling;
}

void reduce(UiState& s, const SwitchEdits& a, const Snapshot&) {
  s.edits.problem.clear();
  if (s.edits.list.edits.empty()) return;
  EditList list = s.edits.list;
  list.all_off = a.off;
  become(s.edits, std::move(list));
}

void reduce(UiState& s, const UndoEdits& a, const Snapshot&) {
  s.edits.problem.clear();
  auto& from = a.forward ? s.edits.after : s.edits.before;
  auto& to = a.forward ? s.edits.before : s.edits.after;
  if (from.empty()) return;
  to.push_back(std::exchange(s.edits.list, std::move(from.back())));
  from.pop_back();
  s.edits.pulling = s.edits.painting = false;
}

void reduce(UiState& s, const TypeEdits&, const Snapshot& snapshot) {
  const std::string& text = s.edits.typed.edit.text;
  if (!snapshot.model || text.empty()) return;
  try {
    reduce(s, AddEdits{parse_edits(text, *snapshot.model)}, snapshot);
    if (s.edits.problem.empty()) s.edits.typed = {};
  } catch (const model::RunError& e) {
    s.edits.problem = e.what();
  }
}

void reduce(UiState& s, const ShowEdits& a, const Snapshot&) {
  s.edits.open = a.open;
  s.edits.problem.clear();
}

void reduce(UiState& s, const SetSide& a, const Snapshot&) {
  s.side = a.side;
}

void reduce(UiState& s, const CompareWith& a, const Snapshot& snapshot) {
  s.tour.compared_before.reset();
  const bool files = snapshot.model && snapshot.model->patterns;
  if (a.on && !s.second.on && (s.second.text.edit.text.empty() || s.second.is_file != files))
    s.second.text.edit = apply(make_edit_state(files ? snapshot.model->folder.string() : s.prompt.edit.text),
                               SelectAll{});  // typing takes its place
  if (a.on) s.second.is_file = files;
  s.second.on = a.on;
  s.second.alignment = a.alignment;
}

void reduce(UiState& s, const CompareModel& a, const Snapshot& snapshot) {
  if (!a.folder.empty() && snapshot.model && snapshot.model->patterns) {
    s.message = {missing(*snapshot.model, Capability::weights), true};
    return;
  }
  s.tour.compared_before.reset();
  s.second.model = a.folder;
  ++s.second.request;
}

void reduce(UiState& s, const SecondOpened& a, const Snapshot&) {
  remember(s.recent_models, a.folder);
}

void reduce(UiState& s, const PromptsRead& a, const Snapshot&) {
  if (a.prompts) {
    set_prompts(s, a.prompts);
    show_view_of_many(s);
    show_option_text(s);
    if (s.message.is_error) s.message = {};
  } else {
    s.message = {a.problem, true};
  }
}

void change_as_said(UiState& s, const TourStop& stop, const Snapshot& snapshot) {
  TourPlace& tour = s.tour;
  if (!tour.edits_before) tour.edits_before = s.edits.list;
  EditList list;
  s.side = Side::run;
  if (!stop.edits.empty() && s.second.compares()) {  // it is compared with what is not changed
    tour.compared_before = {s.second.on, s.second.model};
    s.second.on = false, s.second.model.clear();
    s.message = {
        "The tour compares with the run without its changes; what was compared comes back behind it."};
  }
  try {
    if (snapshot.model && !stop.edits.empty())
      for (model::Edit& edit : parse_edits(stop.edits, *snapshot.model))
        list.edits.push_back({std::move(edit), true});
  } catch (const model::RunError& e) {  // another model than the tour is about
    s.edits.open = true;
    s.edits.problem = e.what();
  }
  become(s.edits, std::move(list));
  tour.edits = s.edits.list;
}

void change_as_before(UiState& s) {
  if (s.tour.edits_before && s.edits.list == s.tour.edits) become(s.edits, *s.tour.edits_before);
  if (const auto& compared = s.tour.compared_before)
    s.second.on = compared->prompt, s.second.model = compared->model;
}

void follow_tokens(UiState& s, const Prompt& before, const Snapshot& snapshot) {
  if (!snapshot.model || snapshot.model->patterns) return;
  std::vector<int> positions;
  const auto ids_of = [&](const Prompt& prompt) {
    std::vector<int> ids;
    const PromptTokens tokens = tokenize(*snapshot.model, prompt);
    if (tokens.was_empty) return ids;  // what runs in place of nothing is no token of the prompt
    for (const model::Token& token : tokens.tokens) ids.push_back(token.id);
    return ids;
  };
  try {
    const Prompt now = typed_prompt(s);
    positions = moved_positions(ids_of(before), ids_of(now), before.start_token && now.start_token ? 1 : 0);
  } catch (const model::RunError&) {  // the worker says why there are no tokens
    return;
  }
  const int n_ctx = snapshot.model->config().n_ctx;
  MovedEdits moved = moved_edits(s.edits.list, positions, n_ctx);
  if (moved.list == s.edits.list) return;
  if (s.tour.edits == s.edits.list) s.tour.edits = moved.list;
  for (auto* lists : {&s.edits.before, &s.edits.after}) {
    for (EditList& list : *lists)
      for (ListedEdit& listed : list.edits)
        if (MovedEdits one = moved_edits({{listed}, false}, positions, n_ctx);
            one.gone.empty() && !one.list.edits.empty())
          listed = std::move(one.list.edits.front());
  }
  if (moved.gone.empty()) {
    s.edits.list = std::move(moved.list);
    return;
  }
  std::string gone;
  for (const model::Edit& edit : moved.gone) gone += (gone.empty() ? "" : "; ") + edit_brief(edit);
  become(s.edits, std::move(moved.list));
  s.message = {"Tokens that were edited are gone, and with them: " + gone + ". Ctrl+U brings it back."};
}

int keep_possible(EditList& list, const model::Config& config) {
  const auto before = std::ssize(list.edits);
  std::erase_if(list.edits, [&](const ListedEdit& listed) {
    const auto* patch = std::get_if<model::PatchFrom>(&listed.edit);
    if (patch != nullptr && !patch->tokens.empty()) return true;  // which mean others now
    try {
      check(config, listed.edit);
      return false;
    } catch (const model::RunError&) {
      return true;
    }
  });
  return static_cast<int>(before - std::ssize(list.edits));
}

}  // namespace headscope::app
