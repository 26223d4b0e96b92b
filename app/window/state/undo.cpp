#include "app/window/state/undo.h"

#include <algorithm>
#include <string_view>

#include "app/counted.h"
#include "app/run/edits/edit_text.h"
#include "app/window/state.h"

namespace headscope::app {
namespace {

enum DocumentPart { kPrompt = 1, kEdits = 2, kSecond = 4 };

/// What documents are compared by, where it stands: menus and buttons ask in every frame, and a document may
/// be large. Where its carets are does not count.
struct DocumentRef {
  const std::string& prompt;
  const std::vector<int>& ids;
  bool start_token;
  const EditList& edits;
  const std::string& second;
  bool has_second, second_is_file;
  Alignment alignment;

  DocumentRef(const Document& d)
      : prompt(d.prompt.text),
        ids(d.ids),
        start_token(d.start_token),
        edits(d.edits),
        second(d.second.text),
        has_second(d.has_second),
        second_is_file(d.second_is_file),
        alignment(d.alignment) {}
  DocumentRef(const UiState& s)
      : prompt(s.prompt.edit.text),
        ids(s.ids),
        start_token(s.start_token),
        edits(s.edits.list),
        second(s.second.text.edit.text),
        has_second(s.second.on),
        second_is_file(s.second.is_file),
        alignment(s.second.alignment) {}
};

int differing_parts(const DocumentRef& a, const DocumentRef& b) {
  const bool prompt = a.prompt != b.prompt || a.ids != b.ids || a.start_token != b.start_token;
  const bool second = a.second != b.second || a.has_second != b.has_second ||
                      a.second_is_file != b.second_is_file || a.alignment != b.alignment;
  return (prompt ? kPrompt : 0) | (a.edits != b.edits ? kEdits : 0) | (second ? kSecond : 0);
}

std::size_t document_bytes(const Document& document) {
  std::size_t numbers = document.ids.size();
  for (const ListedEdit& listed : document.edits.edits) numbers += numbers_of(listed.edit);
  return document.prompt.text.size() + document.second.text.size() + numbers * sizeof(int) +
         document.edits.edits.size() * sizeof(ListedEdit);
}

/// “ she”; a long text is cut.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 24;
  const bool cut = text.size() > kMost;
  return "“" + std::string(text.substr(0, cut ? grapheme_floor(text, kMost) : text.size())) +
         (cut ? "…”" : "”");
}

std::string text_words(std::string_view from, std::string_view to) {
  const ChangedText change = changed_text(from, to);
  if (change.inserted.empty()) return "delete " + quoted(change.removed);
  return (change.removed.empty() ? "add " : "change to ") + quoted(change.inserted);
}

std::string edits_words(const EditList& from, const EditList& to) {
  const auto missing_in = [](const EditList& list, const EditList& other) {
    std::vector<ListedEdit> found = list.edits;
    std::erase_if(found, [&](const ListedEdit& edit) { return std::ranges::count(other.edits, edit) > 0; });
    return found;
  };
  const auto added = missing_in(to, from), removed = missing_in(from, to);
  if (added.size() + removed.size() == 0) return "order of the edits";
  if (added.size() == 1 && removed.size() == 1 && added[0].edit == removed[0].edit)
    return (added[0].on ? "switch on " : "switch off ") + edit_words(added[0].edit);
  if (added.size() == 1) return edit_words(added[0].edit);
  if (added.size() > 1) return counted(std::ssize(added), "edit");
  return "remove " +
         (removed.size() == 1 ? edit_words(removed[0].edit) : counted(std::ssize(removed), "edit"));
}

std::string second_words(const DocumentRef& from, const DocumentRef& to) {
  if (from.has_second != to.has_second || from.second_is_file != to.second_is_file) return "second prompt";
  if (from.alignment != to.alignment) return "alignment";
  return text_words(from.second, to.second) + " in the second prompt";
}

/// What a step from one document to another did.
std::string change_words(const DocumentRef& from, const DocumentRef& to) {
  const int parts = differing_parts(from, to);
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  if ((parts & kPrompt) != 0)
    add(from.prompt != to.prompt             ? text_words(from.prompt, to.prompt)
        : from.start_token != to.start_token ? "start token"
                                             : "token ids");
  if ((parts & kEdits) != 0) add(edits_words(from.edits, to.edits));
  if ((parts & kSecond) != 0) add(second_words(from, to));
  return words;
}

/// The next document that differs from the state's; null: none. Opening a model can make neighbours equal.
const Document* next_step(const UiState& now, bool forward) {
  const auto& steps = forward ? now.history.after : now.history.before;
  const auto found = std::find_if(steps.rbegin(), steps.rend(), [&](const Document& document) {
    return differing_parts(document, now) != 0;
  });
  return found == steps.rend() ? nullptr : &*found;
}

bool has_own_history(Field field) {
  return field != Field::prompt && field != Field::second;
}

}  // namespace

