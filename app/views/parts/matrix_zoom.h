#pragma once
#include <utility>

#include "app/run/analyses/patterns.h"
#include "app/views/view.h"
#include "viz/charts/heatmap.h"

// Matrices: their axes, and how they are zoomed and panned, shared by all views that show one.
namespace headscope::app {

/// The shown part of a matrix of queries and keys. The gestures of an `attention_matrix_view` zoom it in
/// regions whose cells are (query, key).
extern const Option<Zoom> kZoom;
/// What dragging over cells does: pan, edit the mask, or mark the shape.
enum class DragAction { off, hide, show, shape };
extern const Option<DragAction> kDragAction;
/// The cells of the searched shape: their numbers are head_number(query, key).
extern const Option<std::vector<int>> kShape;
/// Frames the shape's cells in a matrix of queries and keys.
void paint_shape(viz::Scene& scene, const ViewContext& context, const viz::Region& region);
/// The cells, (row, col), of the pressed region that the mouse crossed since the last gesture; for the first
/// gesture including the cell where it was pressed.
std::vector<std::pair<int, int>> dragged_cells(const Picture& picture, const viz::Hit& pressed,
                                               const Gesture& gesture);
/// The heatmap of a matrix of queries and keys: axes, selection and zoom.
viz::Heatmap attention_map(const ViewContext& context, viz::HeatmapCells cells, int role);
/// The actions of a gesture on such a matrix: selecting, editing the mask, zooming.
ViewActions matrix_gesture(const ViewContext& context, const Picture& picture, const viz::Hit* hit,
                           const Gesture& gesture);
/// A view of such matrices, with their gestures, commands and menu.
View attention_matrix_view(View view);
/// Adds the commands that clear the shape and the zoom.
void add_whole_matrix(std::vector<MenuLine>& menu, const ViewContext& context);

/// The part of rows x cols that a zoom shows, as requested; all of it as the empty zoom.
Zoom part_of(Zoom zoom, int rows, int cols);

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

/// Labels of the run's tokens as an axis, the selected query emphasised where it is given.
viz::AxisLabels token_axis(const ViewContext& context, std::string_view title, viz::Color color,
                           int emphasised);
/// Labels of the keys' tokens, the selected key emphasised.
viz::AxisLabels key_axis(const ViewContext& context);
/// Layers or heads: the selected one has the colour of the selection, the title does not.
viz::AxisLabels selectable_axis(const ViewContext& context, std::span<const std::string> names,
                                std::string_view title, int selected);

}  // namespace headscope::app
