#include "app/window/changing.h"

#include <algorithm>
#include <utility>

#include "app/run/edit_text.h"
#include "model/error.h"

namespace headscope::app {
namespace {

constexpr std::size_t kMostUndone = 100;

/// `goes_on`: one step of the history with the one before.
void become(Changes& changes, EditList list, bool goes_on = false) {
  if (list == changes.list) return;
  EditList was = std::exchange(changes.list, std::move(list));
  changes.after.clear();
  if (goes_on && !changes.before.empty()) return;
  changes.before.push_back(std::move(was));
  if (changes.before.size() > kMostUndone) changes.before.erase(changes.before.begin());
}

}  // namespace

void change(UiState& s, const AddEdits& a, const Snapshot&) {
  EditList list = s.changes.list;
  for (const model::Intervention& edit : a.edits) list = with_edit(std::move(list), edit);
  become(s.changes, std::move(list));
  s.changes.painting = false;
}

void change(UiState& s, const RemoveEdits& a, const Snapshot&) {
  EditList list = s.changes.list;
  for (const model::Intervention& edit : a.edits) list = without_edit(std::move(list), edit);
  become(s.changes, std::move(list));
  s.changes.painting = false;
}

void change(UiState& s, const PaintMask& a, const Snapshot& snapshot) {
  if (!snapshot.run) return;
  become(s.changes, with_visibility(s.changes.list, {a.layer, a.head}, snapshot.run->run->length(), a.query, a.key, a.sees),
         std::exchange(s.changes.painting, true));
}

void change(UiState& s, const ListEdits& a, const Snapshot&) {
  become(s.changes, a.list, s.changes.pulling && a.pulling);
  s.changes.pulling = a.pulling;
  if (s.changes.list.edits.empty()) s.changes.list.all_off = false;
}

void change(UiState& s, const SwitchEdits& a, const Snapshot&) {
  if (s.changes.list.edits.empty()) return;
  EditList list = s.changes.list;
  list.all_off = a.off;
  become(s.changes, std::move(list));
}

void change(UiState& s, const UndoEdits& a, const Snapshot&) {
  auto& from = a.forward ? s.changes.after : s.changes.before;
  auto& to = a.forward ? s.changes.before : s.changes.after;
  if (from.empty()) return;
  to.push_back(std::exchange(s.changes.list, std::move(from.back())));
  from.pop_back();
  s.changes.pulling = s.changes.painting = false;
}

void change(UiState& s, const TypeEdits&, const Snapshot& snapshot) {
  const std::string& text = s.changes.typed.edit.text;
  if (!snapshot.model || text.empty()) return;
  try {
    change(s, AddEdits{parse_edits(text, *snapshot.model)}, snapshot);
    s.changes.typed = {};
    s.changes.problem.clear();
  } catch (const model::RunError& e) {
    s.changes.problem = e.what();
  }
}

void change(UiState& s, const ShowChanges& a, const Snapshot&) {
  s.changes.open = a.open;
  s.changes.problem.clear();
}

void change(UiState& s, const SetSide& a, const Snapshot&) {
  s.side = a.side;
}

void change(UiState& s, const CompareWith& a, const Snapshot&) {
  if (a.on && !s.second.on && s.second.text.edit.text.empty())
    s.second.text.edit = make_edit_state(s.prompt.edit.text);
  s.second.on = a.on;
  s.second.alignment = a.alignment;
}

int keep_possible(Changes& changes, const model::Config& config) {
  const auto before = std::ssize(changes.list.edits);
  std::erase_if(changes.list.edits, [&](const ListedEdit& listed) {
    try {
      model::check(config, listed.edit);
      return false;
    } catch (const model::RunError&) {
      return true;
    }
  });
  changes.before.clear();
  changes.after.clear();
  changes.problem.clear();
  return static_cast<int>(before - std::ssize(changes.list.edits));
}

}  // namespace headscope::app
