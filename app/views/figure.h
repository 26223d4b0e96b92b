#pragma once
#include <string>
#include <string_view>

#include "app/views/export.h"
#include "viz/players/players.h"

namespace headscope::app {

/// How a file with a picture is made.
struct Figure {
  bool window = false;  ///< of the whole window; else of a view
  int width = 1000;     ///< logical pixels, 1/96 inch on paper
  int height = 0;       ///< 0: as high as the view needs
  int rows = 0;         ///< maximum number of a list's rows; 0: as many as fit
  ExportOptions how = {.page = Page::trimmed};
  bool operator==(const Figure&) const = default;
};

/// What a command makes by itself: the size, scale and page of a target or of the whole window.
Figure figure_for(Target target, bool window = false);

constexpr int kShortestSide = 16;                      ///< of a figure, in logical pixels
constexpr int kLongestSide = viz::kLongestBitmapSide;  ///< limit for a PNG

/// Sets the size to a width, "900" or "3.3in", or a width and a height, "900x700", "84mm x 60mm" or
/// "6.5x4in", which may grow, "900x700+", or to "fit". A side without a unit has the other side's; units are
/// px (the default, whole numbers), in, cm, mm and pt; lengths are rounded to whole pixels. Returns false for
/// other text and for sides outside kShortestSide to kLongestSide.
bool set_size(Figure& figure, std::string_view text);
/// That text, in pixels.
std::string size_text(const Figure& figure);

}  // namespace headscope::app
