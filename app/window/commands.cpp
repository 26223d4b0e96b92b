#include "app/window/commands.h"

#include <algorithm>
#include <stdexcept>

#include "app/ascii.h"

namespace headscope::app {
namespace {

using Maybe = std::optional<Action>;
using State = const UiState&;

constexpr Modifiers kNoModifiers{};
constexpr Modifiers kShift{.shift = true};
constexpr Modifiers kCtrl{.ctrl = true};
constexpr Modifiers kCtrlShift{.ctrl = true, .shift = true};
constexpr Modifiers kAlt{.alt = true};
constexpr Modifiers kAltShift{.shift = true, .alt = true};

/// Not over a dialog whose form would be lost.
Maybe toggle_palette(State s) {
  const bool has_form = s.dialog == Dialog::export_ || s.dialog == Dialog::open || s.dialog == Dialog::save;
  if (has_form) return {};
  return ShowDialog{s.dialog == Dialog::palette ? Dialog::none : Dialog::palette};
}

Maybe revisit(State s, bool forward) {
  if ((forward ? s.visits.after : s.visits.before).empty()) return {};
  return Revisit{forward};
}

Maybe undo(State s, bool forward) {
  if (undo_words(s, forward).empty()) return {};
  return Undo{forward};
}

Maybe toggle_tours(State s) {
  if (s.tours.empty()) return {};
  return s.tour.open ? Action(CloseTour{}) : Action(OpenTour{});
}

Maybe step_stop(State s, int by) {
  if (!s.tour.open || s.tour.tour < 0) return {};
  const int stop = s.tour.stop + by;
  const auto& stops = s.tours[s.tour.tour].stops;
  if (stop < 0 || stop >= std::ssize(stops)) return {};
  return GoToStop{stop};
}

/// An action that does not depend on the state.
template <class Of, auto... kArguments>
Maybe does(State) {
  return Of{kArguments...};
}

Maybe save_session(State s) {
  if (s.session.empty()) return ShowDialog{Dialog::save};
  return SaveSession{s.session, true};
}

Maybe next_side(State s) {
  if (!has_comparison(s)) return {};
  return SetSide{static_cast<Side>((static_cast<int>(s.side) + 1) % 3)};
}

constexpr int kGroup = Command::kBeginsGroup, kRepeats = Command::kRepeats, kAnywhere = Command::kInDialogs;

/// In the menu's order: what a newcomer looks for is in sight, even if the window is too low for all of it.
constexpr Command kTable[] = {
    {Key{'k'}, kCtrl, "Find…", "find a command, a view, a head, a token… by a few letters", toggle_palette,
     kAnywhere},
    {Key::f1, kNoModifiers, "Help", "this help: keys, the guide and its glossary",
     [](State s) -> Maybe { return ShowDialog{s.dialog == Dialog::help ? Dialog::none : Dialog::help}; },
     kAnywhere},
    {Key{'e'}, kCtrl, "Export…", "save a picture of a view, for a slide or a paper, or its data",
     does<ShowDialog, Dialog::export_>, kGroup},
    {Key{'c'}, kCtrlShift, "Copy data", "copy the data of the view, for a spreadsheet", does<CopyNumbers>},
    {Key{'l'}, kCtrl, "Example prompts", "", nullptr, kGroup, "", Menu::examples},
    {Key{'m'}, kCtrl, "Models", "models on this machine", nullptr, 0, "", Menu::models},
    {Key{'s'}, kCtrl, "Save session", "save the session: everything on the screen", save_session},
    {Key{'s'}, kCtrlShift, "Save session as…", "save the session under another name",
     does<ShowDialog, Dialog::save>},
    {Key{'o'}, kCtrl, "Open…", "open a model, a session, a figure or a list of prompts",
     does<ShowDialog, Dialog::open>},
    {Key{'g'}, kCtrl, "Generate", "start or stop generating, token by token",
     [](State s) -> Maybe { return Generate{!s.generation.running}; }, kGroup},
    {Key{'b'}, kCtrl, "Start token", "toggle the start token",
     [](State s) -> Maybe { return SetStartToken{!s.start_token}; }},
    {Key{'z'}, kCtrl, "Undo", "undo the last change of the prompt, the edits, the second prompt or model",
     [](State s) { return undo(s, false); }, kGroup | kRepeats, "There is nothing to undo.", Menu::none,
     [](State s) { return undo_words(s, false); }},
    {Key{'z'}, kCtrlShift, "Redo", "redo what was undone last", [](State s) { return undo(s, true); },
     kRepeats, "There is nothing to redo.", Menu::none, [](State s) { return undo_words(s, true); }},
    {Key{'y'}, kCtrl, "", "redo what was undone last", [](State s) { return undo(s, true); }, kRepeats},
    {Key{'i'}, kCtrl, "Edits bar", "show or hide the Edits bar",
     [](State s) -> Maybe { return ShowEdits{!s.edits_bar.open}; }, kGroup},
    {Key{'p'}, kCtrl, "Second prompt", "show or hide a second prompt to compare with",
     [](State s) -> Maybe {
       return CompareWith{!s.second.on, s.second.alignment};
     },
     kGroup},
    {Key{'m'}, kCtrlShift, "Second model…", "choose a second model to compare with", nullptr, 0, "",
     Menu::second_model},
    {Key{'p'}, kCtrlShift, "Edited, baseline, difference",
     "switch between the edited run, the baseline and the difference", next_side, 0,
     "There is nothing to compare: make an edit, or add a second prompt or model."},
    {Key::up, kAlt, "", "layer above", does<MoveHead, -1, 0>, kRepeats},
    {Key::down, kAlt, "", "layer below", does<MoveHead, 1, 0>, kRepeats},
    {Key::left, kAltShift, "", "previous head", does<MoveHead, 0, -1>, kRepeats},
    {Key::right, kAltShift, "", "next head", does<MoveHead, 0, 1>, kRepeats},
    {Key::up, kCtrl, "", "previous query", does<MoveQuery, -1>, kRepeats},
    {Key::down, kCtrl, "", "next query", does<MoveQuery, 1>, kRepeats},
    {Key::page_up, kCtrl, "", "previous view", does<StepView, -1>},
    {Key::page_down, kCtrl, "", "next view", does<StepView, 1>},
    {Key::left, kAlt, "Back", "go back to the previous selection and view",
     [](State s) { return revisit(s, false); }, kGroup | kRepeats, "There is nothing to go back to."},
    {Key::right, kAlt, "Forward", "go forward again", [](State s) { return revisit(s, true); }, kRepeats,
     "There is nothing to go forward to."},
    {Key::none, kNoModifiers, "Tours", "show or hide the guided tours", toggle_tours, 0,
     "No tours were found next to the program."},
    {Key::page_up, kAlt, "", "previous stop of the tour", [](State s) { return step_stop(s, -1); }},
    {Key::page_down, kAlt, "", "next stop of the tour", [](State s) { return step_stop(s, 1); }},
    {Key{'d'}, kCtrl, "Two views side by side", "show or hide a second view",
     [](State s) -> Maybe { return toggle_second_view(s); }},
    {Key::none, kNoModifiers, "Reset pane widths", "",
     [](State) -> Maybe { return change(&UiState::panes, {}); }, kGroup},
    {Key{'t'}, kCtrl, "Toggle dark theme", "",
     [](State s) -> Maybe { return change(&UiState::dark, !s.dark); }, kAnywhere},
    {Key{'='}, kCtrl, "Larger text", "", [](State s) -> Maybe { return SetFontSize{s.font_size + 1}; },
     kRepeats | kAnywhere},
    {Key{'-'}, kCtrl, "Smaller text", "", [](State s) -> Maybe { return SetFontSize{s.font_size - 1}; },
     kRepeats | kAnywhere},
    {Key{'0'}, kCtrl, "Default text size", "", does<SetFontSize>, kAnywhere},
    {Key::f10, kNoModifiers, "", "open the window's menu", nullptr, 0, "", Menu::more},
    {Key::f10, kShift, "", "open the menu of the focused picture or text", nullptr, 0, "", Menu::focused},
    {Key{'q'}, kCtrl, "Quit", "", [](State) -> Maybe { return change(&UiState::quit, true); },
     kGroup | kAnywhere},
};

std::string keys_of(const Modifiers& modifiers, Key key) {
  constexpr std::pair<Key, const char*> kNames[] = {
      {Key::up, "↑"},    {Key::down, "↓"},          {Key::left, "←"},
      {Key::right, "→"}, {Key::page_up, "Page up"}, {Key::page_down, "Page down"},
      {Key{'-'}, "−"},   {Key::f1, "F1"},           {Key::f10, "F10"}};
  const auto* const named = std::ranges::find(kNames, key, &std::pair<Key, const char*>::first);
  return std::string(modifiers.ctrl ? "Ctrl+" : "") + (modifiers.alt ? "Alt+" : "") +
         (modifiers.shift ? "Shift+" : "") +
         (named != std::end(kNames) ? named->second : std::string(1, upper(static_cast<char>(key))));
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

const Command& command(std::string_view label) {
  const auto* const found = std::ranges::find(kTable, label, &Command::label);
  if (found == std::end(kTable)) throw std::logic_error("there is no command " + std::string(label));
  return *found;
}

Action toggle_second_view(const UiState& state) {
  if (!state.second_view.empty()) return change(&UiState::second_view, "");
  const std::span<const View> all = views();  // the first two are tabs
  return ShowView{std::string(all[all[0].id == state.view ? 1 : 0].id), true};
}

std::string label_of(const Command& command, const UiState& state) {
  const std::string object = command.object ? command.object(state) : "";
  return std::string(command.label) + (object.empty() ? "" : ": " + object);
}

std::string keys_of(const Command& command) {
  return command.key == Key::none ? "" : keys_of(command.modifiers, command.key);
}

std::string key_name(char key) {
  const char small = lower(key);
  return keys_of(small == key ? kAlt : kAltShift, Key{small});
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
    if (command.key != Key::none)
      lines.push_back({keys_of(command), std::string(command.help.empty() ? command.label : command.help)});
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
    const KeyHelp line{keys_help(keys), std::move(what)};
    if (std::ranges::count(lines, line) == 0) lines.push_back(line);
  };
  for (const View& view : views())
    for (const KeyCommand& command : view.commands)
      add(command.keys, std::string(view.title) + ": " + std::string(command.help));
  for (const View& view : views())
    for (const OptionSpec* option : view.options) add(option->keys, std::string(option->help));
  return lines;
}

}  // namespace headscope::app
