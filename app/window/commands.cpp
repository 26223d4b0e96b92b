#include "app/window/commands.h"

#include <algorithm>

#include "app/ascii.h"

namespace headscope::app {
namespace {

using Maybe = std::optional<Action>;

constexpr Modifiers kNone{};
constexpr Modifiers kShift{.shift = true};
constexpr Modifiers kCtrl{.ctrl = true};
constexpr Modifiers kCtrlShift{.ctrl = true, .shift = true};
constexpr Modifiers kAlt{.alt = true};
constexpr Modifiers kAltShift{.shift = true, .alt = true};

/// Not over a dialog whose form would be lost.
Maybe toggle_palette(const UiState& s) {
  const bool has_form = s.dialog == Dialog::export_ || s.dialog == Dialog::open || s.dialog == Dialog::save;
  if (has_form) return {};
  return ShowDialog{s.dialog == Dialog::palette ? Dialog::none : Dialog::palette};
}

Maybe toggle_help(const UiState& s) {
  return ShowDialog{s.dialog == Dialog::help ? Dialog::none : Dialog::help};
}

template <bool kForward>
Maybe revisit(const UiState& s) {
  if ((kForward ? s.visits.after : s.visits.before).empty()) return {};
  return Revisit{kForward};
}

template <bool kForward>
Maybe undo(const UiState& s) {
  if (!can_undo(s, Field::prompt, kForward)) return {};
  return Undo{kForward};
}

Maybe toggle_tours(const UiState& s) {
  if (s.tours.empty()) return {};
  return s.tour.open ? Action(CloseTour{}) : Action(OpenTour{});
}

template <int kBy>
Maybe step_stop(const UiState& s) {
  if (!s.tour.open || s.tour.tour < 0) return {};
  const int stop = s.tour.stop + kBy;
  const auto& stops = s.tours[s.tour.tour].stops;
  if (stop < 0 || stop >= std::ssize(stops)) return {};
  return GoToStop{stop};
}

using Id = CommandId;
constexpr auto kNoMenu = Menu::none;
constexpr bool kRepeats = true, kOnce = false, kInDialogs = true;

/// An action that does not depend on the state.
template <auto kAction>
Maybe always(const UiState&) {
  return kAction;
}

template <Dialog kDialog>
Maybe open(const UiState&) {
  return ShowDialog{kDialog};
}

Maybe save_session(const UiState& s) {
  return s.session.empty() ? open<Dialog::save>(s) : Maybe(SaveSession{s.session, true});
}

Maybe next_side(const UiState& s) {
  if (!has_comparison(s)) return {};
  return SetSide{static_cast<Side>((static_cast<int>(s.side) + 1) % 3)};
}

constexpr Command begins_group(Command command) {
  command.begins_group = true;
  return command;
}

constexpr Command unavailable_if(std::string_view why, Command command) {
  command.unavailable = why;
  return command;
}

template <auto kWords, bool kForward>
constexpr Command names_object(Command command) {
  command.object = [](const UiState& s) { return kWords(s, kForward); };
  return command;
}

constexpr Command kTable[] = {
    {Id::export_view, Key::e, kCtrl, "Export…",
     "save a picture of a view, for a slide or a paper, or its data", open<Dialog::export_>},
    {Id::unnamed, Key::c, kCtrlShift, "Copy data", "copy the data of the view, for a spreadsheet",
     [](const UiState&) -> Maybe { return CopyNumbers{}; }},
    begins_group(
        {Id::examples, Key::l, kCtrl, "Example prompts", "example prompts", nullptr, Menu::examples}),
    {Id::models, Key::m, kCtrl, "Models", "models on this machine", nullptr, Menu::models},
    {Id::unnamed, Key::s, kCtrl, "Save session", "save the session: everything on the screen", save_session},
    {Id::save_session_as, Key::s, kCtrlShift, "Save session as…", "save the session under another name",
     open<Dialog::save>},
    {Id::unnamed, Key::none, kNone, "Sessions", "", nullptr, Menu::sessions},
    {Id::open, Key::o, kCtrl, "Open…", "open a model, a session, a figure or a list of prompts",
     open<Dialog::open>},
    begins_group({Id::generate, Key::g, kCtrl, "Generate", "start or stop generating, token by token",
                  [](const UiState& s) -> Maybe { return Generate{!s.generation.running}; }}),
    {Id::start_token, Key::b, kCtrl, "Start token", "toggle the start token",
     [](const UiState& s) -> Maybe { return SetStartToken{!s.start_token}; }},
    begins_group(names_object<undo_words, false>(unavailable_if(
        "There is nothing to undo.", {Id::undo, Key::z, kCtrl, "Undo",
                                      "undo the last change of the prompt, the edits or the second prompt",
                                      undo<false>, kNoMenu, kRepeats}))),
    names_object<undo_words, true>(
        unavailable_if("There is nothing to redo.",
                       {Id::redo, Key::z, kCtrlShift, "Redo", "redo it", undo<true>, kNoMenu, kRepeats})),
    {Id::unnamed, Key::y, kCtrl, "", "redo it", undo<true>, kNoMenu, kRepeats},
    begins_group({Id::unnamed, Key::i, kCtrl, "Edits bar", "show or hide the Edits bar",
                  [](const UiState& s) -> Maybe { return ShowEdits{!s.edits_bar.open}; }}),
    begins_group({Id::second_prompt, Key::p, kCtrl, "Second prompt",
                  "show or hide a second prompt to compare with",
                  [](const UiState& s) -> Maybe {
                    return CompareWith{!s.second.on, s.second.alignment};
                  }}),
    {Id::second_model, Key::m, kCtrlShift, "Second model…", "choose a second model to compare with", nullptr,
     Menu::second_model},
    unavailable_if("There is nothing to compare: make an edit, or add a second prompt or model.",
                   {Id::unnamed, Key::p, kCtrlShift, "Edited, baseline, difference",
                    "switch between the edited run, the baseline and the difference", next_side}),
    {Id::unnamed, Key::up, kAlt, "", "layer above", always<MoveHead{-1, 0}>, kNoMenu, kRepeats},
    {Id::unnamed, Key::down, kAlt, "", "layer below", always<MoveHead{1, 0}>, kNoMenu, kRepeats},
    {Id::unnamed, Key::left, kAltShift, "", "previous head", always<MoveHead{0, -1}>, kNoMenu, kRepeats},
    {Id::unnamed, Key::right, kAltShift, "", "next head", always<MoveHead{0, 1}>, kNoMenu, kRepeats},
    {Id::unnamed, Key::up, kCtrl, "", "previous query", always<MoveQuery{-1}>, kNoMenu, kRepeats},
    {Id::unnamed, Key::down, kCtrl, "", "next query", always<MoveQuery{1}>, kNoMenu, kRepeats},
    {Id::unnamed, Key::page_up, kCtrl, "", "previous view", always<StepView{-1}>},
    {Id::unnamed, Key::page_down, kCtrl, "", "next view", always<StepView{1}>},
    unavailable_if(
        "There is nothing to go back to.",
        begins_group({Id::back, Key::left, kAlt, "Back", "go back to the previous selection and view",
                      revisit<false>, kNoMenu, kRepeats})),
    unavailable_if(
        "There is nothing to go forward to.",
        {Id::forward, Key::right, kAlt, "Forward", "go forward again", revisit<true>, kNoMenu, kRepeats}),
    unavailable_if("No tours were found next to the program.",
                   {Id::unnamed, Key::none, kNone, "Tours", "show or hide the guided tours", toggle_tours}),
    {Id::unnamed, Key::page_up, kAlt, "", "previous stop of the tour", step_stop<-1>},
    {Id::unnamed, Key::page_down, kAlt, "", "next stop of the tour", step_stop<1>},
    {Id::two_views, Key::d, kCtrl, "Two views side by side", "show or hide a second view",
     [](const UiState& s) -> Maybe { return toggle_second_view(s); }},
    begins_group({Id::unnamed, Key::none, kNone, "Reset pane widths", "",
                  [](const UiState&) -> Maybe { return change(&UiState::panes, {}); }}),
    {Id::unnamed, Key::t, kCtrl, "Toggle dark theme", "toggle the dark theme",
     [](const UiState& s) -> Maybe { return change(&UiState::dark, !s.dark); }, kNoMenu, kOnce, kInDialogs},
    {Id::unnamed, Key::equal, kCtrl, "Larger text", "larger text",
     [](const UiState& s) -> Maybe { return SetFontSize{s.font_size + 1}; }, kNoMenu, kRepeats, kInDialogs},
    {Id::unnamed, Key::minus, kCtrl, "Smaller text", "smaller text",
     [](const UiState& s) -> Maybe { return SetFontSize{s.font_size - 1}; }, kNoMenu, kRepeats, kInDialogs},
    {Id::unnamed, Key::zero, kCtrl, "Default text size", "default text size",
     [](const UiState&) -> Maybe { return SetFontSize{}; }, kNoMenu, kOnce, kInDialogs},
    {Id::unnamed, Key::f10, kNone, "", "open the window's menu", nullptr, Menu::more},
    {Id::unnamed, Key::f10, kShift, "", "open the menu of the focused picture or text", nullptr,
     Menu::picture},
    begins_group({Id::palette, Key::k, kCtrl, "Find…",
                  "find a command, a view, a head, a token… by a few letters", toggle_palette, kNoMenu, kOnce,
                  kInDialogs}),
    {Id::unnamed, Key::f1, kNone, "Help", "this help: keys, the guide and its glossary", toggle_help, kNoMenu,
     kOnce, kInDialogs},
    {Id::unnamed, Key::q, kCtrl, "Quit", "quit",
     [](const UiState&) -> Maybe { return change(&UiState::quit, true); }, kNoMenu, kOnce, kInDialogs},
};

std::string name_of(Key key) {
  if (key >= Key::a && key <= Key::z)
    return std::string(1, static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(Key::a)));
  constexpr std::pair<Key, const char*> kNames[] = {
      {Key::up, "↑"},    {Key::down, "↓"},          {Key::left, "←"},
      {Key::right, "→"}, {Key::page_up, "Page up"}, {Key::page_down, "Page down"},
      {Key::equal, "="}, {Key::minus, "−"},         {Key::zero, "0"},
      {Key::f1, "F1"},   {Key::f10, "F10"}};
  for (const auto& [known, name] : kNames)
    if (known == key) return name;
  return "";
}

/// "Alt+S, Alt+Shift+S", "Alt+1 … 9".
std::string keys_help(std::string_view keys) {
  constexpr std::size_t kMany = 4;
  if (keys.size() > kMany) return key_name(keys.front()) + " … " + keys.back();
  std::string text;
  for (const char key : keys) text += (text.empty() ? "" : ", ") + key_name(key);
  return text;
}

}  // namespace

