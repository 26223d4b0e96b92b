#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/event.h"
#include "app/window/window_picture.h"

namespace headscope::app {

/// The commands that buttons and menus speak of, too.
enum class CommandId {
  other,
  export_view,
  examples,
  models,
  save_session_as,
  open,
  generate,
  start_token,
  all_edits_off,
  undo_edit,
  second_prompt,
  second_model,
  back,
  forward,
  two_views
};

/// What a key does wherever the caret is, as data: the keyboard, the menu of the window and the list of keys
/// (F1) come from it.
struct Command {
  CommandId id;
  Key key = Key::none;
  Modifiers modifiers;
  std::string_view label;                                  ///< in the menu; empty: it is not in it
  std::string_view help;                                   ///< one line, for the list of keys
  std::optional<Action> (*act)(const UiState&) = nullptr;  ///< nothing: it cannot be done now
  Menu opens = Menu::none;                                 ///< in place of an action
  bool repeats = false;                                    ///< again and again while the key is held
  bool in_dialogs = false;                                 ///< also while a dialog is open
};

std::span<const Command> commands();

const Command& command(CommandId id);
/// A tip's words with the command's keys.
std::string tip_words(std::string_view words, const Command& command);

/// A second view beside the first, the next one in the table, or away with it.
Action toggle_beside(const UiState& state);

/// "Ctrl+E", "Alt+Shift+→".
std::string keys_of(const Command& command);

/// How a key with Alt is written that a view or an option takes: "Alt+S", "Alt+Shift+S", "Alt+−".
std::string key_name(char key);

/// One line of the list of keys: the commands, what keys do where they are not, and those of the views.
struct KeyHelp {
  std::string keys;
  std::string what;
};
std::vector<KeyHelp> list_of_keys();

}  // namespace headscope::app
