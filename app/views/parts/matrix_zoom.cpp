#include "app/views/parts/matrix_zoom.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

std::vector<std::pair<int, int>> dragged_cells(const Spot& pressed, const Gesture& gesture) {
  constexpr float kPixels = 2;  // logical pixels: no cell that can be aimed at is narrower
  const int steps = 1 + static_cast<int>(std::hypot(gesture.by.x, gesture.by.y) / kPixels);
  std::vector<std::pair<int, int>> cells;
  // All cells between the previous position of the mouse and this one.
  for (int i = 0; i <= steps; ++i) {
    const float back = 1 - static_cast<float>(i) / static_cast<float>(steps);
    const auto hit = viz::hit_test(pressed.picture.regions,
                                   {gesture.at.x - back * gesture.by.x, gesture.at.y - back * gesture.by.y});
    if (!hit || hit->region != pressed.hit.region) continue;
    if (cells.empty() || cells.back() != std::pair(hit->row, hit->col))
      cells.emplace_back(hit->row, hit->col);
  }
  return cells;
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

Zoom inside(Zoom zoom, int rows, int cols) {
  constexpr double kMin = 4;  // shown rows and columns
  if (zoom.rows > 0) zoom.rows = std::max<double>(zoom.rows, std::min<double>(kMin, rows));
  if (zoom.cols > 0) zoom.cols = std::max<double>(zoom.cols, std::min<double>(kMin, cols));
  return part_of(zoom, rows, cols);
}

Zoom ZoomedMatrix::part() const {
  const Zoom part = part_of(options[option], rows, cols);
  return part == Zoom{} ? Zoom{0, 0, static_cast<double>(rows), static_cast<double>(cols)} : part;
}

SetOption ZoomedMatrix::about(double row, double col, double factor) const {
  const Zoom now = part();
  const double high = now.rows / factor, wide = now.cols / factor;
  return to({row - high / 2, col - wide / 2, high, wide});
}

ViewActions ZoomedMatrix::by(const Gesture& gesture, const viz::Rect& shown) const {
  constexpr double kStep = 1.2;  // zoom factor per step of the wheel
  if (shown.w <= 0 || shown.h <= 0) return {};
  if (gesture.kind == Gesture::Kind::double_click) return {SetOption{&option, Zoom{}}};
  Zoom zoom = part();
  const double row_height = shown.h / zoom.rows, col_width = shown.w / zoom.cols;
  if (gesture.kind == Gesture::Kind::drag) {
    zoom.row -= gesture.by.y / row_height;
    zoom.col -= gesture.by.x / col_width;
  } else if (gesture.kind == Gesture::Kind::wheel) {
    // The cell under the mouse stays there.
    const double down = double{gesture.at.y - shown.y} / row_height,
                 right = double{gesture.at.x - shown.x} / col_width;
    const double factor = std::pow(kStep, gesture.by.y);
    zoom.row += down - down / factor;
    zoom.col += right - right / factor;
    zoom.rows /= factor;
    zoom.cols /= factor;
  } else {
    return {};
  }
  return {to(zoom)};
}

std::vector<Scroll> zoom_scrolls(const Option<Zoom>& option, const ViewContext& c, const Picture& picture,
                                 int role, float bottom) {
  std::vector<Scroll> scrolls;
  const auto maps = Landmark{"", role}.find(c, picture);
  if (!maps) return scrolls;
  const viz::Region& region = *std::ranges::find(picture.regions, role, &viz::Region::role);
  const int rows = region.row_count, cols = region.col_count;
  const Zoom now = ZoomedMatrix{option, c.options, rows, cols}.part();
  const auto add = [&](bool sideways, viz::Rect along, double Zoom::*begin, double shown, double all) {
    if (shown >= all) return;
    scrolls.push_back({sideways, along, now.*begin, shown, all,
                       [&option, now, rows, cols, begin](double to) -> ViewActions {
                         Zoom zoom = now;
                         zoom.*begin = to;
                         return {SetOption{&option, inside(zoom, rows, cols)}};
                       },
                       true});
  };
  const float right = c.width - kScrollBar * c.font_size;
  add(false, {maps->x, maps->y, right - maps->x, maps->h}, &Zoom::row, now.rows, rows);
  add(true, {maps->x, maps->y, maps->w, bottom - maps->y}, &Zoom::col, now.cols, cols);
  return scrolls;
}

ViewActions show_whole(const Option<Zoom>& option, const Options& options) {
  if (options[option] == Zoom{}) return {};
  return {SetOption{&option, Zoom{}}};
}

}  // namespace headscope::app