std::span<const Command> commands() {
  return kTable;
}

const Command& command(CommandId id) {
  return *std::ranges::find(kTable, id, &Command::id);
}

Action toggle_second_view(const UiState& state) {
  if (!state.second_view.empty()) return change(&UiState::second_view, "");
  for (const View& view : views())
    if (view.place == Place::tab && view.id != state.view) return ShowView{std::string(view.id), true};
  return change(&UiState::second_view, "");
}

std::string label_of(const Command& command, const UiState& state) {
  const std::string object = command.object ? command.object(state) : "";
  return std::string(command.label) + (object.empty() ? "" : ": " + object);
}

std::string keys_of(const Command& command) {
  if (command.key == Key::none) return "";
  const Modifiers& m = command.modifiers;
  return std::string(m.ctrl ? "Ctrl+" : "") + (m.alt ? "Alt+" : "") + (m.shift ? "Shift+" : "") +
         name_of(command.key);
}

std::string key_name(char key) {
  std::string words = "Alt+";
  if (key >= 'a' && key <= 'z') {
    words += static_cast<char>(key - 'a' + 'A');
  } else if (key >= 'A' && key <= 'Z') {
    words += std::string("Shift+") + key;
  } else {
    words += key == '-' ? "−" : std::string(1, key);
  }
  return words;
}

