#include "app/views/parts/matrix_zoom.h"

#include <cstdlib>

#include "app/views/parts/parts.h"

namespace headscope::app {

namespace {

constexpr double kStep = 1.2;  // zoom factor per step of the wheel
constexpr double kMin = 4;     // minimum of shown rows and columns

}  // namespace

Zoom explicit_zoom(const Zoom& zoom, int rows, int cols) {
  const Zoom part = part_of(zoom, rows, cols);
  return part == Zoom{} ? Zoom{0, 0, static_cast<double>(rows), static_cast<double>(cols)} : part;
}

std::vector<std::pair<int, int>> dragged_cells(const Picture& picture, const viz::Hit& pressed,
                                               const Gesture& gesture) {
  constexpr float kPixels = 2;  // logical pixels: no cell that can be aimed at is narrower
  const int steps = 1 + static_cast<int>(std::hypot(gesture.by.x, gesture.by.y) / kPixels);
  std::vector<std::pair<int, int>> cells;
  // All cells between the previous position of the mouse and this one.
  for (int i = 0; i <= steps; ++i) {
    const float back = 1 - static_cast<float>(i) / static_cast<float>(steps);
    const auto hit = viz::hit_test(picture.regions,
                                   {gesture.at.x - back * gesture.by.x, gesture.at.y - back * gesture.by.y});
    if (!hit || hit->region != pressed.region) continue;
    if (cells.empty() || cells.back() != std::pair(hit->row, hit->col))
      cells.emplace_back(hit->row, hit->col);
  }
  return cells;
}

void add_whole(std::vector<MenuLine>& menu, const char* label, const Option<Zoom>& option,
               const Options& options) {
  if (ViewActions whole = show_whole(option, options); !whole.empty())
    menu.push_back({label, std::move(whole)});
}

Zoom inside(Zoom zoom, int rows, int cols) {
  const auto widen = [](double& shown, double count) {
    if (shown > 0) shown = std::max(shown, std::min(kMin, count));
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

ViewActions zoom_gesture(const Option<Zoom>& option, const Options& options, const viz::Region& region,
                         const Gesture& gesture) {
  if (region.rect.w <= 0 || region.rect.h <= 0) return {};
  if (gesture.kind == Gesture::Kind::double_click) return {SetOption{&option, Zoom{}}};
  Zoom zoom = explicit_zoom(options[option], region.row_count, region.col_count);
  const double row_height = region.rect.h / zoom.rows, col_width = region.rect.w / zoom.cols;
  if (gesture.kind == Gesture::Kind::drag) {
    zoom.row -= gesture.by.y / row_height;
    zoom.col -= gesture.by.x / col_width;
  } else if (gesture.kind == Gesture::Kind::wheel) {
    // The cell under the mouse stays there.
    const double down = double{gesture.at.y - region.rect.y} / row_height,
                 right = double{gesture.at.x - region.rect.x} / col_width;
    const double factor = std::pow(kStep, gesture.by.y);
    zoom.row += down - down / factor;
    zoom.col += right - right / factor;
    zoom.rows /= factor;
    zoom.cols /= factor;
  } else {
    return {};
  }
  return {SetOption{&option, inside(zoom, region.row_count, region.col_count)}};
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

ViewActions zoom_keys(const Option<Zoom>& option, const Options& options, int rows, int cols, Key key) {
  const Zoom now = explicit_zoom(options[option], rows, cols);
  Zoom zoom = now;
  if (key == Key::up) zoom.row -= zoom.rows / 8;
  if (key == Key::down) zoom.row += zoom.rows / 8;
  if (key == Key::page_up) zoom.row -= zoom.rows;
  if (key == Key::page_down) zoom.row += zoom.rows;
  if (key == Key::left) zoom.col -= zoom.cols / 8;
  if (key == Key::right) zoom.col += zoom.cols / 8;
  if (key == Key::home) zoom.col = 0;
  if (key == Key::end) zoom.col = cols;
  if (zoom == now) return {};
  zoom = inside(zoom, rows, cols);
  if (zoom == now || zoom == Zoom{}) return {};
  return {SetOption{&option, zoom}};
}

std::vector<Scroll> zoom_scrolls(const Option<Zoom>& option, const ViewContext& c, const Picture& picture,
                                 int role, std::optional<float> bottom) {
  const viz::Region* first = nullptr;
  viz::Rect maps;
  for (const viz::Region& region : picture.regions) {
    if (region.role != role) continue;
    const viz::Rect& r = region.rect;
    if (!first) maps = r;
    first = &region;
    const float x = std::min(maps.x, r.x), y = std::min(maps.y, r.y);
    maps = {x, y, std::max(maps.right(), r.right()) - x, std::max(maps.bottom(), r.bottom()) - y};
  }
  std::vector<Scroll> scrolls;
  if (!first) return scrolls;
  const int rows = first->row_count, cols = first->col_count;
  const Zoom now = explicit_zoom(c.options[option], rows, cols);
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
  const float bar = kScrollBar * c.font_size;
  add(false, {maps.x, maps.y, c.width - bar - maps.x, maps.h}, &Zoom::row, now.rows, rows);
  add(true, {maps.x, maps.y, maps.w, bottom.value_or(c.height - bar) - maps.y}, &Zoom::col, now.cols, cols);
  return scrolls;
}

ViewActions show_whole(const Option<Zoom>& option, const Options& options) {
  if (options[option] == Zoom{}) return {};
  return {SetOption{&option, Zoom{}}};
}

}  // namespace headscope::app
