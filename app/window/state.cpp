#include "app/window/state.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {
namespace {

constexpr float kSmallestFont = 9;
constexpr float kLargestFont = 32;
constexpr float kNarrowestPane = 180;
constexpr float kWidestPane = 1600;

/// Layers, heads and positions there are; one of each while nothing has run.
struct Extent {
  int layers = 1;
  int heads = 1;
  int length = 1;
};

Extent extent(const Snapshot& snapshot) {
  if (!snapshot.run) return {};
  const auto& run = *snapshot.run->run;
  return {run.config.n_layer, run.config.n_head, run.length()};
}

int next_view(const std::string& id, int by) {
  std::vector<std::string_view> panes;
  int at = 0;
  for (const View& view : views()) {
    if (view.place != Place::tab) continue;
    if (view.id == id) at = static_cast<int>(panes.size());
    panes.push_back(view.id);
  }
  const int count = static_cast<int>(panes.size());
  return count == 0 ? -1 : ((at + by) % count + count) % count;
}

std::string_view pane_id(int index) {
  for (const View& view : views())
    if (view.place == Place::tab && index-- == 0) return view.id;
  return view_at(Place::tab).id;
}

}  // namespace

const OptionSpec* list_option(const View& view) {
  for (const OptionSpec* option : view.options)
    if (std::holds_alternative<std::vector<int>>(option->usual)) return option;
  return nullptr;
}

void show_option_text(UiState& state) {
  const View* view = find_view(state.view);
  const OptionSpec* option = view ? list_option(*view) : nullptr;
  if (!option) return;
  std::string text;
  for (const int n : std::get<std::vector<int>>(state.options.value(*option)))
    text += (text.empty() ? "" : ", ") + std::to_string(n);
  state.option_text.edit = make_edit_state(std::move(text));
}

namespace {

/// The overloads below change one state for one action each; what has to happen outside goes into `effects`.
class Reducer {
 public:
  Reducer(Update& update, const Snapshot& snapshot)
      : s_(update.state), effects_(update.effects), snapshot_(snapshot) {}

  void operator()(const EditField& a) {
    TextField* field = field_of(s_, a.field);
    if (!field) return;
    const bool moves_only =
        std::holds_alternative<Move>(a.command) || std::holds_alternative<MoveTo>(a.command) ||
        std::holds_alternative<Select>(a.command) || std::holds_alternative<SelectAll>(a.command);
    field->edit = apply(std::move(field->edit), a.command);
    if (a.field == Field::prompt && !moves_only) prompt_changed();
    if (a.field == Field::option && !moves_only) option_typed();
  }

  void operator()(const ScrollField& a) {
    if (TextField* field = field_of(s_, a.field)) field->scroll = a.to;
  }

  void operator()(const FocusField& a) { s_.focus = a.field; }

  void operator()(const SetPrompt& a) {
    s_.prompt.edit = apply(std::move(s_.prompt.edit), Replace{a.text});
    prompt_changed();
    s_.selection.query = -1;
    s_.hint = a.hint;
    if (a.head) (*this)(SelectHead{a.head->layer, a.head->head});
    (*this)(ShowDialog{Dialog::none});
  }

  void operator()(const ShowIds& a) {
    s_.prompt.edit = make_edit_state(a.text);
    s_.ids = a.ids;
  }

  void operator()(const AppendToken& a) {
    if (!snapshot_.model) return;
    s_.ids.clear();
    const std::string bytes(snapshot_.model->tokenizer->bytes(a.id));
    s_.prompt.edit = apply(std::move(s_.prompt.edit), Append{bytes, s_.generation.running});
    s_.selection.query = -1;
    follow();
    if (!s_.generation.running) return;
    if (++s_.generation.made >= Generation::kMost) s_.generation.running = false;
  }

  void operator()(const SelectHead& a) {
    const Extent e = extent(snapshot_);
    s_.selection.layer = std::clamp(a.layer, 0, e.layers - 1);
    s_.selection.head = std::clamp(a.head, 0, e.heads - 1);
  }