Document document_of(const UiState& s) {
  return {s.prompt.edit,      s.ids,       s.start_token,    s.edits.list,
          s.second.text.edit, s.second.on, s.second.is_file, s.second.alignment};
}

void restore(UiState& s, Document document, const Snapshot& snapshot) {
  if (s.second.on && !document.has_second) s.side = Side::run;
  s.prompt.edit = std::move(document.prompt);
  prompt_changed(s);
  s.ids = std::move(document.ids);
  s.start_token = document.start_token;
  s.edits.list = std::move(document.edits);
  s.edits.problem.clear();
  s.edits.dragging = false;
  s.second.text.edit = std::move(document.second);
  s.second.on = document.has_second;
  s.second.is_file = document.second_is_file;
  s.second.alignment = document.alignment;
  end_mixed_comparison(s, snapshot);
}

void reduce(UiState& s, const Undo& a, ReduceContext& w) {
  if (has_own_history(a.field)) {
    TextField& field = field_of(s, a.field);
    if (auto text = field.history.step(a.forward, field.edit)) {
      field.edit = *std::move(text);
      return field_changed(s, a.field);
    }
    if (s.dialog != Dialog::none) return;
  }
  w.is_no_step = true;
  const Document now = document_of(s);
  auto there = s.history.step(a.forward, now);
  while (there && differing_parts(*there, now) == 0) there = s.history.step(a.forward, now);
  if (!there) return;
  const std::string words = a.forward ? change_words(now, *there) : change_words(*there, now);
  restore(s, *std::move(there), w.snapshot);
  s.last_parts = 0;
  s.message = {(a.forward ? "Redone: " : "Undone: ") + words + "."};
}

void remember_change(UiState& s, Document before, const ReduceContext& w) {
  Document now = document_of(s);
  const int parts = differing_parts(before, now);
  if (w.is_no_step || parts == 0) return;
  const bool extends = w.extends_step ||
                       (before.prompt.text != now.prompt.text && now.prompt.extends_change) ||
                       (before.second.text != now.second.text && now.second.extends_change);
  s.history.add(std::move(before), extends && parts == s.last_parts, document_bytes);
  s.last_parts = parts;
}

void fit_history_to_model(UiState& s, const Snapshot& snapshot) {
  const bool has_weights = snapshot.model && !snapshot.model->patterns;
  const auto fit = [&](Document& document) {
    document.ids.clear();  // ids mean other tokens in another model
    if (!s.start_token_chosen) document.start_token = s.start_token;
    if (has_weights) remove_unsupported(document.edits, snapshot.model->config());
  };
  std::ranges::for_each(s.history.before, fit);
  std::ranges::for_each(s.history.after, fit);
  if (s.tour.before) fit(s.tour.before->document);
}

std::string undo_words(const UiState& s, bool forward) {
  const Document* there = next_step(s, forward);
  if (there == nullptr) return "";
  return forward ? change_words(s, *there) : change_words(*there, s);
}

bool can_undo(const UiState& s, Field field, bool forward) {
  if (has_own_history(field)) {
    const auto& own = field_of(s, field).history;
    if (!(forward ? own.after : own.before).empty()) return true;
  }
  return s.dialog == Dialog::none && next_step(s, forward) != nullptr;
}

}  // namespace headscope::app
