#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/event.h"
#include "app/window/window_picture.h"

// What the user can do: by keys, in menus, and in the command palette, where everything that can be done or
// shown is found by a few letters.
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
  std::string keys, what;
  bool operator==(const KeyHelp&) const = default;
};
std::vector<KeyHelp> list_of_keys();

/// What a key or typed text means.
struct Meaning {
  std::vector<Action> actions;
  bool to_toolkit = false;  ///< the event goes to Dear ImGui: it moves the focus or presses the focused item
};

/// The key with this label in the user's layout (UTF-8), so that Ctrl+Z is on the key labelled Z. If it has
/// no label in ASCII, as on Cyrillic or Greek layouts, returns the letter or digit of the US layout, whose
/// ASCII code is `us_key` (GLFW's key number), so that commands have keys on every layout; none: neither.
Key labelled_key(std::string_view label, int us_key);

/// The actions of a request in a field with this text.
std::vector<Action> meaning_of(EditorRequest request, Field field, const TextState& edit);

/// What an event means in the window as it was last drawn. Typed text goes to the field with the caret,
/// otherwise to the prompt, wherever the focus is; commands have Ctrl or Alt.
Meaning meaning_of(const Event& event, const UiState& state, const Snapshot& snapshot,
                   const WindowPicture& window, WidgetState& widgets, FieldMetrics& metrics);

struct PaletteEntry {
  std::string label;                    ///< "Logit lens", "Scale: Log", "L5 H5"
  std::string kind;                     ///< what kind of thing it is, "view"
  std::string keys = {};                ///< its shortcut, "Ctrl+E"
  std::string also = {};                ///< other words by which it is found
  std::vector<std::string> names = {};  ///< other names, found like the label
  std::vector<Action> acts = {};        ///< in order
  Menu opens = Menu::none;              ///< opens after the palette has closed
};

/// What the palette offers: the window's commands that are possible now and those of the shown views, all
/// views and values of their options, edits of the selected head, heads (also by the metrics in which they
/// are highest), tokens, examples, tours, pages of the guide, recent models and sessions.
std::vector<PaletteEntry> palette_entries(const UiState& state, const Snapshot& snapshot,
                                          const std::vector<PlacedPicture>& pictures);

/// Closes the palette, then performs an entry: adds its actions, and says which menu opens.
void perform(PaletteEntry entry, std::vector<Action>& actions, Menu& opens);

/// The entries that fit, the best ones first; all for no letters. What is typed is the whole label or a name
/// of an entry, its beginning, words that begin words of it in any order, first of its label, or in it. Pages
/// of the guide and entries of the glossary come after others that fit as well or nearly so.
std::vector<PaletteEntry> palette_matches(std::vector<PaletteEntry> entries, std::string_view letters);
/// The entries that fit what is typed. Kept in `widgets` until an action or a result may change them.
const std::vector<PaletteEntry>& found_entries(WidgetState& widgets, const UiState& state,
                                               const Snapshot& snapshot,
                                               const std::vector<PlacedPicture>& pictures);

}  // namespace headscope::app
