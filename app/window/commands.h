#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/event.h"
#include "app/window/window_picture.h"

namespace headscope::app {

/// A command of the window, available wherever the caret is. The keyboard, the More menu, the palette and the
/// list of keys (F1) are all built from these.
struct Command {
  enum Flags { kNone = 0, kBeginsGroup = 1, kRepeats = 2, kInDialogs = 4 };

  Key key = Key::none;
  Modifiers modifiers;
  std::string_view label;      ///< in the More menu; empty: not listed there
  std::string_view help = {};  ///< one line, for the list of keys; empty: the label says it
  /// Returns nothing while the command is unavailable.
  std::optional<Action> (*act)(const UiState&) = nullptr;
  /// A gap above it in the More menu; repeats while the key is held; also while a dialog is open.
  int flags = kNone;
  std::string_view unavailable = {};                ///< why `act` returned nothing, a sentence
  Menu opens = Menu::none;                          ///< instead of an action
  std::string (*object)(const UiState&) = nullptr;  ///< what it acts on now: "L5 H1 off"
};

std::span<const Command> commands();

/// The command with this label, to which buttons refer.
const Command& command(std::string_view label);

/// Opens the first other tab as a second view, or closes the second view.
Action toggle_second_view(const UiState& state);

/// "Export…"; "Undo: L5 H1 off" if it acts on something.
std::string label_of(const Command& command, const UiState& state);

/// "Ctrl+E", "Alt+Shift+→".
std::string keys_of(const Command& command);

/// The key of a view or an option, with Alt: "Alt+S", "Alt+Shift+S", "Alt+−".
std::string key_name(char key);

/// The words of a tooltip and the keys of a command.
std::string with_keys(std::string_view words, const Command& command);

/// The capitalized help of a view or an option, and one of its keys if it has so many.
std::string with_key(std::string_view help, std::string_view keys = {}, std::size_t which = 0);

/// One line of the list of keys, which covers commands, the toolkit and views.
struct KeyHelp {
  std::string keys;
  std::string what;
};
std::vector<KeyHelp> list_of_keys();

}  // namespace headscope::app