  void operator()(const MoveHead& a) {
    (*this)(SelectHead{s_.selection.layer + a.layers, s_.selection.head + a.heads});
  }

  void operator()(const SelectQuery& a) {
    const int length = extent(snapshot_).length;
    s_.selection.query = a.position < 0 ? -1 : std::min(a.position, length - 1);
    follow();
  }

  void operator()(const MoveQuery& a) {
    const int last = extent(snapshot_).length - 1;
    const int from = s_.selection.query < 0 ? last : std::min(s_.selection.query, last);
    const int to = std::clamp(from + a.by, 0, last);
    (*this)(SelectQuery{to == last && a.by > 0 ? -1 : to});
  }

  void operator()(const ShowView& a) {
    const View* view = find_view(a.id);
    if (!view || view->place != Place::tab) return;
    if (s_.focus == Field::option && a.id != s_.view) s_.focus = Field::none;
    s_.view = a.id;
    show_option_text(s_);
  }

  void operator()(const StepView& a) { (*this)(ShowView{std::string(pane_id(next_view(s_.view, a.by)))}); }

  void operator()(const SetOption& a) {
    s_.options.set(*a.option, a.value);
    if (const View* view = find_view(s_.view); view && list_option(*view) == a.option) show_option_text(s_);
    if (a.option->kept) save();
  }

  void operator()(const DoAll& a) {
    for (const ViewAction& action : a.actions) std::visit(*this, action);
  }

  void operator()(const EditOption&) {
    const View* view = find_view(s_.view);
    if (!view || !list_option(*view)) {
      const auto all = views();
      const auto found = std::find_if(all.begin(), all.end(), [](const View& other) {
        return other.place == Place::tab && list_option(other) != nullptr;
      });
      if (found == all.end()) return;
      (*this)(ShowView{std::string(found->id)});
    }
    s_.focus = Field::option;
    s_.option_text.edit = apply(std::move(s_.option_text.edit), SelectAll{});
  }

  void operator()(const TakeBackClick&) {
    s_.selection = s_.selection_before;
    s_.options = s_.options_before;
    show_option_text(s_);
  }

  void operator()(const SetDark& a) {
    s_.dark = a.dark;
    save();
  }

  void operator()(const SetFontSize& a) {
    s_.font_size = std::clamp(a.size, kSmallestFont, kLargestFont);
    save();
  }

  void operator()(const SetStartToken& a) {
    s_.start_token = a.on;
    s_.selection.query = -1;
    follow();
    save();
  }

  void operator()(const Generate& a) {
    s_.generation.running = a.on;
    s_.generation.made = 0;
    if (a.on) {
      ++s_.generation.seed;
      // A move of the caret: what is generated now is a step of the history for itself.
      s_.prompt.edit = apply(std::move(s_.prompt.edit), Move{Motion::text_end});
      s_.selection.query = -1;
      follow();
    }
  }

  void operator()(const ShowDialog& a) {
    s_.dialog = a.dialog;
    s_.menu_row = -1;
    s_.drag.reset();
    if (a.dialog == Dialog::export_) {
      s_.export_form.subject = Subject::view;
      s_.export_form.path.edit = make_edit_state(suggested_path());
      (*this)(FocusField{Field::export_path});
    } else if (a.dialog == Dialog::open) {
      (*this)(BrowseFolder{s_.open_form.folder});
      (*this)(FocusField{Field::open_path});
    } else if (s_.focus != Field::prompt || a.dialog != Dialog::none) {
      (*this)(FocusField{Field::none});
    }
    if (a.dialog == Dialog::models || a.dialog == Dialog::open) effects_.emplace_back(FindModelsEffect{});
  }

