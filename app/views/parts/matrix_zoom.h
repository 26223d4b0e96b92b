#pragma once
#include <utility>

#include "app/run/analyses/patterns.h"
#include "app/views/view.h"
#include "viz/charts/heatmap.h"

// How matrices are zoomed and panned.
namespace headscope::app {

/// The cells, (row, col), of the pressed region that the mouse crossed since the last gesture; for the first
/// gesture including the cell where it was pressed.
std::vector<std::pair<int, int>> dragged_cells(const Picture& picture, const viz::Hit& pressed,
                                               const Gesture& gesture);
/// The part of rows x cols that a zoom shows, as requested; all of it as the empty zoom.
Zoom part_of(Zoom zoom, int rows, int cols);

/// The zoom with explicit rows and columns: all of rows x cols for the empty zoom.
Zoom explicit_zoom(const Zoom& zoom, int rows, int cols);

/// A zoom for gestures: at least 4 rows and columns, inside rows x cols; all of it as the empty zoom.
Zoom inside(Zoom zoom, int rows, int cols);

/// The zoom after a drag, wheel or double click on a matrix's region; `options` may be newer than the
/// picture. Nothing for other gestures.
ViewActions zoom_gesture(const Option<Zoom>& option, const Options& options, const viz::Region& region,
                         const Gesture& gesture);

/// Zooms by `factor` (above 1: in) about a cell, which moves to the middle.
ViewActions zoom_about_cell(const Option<Zoom>& option, const Options& options, int rows, int cols,
                            double row, double col, double factor);

/// The zoom after a key: arrows move by an eighth of the shown part, Page Up and Down by all of it, Home and
/// End to the first and last columns. Nothing if all is shown.
ViewActions zoom_keys(const Option<Zoom>& option, const Options& options, int rows, int cols, Key key);

/// Scroll bars of all regions of a role, which share one zoom: at the picture's right edge, and at `bottom`
/// or else at its lower edge.
std::vector<Scroll> zoom_scrolls(const Option<Zoom>& option, const ViewContext& context,
                                 const Picture& picture, int role, std::optional<float> bottom = {});

/// Resets the zoom; nothing if all is shown.
ViewActions show_whole(const Option<Zoom>& option, const Options& options);
/// The same as a menu line.
void add_whole(std::vector<MenuLine>& menu, const char* label, const Option<Zoom>& option,
               const Options& options);

}  // namespace headscope::app
