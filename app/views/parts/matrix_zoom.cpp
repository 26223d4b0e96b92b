#include "app/views/parts/matrix_zoom.h"

#include <cstdlib>

#include "app/views/parts/parts.h"

namespace headscope::app {

namespace {

constexpr double kStep = 1.2;                       // zoom factor per step of the wheel
constexpr double kKeyStep[] = {1.5, 1.5, 1 / 1.5};  // factors for "+=-"
constexpr double kMin = 4;                          // minimum of shown rows and columns
constexpr int kPage = 10;                           // queries

ViewActions zoom_about_query(const ViewContext& c, int which) {
  if (!c.run) return {};
  const int keys = key_count(*c.run);
  const double row = c.selection.query + 0.5, col = has_own_keys(*c.run) ? row : keys / 2.0;
  return zoom_about_cell(kZoom, c.options, c.run->run->length(), keys, row, col, kKeyStep[which]);
}

/// The zoom with explicit rows and columns: all of rows x cols for the empty zoom.
Zoom explicit_zoom(const Zoom& zoom, int rows, int cols) {
  const Zoom part = part_of(zoom, rows, cols);
  return part == Zoom{} ? Zoom{0, 0, static_cast<double>(rows), static_cast<double>(cols)} : part;
}

/// The first of `shown` such that `cell` is among them.
double first_showing(double cell, double first, double shown) {
  return std::clamp(first, std::min(cell, cell + 1 - shown), cell);
}

/// Scrolls to a query or a key (-1: none) that is out of sight.
void follow(ViewActions& actions, const ViewContext& c, int query, int key) {
  const int length = c.run->run->length(), keys = key_count(*c.run);
  const Zoom now = explicit_zoom(c.options[kZoom], length, keys);
  Zoom zoom = now;
  if (query >= 0) zoom.row = first_showing(query, zoom.row, zoom.rows);
  if (key >= 0) zoom.col = first_showing(key, zoom.col, zoom.cols);
  if (zoom != now) actions.emplace_back(SetOption{&kZoom, inside(zoom, length, keys)});
}

ViewActions paint_mask(const ViewContext& c, std::span<const std::pair<int, int>> cells) {
  if (!can_edit(c)) return {};
  ViewActions actions;
  for (const auto& [query, key] : cells)
    actions.emplace_back(SetVisibility{c.selection.layer, c.selection.head, query, key,
                                       c.options[kDragAction] == DragAction::show});
  return actions;
}

/// Whether two cells share a side, or a corner.
bool are_adjacent(int a, int b, bool corner) {
  const auto [row, col] = head_of_number(a);
  const auto [other_row, other_col] = head_of_number(b);
  const int rows = std::abs(row - other_row), cols = std::abs(col - other_col);
  return corner ? rows == 1 && cols == 1 : rows + cols == 1;
}

/// A click on a cell of the shape removes it; dragging adds cells that the query sees, up to the maximum. A
/// drag along a diagonal touches neighbours accidentally: such corners are left out.
ViewActions brush(const ViewContext& c, std::span<const std::pair<int, int>> cells, bool click) {
  std::vector<int> shape = c.options[kShape];
  for (const auto& [query, key] : cells) {
    if (query >= kHeadNumbers || key >= kHeadNumbers || !may_see(c, query, key)) continue;
    const int cell = head_number(query, key);
    const bool has = std::ranges::find(shape, cell) != shape.end();
    if (has && click) std::erase(shape, cell);
    if (has || shape.size() >= kShape.most) continue;
    const std::size_t n = shape.size();
    if (!click && n >= 2 && are_adjacent(shape[n - 2], shape[n - 1], false) &&
        are_adjacent(shape[n - 1], cell, false) && are_adjacent(shape[n - 2], cell, true))
      shape.pop_back();
    shape.push_back(cell);
  }
  return {SetOption{&kShape, std::move(shape)}};
}

ViewActions paint(const ViewContext& c, const Picture& picture, const viz::Hit& pressed,
                  const Gesture& gesture) {
  std::vector<std::pair<int, int>> cells = dragged_cells(picture, pressed, gesture);
  const int length = c.run ? c.run->run->length() : 0, keys = c.run ? key_count(*c.run) : 0;
  std::erase_if(cells, [&](const auto& cell) { return cell.first >= length || cell.second >= keys; });
  if (cells.empty()) return {};
  return c.options[kDragAction] == DragAction::shape ? brush(c, cells, gesture.kind == Gesture::Kind::click)
                                                     : paint_mask(c, cells);
}

ViewActions on_key(const ViewContext& c, const Gesture& gesture) {
  if (!c.run) return {};
  const int last = c.run->run->length() - 1;
  const auto query = [&](ViewAction action, int to) {
    ViewActions actions{std::move(action)};
    follow(actions, c, std::clamp(to, 0, last), -1);
    return actions;
  };
  const auto move = [&](int by) { return query(MoveQuery{by}, c.selection.query + by); };
  const auto sideways = [&](int by) -> ViewActions {
    if (!gesture.modifiers.shift) return {MoveHead{0, by}};
    ViewActions actions = move_key(c, by);
    follow(actions, c, -1, std::get<SelectKey>(actions.front()).position);
    return actions;
  };
  if (gesture.key == Key::up) return move(-1);
  if (gesture.key == Key::down) return move(1);
  if (gesture.key == Key::page_up) return move(-kPage);
  if (gesture.key == Key::page_down) return move(kPage);
  if (gesture.key == Key::home) return query(SelectQuery{0}, 0);
  if (gesture.key == Key::end) return query(SelectQuery{-1}, last);
  if (gesture.key == Key::left) return sideways(-1);
  if (gesture.key == Key::right) return sideways(1);
  return {};
}

std::vector<MenuLine> menu(const ViewContext& c) {
  std::vector<MenuLine> menu;
  if (!c.run) return menu;
  if (c.selection.key >= 0)
    add_cell_edits(menu, c, c.selection.layer, c.selection.head, c.selection.query, c.selection.key);
  add_whole_matrix(menu, c);
  return menu;
}

/// Why a part of the run's queries and keys cannot be shown; empty: it can.
std::string refuse_zoom(const ViewContext& c) {
  const Zoom zoom = c.options[kZoom];
  const int queries = c.run->run->length(), keys = key_count(*c.run);
  if (zoom.row + zoom.rows <= queries && zoom.col + zoom.cols <= keys) return "";
  const std::string count = std::to_string(queries);
  return "--" + std::string(kZoom.name) + " " + to_text(kZoom, zoom) + " reaches beyond the " +
         (queries != keys ? count + " queries and " + std::to_string(keys) + " keys"
                          : "prompt's " + count + " tokens");
}

}  // namespace

const Option<Zoom> kZoom =
    gesture_option<Zoom>("zoom", "Zoom", "only queries R to R and keys C to C (ends excluded)", Zoom{}, 0, 0,
                         "all", {.phrase = "queries {}, keys {}", .of_prompt = true});

const Option<DragAction> kDragAction = choice_option<DragAction>(
    "paint", "Mouse", "][",
    "what dragging over cells does: pan the picture, mask keys for queries, unmask them, "
    "or mark a shape",
    {{"off", "Pan", "Drag to pan when zoomed"},
     {"mask", "Mask", "Drag to mask keys for queries"},
     {"unmask", "Unmask", "Drag to unmask keys for queries, including later keys"},
     {"shape", "Mark", "Drag to mark cells; the Search view finds heads with that shape"}},
    {.kept = false, .of_weights = true, .pane_only = true});

const Option<std::vector<int>> kShape =
    gesture_option("shape-cells", "Shape", "cells of the shape to search for, as marked on a heatmap",
                   std::vector<int>(), 0, head_number(kHeadNumbers - 1, kHeadNumbers - 1), "none",
                   {.phrase = "{marked cell}", .cells = true, .most = 256});

void paint_shape(viz::Scene& scene, const ViewContext& c, const viz::Region& region) {
  const std::vector<int> shape = c.options[kShape];
  for (const int cell : shape) {
    const auto [query, key] = head_of_number(cell);
    if (query >= region.row_count || key >= region.col_count) continue;
    const viz::Rect rect = region.cell_rect(query, key);
    if (rect.w < 2 || rect.h < 2) continue;  // too small to frame
    if (rect.x < region.rect.x - 0.5F || rect.y < region.rect.y - 0.5F ||
        rect.right() > region.rect.right() + 0.5F || rect.bottom() > region.rect.bottom() + 0.5F)
      continue;
    scene.add(viz::StrokeRect{rect.inset(0.5F), c.theme->accent, 2, 1});
  }
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

void add_whole_matrix(std::vector<MenuLine>& menu, const ViewContext& c) {
  if (!c.options[kShape].empty())
    menu.push_back({"Clear the marked shape", {SetOption{&kShape, std::vector<int>()}}});
  add_whole(menu, "Show the whole matrix", kZoom, c.options);
}

viz::Heatmap attention_map(const ViewContext& c, viz::HeatmapCells cells, int role) {
  viz::Heatmap map;
  map.cells = cells;
  map.outside_text = "key 0";
  map.rows = token_axis(c, "query", c.theme->query, c.selection.query);
  map.cols = key_axis(c);
  map.framed_row = c.selection.query;
  map.frame = c.theme->query;
  map.framed_col = c.selection.key;
  map.cell_frame = c.theme->key;
  const Zoom zoom = part_of(c.options[kZoom], cells.matrix.rows, cells.matrix.cols);
  map.shown = {zoom.row, zoom.col, zoom.rows, zoom.cols};
  map.role = role;
  map.saves_width = c.printed;
  map.titles_in_corner = c.printed && is_column_wide(c);
  return map;
}

ViewActions matrix_gesture(const ViewContext& c, const Picture& picture, const viz::Hit* hit,
                           const Gesture& gesture) {
  if (gesture.kind == Gesture::Kind::key) return on_key(c, gesture);
  if (!hit) return {};
  const bool pulls = gesture.kind == Gesture::Kind::drag || gesture.kind == Gesture::Kind::click;
  if (pulls && c.options[kDragAction] != DragAction::off) return paint(c, picture, *hit, gesture);
  if (gesture.kind == Gesture::Kind::click) {
    if (!may_see(c, hit->row, hit->col)) return {SelectQuery{hit->row}, SelectKey{}};
    if (hit->row != c.selection.query) return {SelectQuery{hit->row}, SelectKey{hit->col}};
    return {SelectQuery{hit->row}, clicked_key(c, hit->col)};
  }
  return zoom_gesture(kZoom, c.options, region_of(picture, *hit), gesture);
}

View attention_matrix_view(View view) {
  view.commands = {
      {"+=-", "", "Zoom around the query", zoom_about_query},
      {"0", "Fit", "Show the whole matrix",
       [](const ViewContext& c, int) { return show_whole(kZoom, c.options); }, "The whole matrix is shown."}};
  view.menu = menu;
  view.refuse = refuse_zoom;
  view.shows_difference = true;
  view.caption = {true, true, true};
  return view;
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

/// Whether the picture shows all tokens and nobody moves it.
static bool is_still(const ViewContext& c) {
  return !c.in_pane && c.options[kZoom] == Zoom{};
}

viz::AxisLabels token_axis(const ViewContext& c, std::string_view title, viz::Color color, int emphasised) {
  return {.labels = std::span(c.run->tokens.labels).first(c.run->run->length()),
          .title = std::string(title),
          .color = color,
          .emphasised = emphasised,
          .is_still = is_still(c)};
}

viz::AxisLabels key_axis(const ViewContext& c) {
  return {.labels = std::span(key_tokens(*c.run).labels).first(key_count(*c.run)),
          .title = "key",
          .color = c.theme->key,
          .emphasised = c.selection.key,
          .is_still = is_still(c)};
}

viz::AxisLabels selectable_axis(const ViewContext& c, std::span<const std::string> names,
                                std::string_view title, int selected) {
  return {.labels = names,
          .title = std::string(title),
          .color = c.theme->accent,
          .emphasised = selected,
          .title_color = c.theme->text_muted,
          .numbered = true};
}

}  // namespace headscope::app
