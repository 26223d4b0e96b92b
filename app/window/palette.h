#pragma once
#include <optional>
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

/// How well the letters fit a text, in which they must occur in this order, ignoring case and spaces; more is
/// better: the whole text, then its beginning, then letters at the beginnings of words, next to each other,
/// in short texts. Nothing: they do not occur.
std::optional<int> palette_score(std::string_view letters, std::string_view text);

/// Closes the palette, then performs an entry: adds its actions, and says which menu opens.
void perform(PaletteEntry entry, std::vector<Action>& actions, Menu& opens);

/// The entries that fit, the best ones first; all for no letters.
std::vector<PaletteEntry> palette_matches(std::vector<PaletteEntry> entries, std::string_view letters);

}  // namespace headscope::app