  void operator()(const MoveMenu& a) {
    int rows = 0;
    if (s_.dialog == Dialog::examples) rows = static_cast<int>(s_.examples.size());
    if (s_.dialog == Dialog::models) rows = static_cast<int>(s_.models.size()) + 1;
    if (s_.dialog == Dialog::open) rows = static_cast<int>(s_.open_form.entries.size());
    if (rows == 0) return;
    s_.menu_row = s_.menu_row < 0 && a.by < 0 ? rows - 1 : std::clamp(s_.menu_row + a.by, 0, rows - 1);
    if (s_.dialog == Dialog::open) keep_row_shown();
  }

  void operator()(const SetExport& a) {
    ExportForm& form = s_.export_form;
    const bool renamed = form.path.edit.text != suggested_path();
    form.subject = a.subject;
    form.kind = a.kind;
    if (form.kind == FileFormat::csv && form.subject == Subject::window) form.subject = Subject::view;
    form.scale = std::clamp(a.scale, 1, 8);
    form.svg_text = a.svg_text;
    std::filesystem::path path = renamed ? form.path.edit.text : suggested_path();
    if (renamed) path.replace_extension(extension_of(s_.export_form.kind));
    form.path.edit = make_edit_state(path.string());
  }

  void operator()(const DoExport&) {
    effects_.emplace_back(ExportEffect{s_.export_form});
    (*this)(ShowDialog{Dialog::none});
  }

  void operator()(const CopyText& a) { effects_.emplace_back(CopyTextEffect{a.text}); }

  void operator()(const Paste& a) { effects_.emplace_back(PasteEffect{a.field}); }

  void operator()(const Quit&) { s_.quit = true; }

  void operator()(const CopyNumbers&) { effects_.emplace_back(CopyNumbersEffect{}); }

  void operator()(const OpenModel& a) {
    s_.model = a.folder;
    ++s_.load_request;
    s_.generation.running = false;
    (*this)(ShowDialog{Dialog::none});
    save();
  }

  void operator()(const CancelLoad&) { s_.load_cancel = s_.load_request; }

  void operator()(const BrowseFolder& a) {
    s_.open_form.folder = a.folder;
    effects_.emplace_back(ListFolderEffect{a.folder});
  }

  void operator()(const FolderListed& a) {
    s_.open_form.folder = a.folder;
    s_.open_form.entries = a.entries;
    s_.open_form.first = 0;
    s_.menu_row = -1;
    s_.open_form.path.edit = make_edit_state(a.folder.string());
  }

  void operator()(const ScrollFolder& a) {
    const int last = std::max(0, static_cast<int>(s_.open_form.entries.size()) - 1);
    s_.open_form.first = std::clamp(s_.open_form.first + a.by, 0, last);
  }

  void operator()(const ModelsFound& a) { s_.models = a.models; }

  void operator()(const ShowMessage& a) {
    s_.message = a.text;
    s_.message_is_error = a.is_error;
    if (a.is_error) s_.generation.running = false;
  }

  void operator()(const DismissMessage&) { s_.message.clear(); }

  void operator()(const StartDrag& a) {
    s_.drag = a.drag;
    s_.drag->last = a.drag.start;
    if (a.drag.kind == DragKind::slider) slide(a.drag.start);
    if (a.drag.kind == DragKind::picture && a.drag.clicks == 1)
      s_.selection_before = s_.selection, s_.options_before = s_.options;
  }

  void operator()(const MoveDrag& a) {
    if (!s_.drag) return;
    Drag& drag = *s_.drag;
    const float dx = a.to.x - drag.start.x;
    switch (drag.kind) {
      case DragKind::text:
        break;  // the input makes it an EditField: only it knows where the text stands
      case DragKind::heads_splitter:
        s_.panes.heads = std::clamp(drag.size + dx, kNarrowestPane, kWidestPane);
        break;
      case DragKind::next_splitter:
        s_.panes.next = std::clamp(drag.size - dx, kNarrowestPane, kWidestPane);
        break;
      case DragKind::slider:
        slide(a.to);
        break;
      case DragKind::picture:
        drag.moved = true;  // what it means, only the view knows: the input asks it
        drag.last = a.to;
        break;
    }
  }