std::string with_keys(std::string_view words, const Command& command) {
  return std::string(words) + "  " + keys_of(command);
}

std::string with_key(std::string_view help, std::string_view keys, std::size_t which) {
  return capitalized(help) + (which < keys.size() ? "  " + key_name(keys[which]) : "");
}

std::vector<KeyHelp> list_of_keys() {
  std::vector<KeyHelp> lines;
  for (const Command& command : commands())
    if (command.key != Key::none) lines.push_back({keys_of(command), std::string(command.help)});
  lines.insert(
      lines.end(),
      {{"Tab, Shift+Tab", "next, previous group of controls"},
       {"↑ ↓ ← →", "next, previous control of a group; Space presses it, ← → move sliders and splitters"},
       {"F6, Shift+F6", "next, previous picture, or the prompt"},
       {"↑ ↓ ← → Page Home End", "in a picture: change the head or the query, or scroll"},
       {"Enter", "return to the prompt"},
       {"Esc", "stop generating or loading; close a menu or dialog; return to the prompt"}});
  const auto add = [&](std::string_view keys, std::string what) {
    if (keys.empty()) return;
    const std::string words = keys_help(keys);
    for (const KeyHelp& line : lines)
      if (line.keys == words && line.what == what) return;
    lines.push_back({words, std::move(what)});
  };
  for (const View& view : views())
    for (const KeyCommand& command : view.commands)
      add(command.keys, std::string(view.title) + ": " + std::string(command.help));
  for (const View& view : views())
    for (const OptionSpec* option : view.options) add(option->keys, std::string(option->help));
  return lines;
}

}  // namespace headscope::app
