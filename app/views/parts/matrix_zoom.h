#pragma once
#include <algorithm>
#include <utility>

#include "app/views/content.h"

// How matrices are zoomed and panned.
namespace headscope::app {

/// The cells, (row, col), of the pressed region that the mouse crossed since the last gesture; for the first
/// gesture including the cell where it was pressed.
std::vector<std::pair<int, int>> dragged_cells(const Spot& pressed, const Gesture& gesture);
/// The first of `shown` cells, near `first`, such that `cell` is among them.
inline double first_showing(double cell, double first, double shown) {
  return std::clamp(first, std::min(cell, cell + 1 - shown), cell);
}
/// The part of rows x cols that a zoom shows, as requested; all of it as the empty zoom.
Zoom part_of(Zoom zoom, int rows, int cols);
/// A zoom for gestures: at least 4 rows and columns, inside rows x cols; all of it as the empty zoom.
Zoom inside(Zoom zoom, int rows, int cols);

/// A matrix whose shown part is an option; the options may be newer than its picture.
struct ZoomedMatrix {
  const Option<Zoom>& option;
  const Options& options;
  int rows = 0, cols = 0;

  /// The shown part, with explicit rows and columns.
  Zoom part() const;
  SetOption to(const Zoom& zoom) const { return {&option, inside(zoom, rows, cols)}; }
  /// Zooms by `factor` (above 1: in) about a cell, which moves to the middle.
  SetOption about(double row, double col, double factor) const;
  /// The zoom after a drag, wheel or double click on its region. Nothing for other gestures.
  ViewActions by(const Gesture& gesture, const viz::Rect& shown) const;
};

/// Scroll bars of all regions of a role, which share one zoom: at the picture's right edge, and at `bottom`.
std::vector<Scroll> zoom_scrolls(const Option<Zoom>& option, const ViewContext& context,
                                 const Picture& picture, int role, float bottom);
/// Resets the zoom; nothing if all is shown.
ViewActions show_whole(const Option<Zoom>& option, const Options& options);

}  // namespace headscope::app