  void operator()(const EndDrag&) {
    if (s_.drag && (s_.drag->kind == DragKind::heads_splitter || s_.drag->kind == DragKind::next_splitter ||
                    s_.drag->kind == DragKind::slider))
      save();
    s_.drag.reset();
  }

 private:
  void save() { effects_.emplace_back(SaveEffect{}); }

  void prompt_changed() {
    s_.generation.running = false;
    follow();
    s_.hint.clear();
    s_.ids.clear();
  }

  /// Where pictures are scrolled to is of one query in one prompt.
  void follow() {
    for (const OptionSpec* option : all_options())
      if (option->follows) s_.options.set(*option, option->usual);
  }

  void slide(viz::Point to) {
    const viz::Rect& track = s_.drag->track;
    const OptionSpec& option = *s_.drag->option;
    const double fraction = static_cast<double>((to.x - track.x) / track.w);
    const double value = option.low + std::clamp(fraction, 0.0, 1.0) * (option.high - option.low);
    // To whole steps, whatever the slider's length.
    s_.options.set(option, std::round(value / option.step) * option.step);
  }

  /// The option follows what is typed as far as it can be read.
  void option_typed() {
    constexpr std::size_t kMostTyped = 16;
    const View* view = find_view(s_.view);
    const OptionSpec* option = view ? list_option(*view) : nullptr;
    if (!option) return;
    std::vector<int> numbers;
    int number = -1;  // of digits so far; -1: none
    const std::string text = s_.option_text.edit.text + ",";
    for (const char c : text) {
      if (c >= '0' && c <= '9') {
        number = std::min(std::max(number, 0) * 10 + (c - '0'), 1 << 24);
      } else if (number >= 0) {
        if (numbers.size() < kMostTyped) numbers.push_back(number);
        number = -1;
      }
    }
    s_.options.set(*option, std::move(numbers));
    if (option->kept) save();
  }

  /// "tales-L1H2-heatmap.png" in the folder of the last export, or the home folder.
  std::string suggested_path() const {
    const ExportForm& form = s_.export_form;
    std::string name = snapshot_.model ? snapshot_.model->name : "headscope";
    if (form.subject == Subject::view && find_view(s_.view)->caption.head)
      name += "-L" + std::to_string(s_.selection.layer) + "H" + std::to_string(s_.selection.head);
    name += form.subject == Subject::view    ? "-" + s_.view
            : form.subject == Subject::heads ? "-heads"
                                             : "-window";
    return (form.folder / name.append(extension_of(form.kind))).string();
  }

  void keep_row_shown() {
    if (s_.menu_row < s_.open_form.first) s_.open_form.first = s_.menu_row;
    if (s_.menu_row >= s_.open_form.first + OpenForm::kRows)
      s_.open_form.first = s_.menu_row - OpenForm::kRows + 1;
  }

  UiState& s_;
  std::vector<Effect>& effects_;
  const Snapshot& snapshot_;
};

}  // namespace

TextField* field_of(UiState& state, Field field) {
  return const_cast<TextField*>(field_of(std::as_const(state), field));
}

const TextField* field_of(const UiState& state, Field field) {
  switch (field) {
    case Field::prompt:
      return &state.prompt;
    case Field::export_path:
      return &state.export_form.path;
    case Field::open_path:
      return &state.open_form.path;
    case Field::option:
      return &state.option_text;
    case Field::none:
      break;
  }
  return nullptr;
}

Update apply(UiState state, const Action& action, const Snapshot& snapshot) {
  Update update{std::move(state), {}};
  std::visit(Reducer(update, snapshot), action);
  return update;
}

Prompt prompt_of(const UiState& state) {
  return {state.prompt.edit.text, state.ids, state.start_token};
}

Wanted wanted(const UiState& state, std::vector<Question> questions) {
  return {state.model, state.load_request, state.load_cancel, prompt_of(state), std::move(questions)};
}

}  // namespace headscope::app
