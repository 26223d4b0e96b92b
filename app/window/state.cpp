#include "app/window/state.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/counted.h"
#include "app/run/edits/edit_text.h"

namespace headscope::app {
namespace {

enum DocumentPart { kPrompt = 1, kEdits = 2, kSecond = 4 };

std::size_t document_bytes(const Document& document) {
  std::size_t numbers = document.ids.size();
  for (const ListedEdit& listed : document.edits.edits) numbers += numbers_of(listed.edit);
  return document.prompt.edit.text.size() + document.second.text.edit.text.size() + numbers * sizeof(int) +
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
    return (added[0].on ? "apply “" : "leave out “") + edit_words(added[0].edit) + "”";
  if (added.size() == 1) return edit_words(added[0].edit);
  if (added.size() > 1) return counted(std::ssize(added), "edit");
  return "remove " + (removed.size() == 1 ? "“" + edit_words(removed[0].edit) + "”"
                                          : counted(std::ssize(removed), "edit"));
}

std::string second_words(const SecondPrompt& from, const SecondPrompt& to) {
  if (from.on != to.on || from.is_file != to.is_file) return "second prompt";
  if (from.model != to.model) return "second model";
  if (from.alignment != to.alignment) return "alignment";
  return text_words(from.text.edit.text, to.text.edit.text) + " in the second prompt";
}

/// What a step from one document to another did.
std::string change_words(const Document& from, const Document& to) {
  const int parts = differing_parts(from, to);
  const std::string &before = from.prompt.edit.text, &after = to.prompt.edit.text;
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  if ((parts & kPrompt) != 0)
    add(before != after                      ? text_words(before, after)
        : from.start_token != to.start_token ? "start token"
                                             : "token ids");
  if ((parts & kEdits) != 0) add(edits_words(from.edits, to.edits));
  if ((parts & kSecond) != 0) add(second_words(from.second, to.second));
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

/// Adds a step to the history if the document differs from what it was before the action. Returns whether
/// that is a step of its own.
bool remember_change(UiState& s, Document before, const ReduceContext& w) {
  const int parts = differing_parts(before, s);
  if (w.is_no_step || parts == 0) return false;
  const auto typed_on = [](const TextField& was, const TextField& now) {
    return was.edit.text != now.edit.text && now.edit.extends_change;
  };
  const bool extends = parts == s.history.parts && (w.extends_step || typed_on(before.prompt, s.prompt) ||
                                                    typed_on(before.second.text, s.second.text));
  s.history.add(std::move(before), extends, document_bytes);
  s.history.parts = parts;
  return !extends;
}

/// The parts of what the panes show in which two states differ, as bits.
int moved_parts(const ViewState& a, const ViewState& b) {
  const Selection &from = a.selection, &to = b.selection;
  return (a.view != b.view || a.second_view != b.second_view ? 1 : 0) |
         (from.layer != to.layer || from.head != to.head ? 2 : 0) |
         (from.query != to.query || from.key != to.key ? 4 : 0);
}

/// Adds the view state before an action to the history. Returns whether it differs.
bool remember_visit(ViewSlice& s, ViewState before, const ReduceContext& w) {
  const int parts = moved_parts(before, s);
  if (parts == 0 || w.is_no_visit || w.is_no_step) return parts != 0;
  const int before_moved = std::exchange(s.visits.parts, w.is_move ? parts : 0);
  const bool extends = s.visits.after.empty() && (w.is_same_move || (w.is_move && before_moved == parts));
  s.visits.add(std::move(before), extends, [](const ViewState&) { return sizeof(ViewState); });
  return true;
}

/// One text field of the window, in the order of the enumerators.
struct FieldRow {
  std::string_view name;
  Dialog dialog;  ///< the dialog that opens with the caret in it; none: of no dialog, or not its first field
  TextField& (*of)(UiState&);
};

constexpr FieldRow kFieldRows[] = {
    {"prompt", Dialog::none, [](UiState& s) -> TextField& { return s.prompt; }},
    {"value", Dialog::none, [](UiState& s) -> TextField& { return s.option_text; }},
    {"file", Dialog::export_, [](UiState& s) -> TextField& { return s.export_form.path; }},
    {"size of the picture", Dialog::none, [](UiState& s) -> TextField& { return s.export_form.size; }},
    {"folder", Dialog::open, [](UiState& s) -> TextField& { return s.open_form.path; }},
    {"edit", Dialog::none, [](UiState& s) -> TextField& { return s.edits_bar.text; }},
    {"second prompt", Dialog::none, [](UiState& s) -> TextField& { return s.second.text; }},
    {"session", Dialog::save, [](UiState& s) -> TextField& { return s.save_form.path; }},
    {"search the help", Dialog::help, [](UiState& s) -> TextField& { return s.help_form.search; }},
    {"command", Dialog::palette, [](UiState& s) -> TextField& { return s.palette.search; }},
};
static_assert(std::size(kFieldRows) == static_cast<std::size_t>(Field::palette) + 1);

}  // namespace

int differing_parts(const Document& a, const Document& b) {
  const bool prompt =
      a.prompt.edit.text != b.prompt.edit.text || a.ids != b.ids || a.start_token != b.start_token;
  const auto same = [&](const auto... members) { return ((a.second.*members == b.second.*members) && ...); };
  const bool second =
      a.second.text.edit.text != b.second.text.edit.text ||
      !same(&SecondPrompt::on, &SecondPrompt::is_file, &SecondPrompt::alignment, &SecondPrompt::model);
  return (prompt ? kPrompt : 0) | (a.edits != b.edits ? kEdits : 0) | (second ? kSecond : 0);
}

void restore(UiState& s, Document document, const Snapshot& snapshot) {
  if (s.second.is_set() && !document.second.is_set()) s.side = Side::run;
  prompt_changed(s);
  static_cast<Document&>(s) = std::move(document);
  s.edits_bar.problem.clear();
  s.edits_bar.dragging = false;
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
  const Document now = s;
  auto there = s.history.step(a.forward, now);
  while (there && differing_parts(*there, now) == 0) there = s.history.step(a.forward, now);
  if (!there) return;
  const std::string words = a.forward ? change_words(now, *there) : change_words(*there, now);
  restore(s, *std::move(there), w.snapshot);
  s.message = {(a.forward ? "Redone: " : "Undone: ") + words + "."};
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

std::vector<Effect> apply_to(UiState& state, const Action& action, const Snapshot& snapshot) {
  ViewState seen = state;
  Document before = state;
  state.message.is_former = true;
  const Side side = state.side;
  const bool compared = has_comparison(state);
  const auto shown_option = [&] {
    const OptionSpec* option = option_in_field(state);
    return std::tuple(state.view, option, option ? state.options.value(*option) : OptionValue());
  };
  const auto option = shown_option();
  const std::string option_text = state.option_text.edit.text;
  ReduceContext context{snapshot};
  action.apply(state, context);
  // A later comparison begins at what is new.
  if (compared && !has_comparison(state) && state.side == Side::baseline) state.side = Side::run;
  if (shown_option() != option && state.option_text.edit.text == option_text) show_option_text(state);
  const bool is_edited_text = !context.is_other_text && !action.get_if<Undo>();
  if (is_edited_text && has_positions(before.edits) && state.edits == before.edits)
    move_with_tokens(state, prompt_without_edits(before), snapshot);
  const bool is_new_step = remember_change(state, std::move(before), context);
  const bool shows_other = remember_visit(state, std::move(seen), context);
  if (shows_other) state.edits_bar.problem.clear();  // it was about another view state
  if ((is_new_step || shows_other || state.side != side) && state.message.is_former &&
      !state.message.is_error)
    state.message = {};  // it was about what was there before
  return std::move(context.effects);
}

TextField& field_of(UiState& state, Field field) {
  return kFieldRows[static_cast<std::size_t>(field)].of(state);
}

std::string_view name_of(Field field) {
  return kFieldRows[static_cast<std::size_t>(field)].name;
}

Field first_field(Dialog dialog) {
  if (dialog == Dialog::none) return Field::prompt;
  return static_cast<Field>(std::ranges::find(kFieldRows, dialog, &FieldRow::dialog) - kFieldRows);
}

const TextField& field_of(const UiState& state, Field field) {
  return field_of(const_cast<UiState&>(state), field);
}

Prompt prompt_of(const UiState& state) {
  Prompt prompt = prompt_without_edits(state);
  prompt.edits = state.edits.active();
  if (state.second.model.empty())
    std::erase_if(prompt.edits, [](const auto& edit) { return model::patches_from_second(edit); });
  return prompt;
}

WorkerRequest wanted(const UiState& state, std::vector<Question> questions) {
  WorkerRequest wanted{.model = state.model,
                       .load_request = state.load_request,
                       .load_cancel = state.load_cancel,
                       .prompt = prompt_of(state),
                       .questions = std::move(questions)};
  wanted.second_model = state.second.model;
  wanted.second_request = state.second_request;
  if (state.second.on) {
    wanted.second = Prompt{state.second.text.edit.text, {}, state.start_token};
  } else if (!state.second.model.empty()) {
    wanted.second = prompt_without_edits(state);
  }
  wanted.alignment = state.second.alignment;
  return wanted;
}

}  // namespace headscope::app
