#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/event.h"
#include "app/window/window_picture.h"

namespace headscope::app {

/// The commands, in the order of their table.
enum class CommandId {
  export_view,
  copy_numbers,
  examples,
  models,
  save_session,
  save_session_as,
  sessions,
  open,
  generate,
  start_token,
  edits,
  all_edits_off,
  undo_edit,
  redo_edit,
  second_prompt,
  second_model,
  next_side,
  layer_above,
  layer_below,
  head_before,
  head_after,
  query_before,
  query_after,
  former_view,
  next_view,
  back,
  forward,
  tours,
  stop_before,
  next_stop,
  two_views,
  usual_panes,
  light_or_dark,
  larger_text,
  smaller_text,
  usual_text,
  menu,
  picture_menu,
  help,
  undo,
  redo,
  quit
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
