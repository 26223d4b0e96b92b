#include "app/views/matrix_zoom.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {
namespace {

constexpr double kStep = 1.2;                       // closer for a step of the wheel
constexpr double kKeyStep[] = {1.5, 1.5, 1 / 1.5};  // of "+=-"
constexpr double kLeast = 4;                        // rows and columns that are shown

ViewActions set(const Option<Zoom>& option, const Zoom& zoom, const viz::Region& region) {
  return {SetOption{&option, inside(zoom, region.row_count, region.col_count)}};
}

ViewActions zoom_about_query(const ViewContext& c, int which) {
  if (!c.run) return {};
  const int length = c.run->run->length();
  const double middle = c.selection.query + 0.5;
  return zoom_about_cell(kZoom, c.options, length, length, middle, middle, kKeyStep[which]);
}

}  // namespace

const Option<Zoom> kZoom{{.name = "zoom",
                          .label = "Zoom",
                          .help = "only queries R to R and keys C to C (the ends not included)",
                          .usual = Zoom{},
                          .usual_name = "all",
                          .kept = false,
                          .of_prompt = true,
                          .control = Control::none}};

std::vector<KeyCommand> attention_matrix_commands() {
  return {{"+=-", "", "Zoom about the query", zoom_about_query},
          {"0", "Whole", "Show the whole matrix again",
           [](const ViewContext& c, int) { return show_whole(kZoom, c.options); }}};
}

ViewActions on_attention_matrix(const ViewContext& c, const Picture& picture, const viz::Hit* hit,
                                const Gesture& gesture) {
  if (!hit) return {};
  if (gesture.kind == Gesture::Kind::click) return {SelectQuery{hit->row}};
  return zoom_gesture(kZoom, c.options, picture.regions[static_cast<std::size_t>(hit->region)], gesture);
}

std::string refuse_zoom(const ViewContext& c) {
  const Zoom zoom = c.options[kZoom];
  const double length = c.run->run->length();
  if (zoom.row + zoom.rows <= length && zoom.col + zoom.cols <= length) return "";
  return "--" + std::string(kZoom.name) + " " + to_text(kZoom, zoom) + " reaches beyond the prompt's " +
         std::to_string(c.run->run->length()) + " tokens";
}

Zoom inside(Zoom zoom, int rows, int cols) {
  const auto widen = [](double& shown, double count) {
    if (shown > 0) shown = std::max(shown, std::min(kLeast, count));
  };
  widen(zoom.rows, rows);
  widen(zoom.cols, cols);
  return part_of(zoom, rows, cols);
}

Zoom part_of(Zoom zoom, int rows, int cols) {
  const auto keep = [](double& first, double& shown, double count) {
    if (!(shown > 0 && shown < count)) shown = count;
    first = std::isfinite(first) ? std::clamp(first, 0.0, count - shown) : 0;
  };
  keep(zoom.row, zoom.rows, rows);
  keep(zoom.col, zoom.cols, cols);
  return zoom.rows >= rows && zoom.cols >= cols ? Zoom{} : zoom;
}

viz::ShownCells shown_cells(const Zoom& zoom) {
  return {zoom.row, zoom.col, zoom.rows, zoom.cols};
}

ViewActions zoom_gesture(const Option<Zoom>& option, const Options& options, const viz::Region& region,
                         const Gesture& gesture) {
  if (region.rect.w <= 0 || region.rect.h <= 0) return {};
  Zoom zoom = part_of(options[option], region.row_count, region.col_count);
  if (zoom == Zoom{})
    zoom = {0, 0, static_cast<double>(region.row_count), static_cast<double>(region.col_count)};
  const double row_height = static_cast<double>(region.rect.h) / zoom.rows,
               col_width = static_cast<double>(region.rect.w) / zoom.cols;
  switch (gesture.kind) {
    case Gesture::Kind::click:
    case Gesture::Kind::key:
      return {};
    case Gesture::Kind::double_click:
      return {SetOption{&option, Zoom{}}};
    case Gesture::Kind::drag:
      zoom.row -= static_cast<double>(gesture.by.y) / row_height;
      zoom.col -= static_cast<double>(gesture.by.x) / col_width;
      return set(option, zoom, region);
    case Gesture::Kind::wheel: {
      // The cell under the mouse stays there.
      const double down = static_cast<double>(gesture.at.y - region.rect.y) / row_height,
                   right = static_cast<double>(gesture.at.x - region.rect.x) / col_width;
      const double factor = std::pow(kStep, static_cast<double>(gesture.by.y));
      zoom.row += down - down / factor;
      zoom.col += right - right / factor;
      zoom.rows /= factor;
      zoom.cols /= factor;
      return set(option, zoom, region);
    }
  }
  return {};
}

ViewActions zoom_about_cell(const Option<Zoom>& option, const Options& options, int rows, int cols,
                            double row, double col, double factor) {
  const Zoom now = options[option];
  Zoom zoom;
  zoom.rows = (now.rows > 0 ? now.rows : rows) / factor;
  zoom.cols = (now.cols > 0 ? now.cols : cols) / factor;
  zoom.row = row - zoom.rows / 2;
  zoom.col = col - zoom.cols / 2;
  return {SetOption{&option, inside(zoom, rows, cols)}};
}

ViewActions show_whole(const Option<Zoom>& option, const Options& options) {
  if (options[option] == Zoom{}) return {};
  return {SetOption{&option, Zoom{}}};
}

}  // namespace headscope::app
