#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/window/window_picture.h"

// The command palette: everything that can be done or shown, found by a few letters.
namespace headscope::app {

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
