#include "app/views/parts/attention_maps.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

const Option<Zoom> kZoom =
    gesture_option<Zoom>("zoom", "Zoom", "only queries R to R and keys C to C (ends excluded)", Zoom{}, 0, 0,
                         "all", {.of_prompt = true, .of_drawing = true});

const Option<DragAction> kDragAction = choice_option<DragAction>(
    "paint", "Mouse", "][",
    "what dragging over cells does: pan the picture, mask keys for queries, unmask them, "
    "or mark a shape",
    {{"off", "Pan", "Drag to pan when zoomed"},
     {"mask", "Mask", "Drag to mask keys for queries"},
     {"unmask", "Unmask", "Drag to unmask keys for queries, including later keys"},
     {"shape", "Mark", "Drag to mark cells; the Search view finds heads with that shape"}},
    {.kept = false, .of_weights = true, .pane_only = true, .advanced = true});

const Option<std::vector<int>> kShape = gesture_option(
    "shape-cells", "Shape", "cells of the shape to search for, as marked on a heatmap", std::vector<int>(), 0,
    head_number(kHeadNumbers - 1, kHeadNumbers - 1), "none", {.cells = true, .most = 256});

const Option<Heads> kOfHeads = choice_option<Heads>(
    "of", "Of", "oO", "whose attention: that of the chosen head, or of several heads in one map",
    {{"head", "Head", "The chosen head"},
     {"layer-mean", "Layer mean", "The mean of all heads of the chosen layer"},
     {"mean", "Mean", "The mean of all heads of the model"},
     {"layer-max", "Layer max", "In each cell the largest of all heads of the chosen layer"}},
    {.heads = true, .control = Control::list, .advanced = true});

std::string name_of_heads(const ViewContext& c) {
  const auto& [layer, head, query, key] = c.selection;
  const std::string of_layer = "L" + std::to_string(layer) + "'s heads";
  const std::string names[]{head_title(c, layer, head), "the mean of " + of_layer, "the mean of all heads",
                            "the largest of " + of_layer};
  return names[static_cast<std::size_t>(c.options[kOfHeads])];
}

void add_facts_of_heads(Table& table, const ViewContext& c) {
  const Heads heads = c.options[kOfHeads];
  if (heads == Heads::one) return add_head_facts(table, c);
  if (heads != Heads::mean) table.about("layer", c.selection.layer);
  table.about("heads", name_of_heads(c));
}

namespace {

constexpr double kKeyStep = 1.5;  // factor of "+" and "="
constexpr int kPage = 10;         // queries

constexpr float kLeastSide = 5, kMostCell = 6;                      // ems
constexpr float kLabelsLeft = 7, kLabelsAbove = 4, kScaleRoom = 6;  // ems, about

/// Above each of several maps: its title, and its scale.
float panel_heading(const viz::Style& style) {
  return style.line(style.font_size) + style.line(style.small()) + 2 * style.unit();
}

/// Whether the picture shows all tokens and nobody moves it.
bool is_still(const ViewContext& c) {
  return !c.in_pane && c.options[kZoom] == Zoom{};
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
  map.shown = part_of(c.options[kZoom], cells.matrix.rows, cells.matrix.cols);
  map.role = role;
  map.saves_width = c.printed;
  return map;
}

void paint_shape(viz::Scene& scene, const ViewContext& c, const viz::Region& region) {
  for (const int cell : c.options[kShape]) {
    const auto [query, key] = head_of_number(cell);
    if (query >= region.row_count || key >= region.col_count) continue;
    const viz::Rect rect = region.cell_rect(query, key);
    if (rect.w < 2 || rect.h < 2) continue;  // too small to frame
    if (region.rect.inset(-0.5F).encloses(rect))
      scene.add(viz::StrokeRect{rect.inset(0.5F), c.theme->accent, 2, 1});
  }
}

// ---- gestures and commands ----

/// The zoom of the run's queries and keys.
ZoomedMatrix zoomed(const ViewContext& c) {
  return {kZoom, c.options, c.run->run->length(), key_count(*c.run)};
}

ViewActions zoom_about_query(const ViewContext& c, int which) {
  if (!c.run) return {};
  const double row = c.selection.query + 0.5, col = has_own_keys(*c.run) ? row : key_count(*c.run) / 2.0;
  return {zoomed(c).about(row, col, which < 2 ? kKeyStep : 1 / kKeyStep)};
}

/// Scrolls to a query or a key (-1: none) that is out of sight.
void follow(ViewActions& actions, const ViewContext& c, int query, int key) {
  const Zoom now = zoomed(c).part();
  Zoom zoom = now;
  if (query >= 0) zoom.row = first_showing(query, zoom.row, zoom.rows);
  if (key >= 0) zoom.col = first_showing(key, zoom.col, zoom.cols);
  if (zoom != now) actions.emplace_back(zoomed(c).to(zoom));
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

/// Marks the cells that the mouse crossed, or masks or unmasks them.
ViewActions drag_over(const ViewContext& c, const Spot& pressed, const Gesture& gesture) {
  const std::vector<std::pair<int, int>> cells = dragged_cells(pressed, gesture);
  const DragAction action = c.options[kDragAction];
  if (cells.empty()) return {};
  if (action == DragAction::shape) return brush(c, cells, gesture.kind == Gesture::Kind::click);
  ViewActions actions;
  for (const auto& [query, key] : cells)
    if (can_edit(c))
      actions.emplace_back(
          SetVisibility{c.selection.layer, c.selection.head, query, key, action == DragAction::show});
  return actions;
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

void add_clearing(std::vector<MenuLine>& menu, const ViewContext& c) {
  if (!c.options[kShape].empty())
    menu.push_back({"Clear the marked shape", {SetOption{&kShape, std::vector<int>()}}});
}

std::vector<MenuLine> menu(const ViewContext& c) {
  std::vector<MenuLine> menu;
  if (!c.run) return menu;
  if (c.selection.key >= 0)
    add_cell_edits(menu, c, c.selection.layer, c.selection.head, c.selection.query, c.selection.key);
  add_clearing(menu, c);
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

View attention_matrix_view(View view) {
  view.commands = {{"+=-", "", "Zoom around the query", zoom_about_query},
                   {"0", "Fit", "Show the whole matrix",
                    [](const ViewContext& c, int) { return show_whole(kZoom, c.options); }}};
  view.menu = menu;
  view.refuse = refuse_zoom;
  view.shows_difference = true;
  view.caption = {true, true, true};
  return view;
}

Wish AttentionMaps::width(const ViewContext& c) const {
  if (maps_.size() == 1) return Box::width(c);
  return {(kLabelsLeft + 2 * kLeastSide) * c.font_size, 40 * c.font_size};
}

Wish AttentionMaps::height(const ViewContext& c, float width) const {
  const float em = c.font_size, ems = width / em;
  const auto cells = static_cast<float>(maps_.front().cells.matrix.rows);
  if (maps_.size() == 1) {
    const float around = (kLabelsAbove + 6) * em, scale = c.printed ? 0 : kScaleRoom;
    const float cell =
        std::max(0.F, ems - kLabelsLeft - scale) / static_cast<float>(maps_.front().cells.matrix.cols) * em;
    return {around, around + cells * std::min(cell, kMostCell * em), around + cells * cell};
  }
  const float own = panel_heading(style_of(c)) + em, labels = kLabelsAbove * em;
  constexpr float kInARow = 6;    // ems a map, whose scale is above it
  constexpr float kLarge = 0.8F;  // part of what is good, before a list below has more than a few rows
  const float most = std::max(kMostCell * cells, 14.F), in_a_row = (ems - kLabelsLeft) / 4;
  const auto height_of = [&](float rows, float side) {
    return labels + rows * (own + std::min(side, most) * em);
  };
  if (in_a_row >= kInARow && !is_on_paper(c)) {  // which is high
    const float row = height_of(1, in_a_row);
    return {height_of(1, kLeastSide), row, row, height_of(1, kLarge * in_a_row)};
  }
  const float side = (ems - kLabelsLeft) / 2, two = height_of(2, side);
  return {std::min(two, height_of(2, kLeastSide)), two, two, height_of(2, kLarge * side)};
}

/// In a row or in two, whichever makes them larger.
AttentionMaps::Panels AttentionMaps::panels_in(const ViewContext& c, viz::Rect area) const {
  const auto count = static_cast<int>(maps_.size());
  const Panels row = panels_in(c, area, count), two = panels_in(c, area, count / 2);
  return row.side > two.side ? row : two;
}

AttentionMaps::Panels AttentionMaps::panels_in(const ViewContext& c, viz::Rect area, int columns) const {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit();
  Panels p;
  p.across = columns, p.down = static_cast<int>(maps_.size()) / columns;
  p.gap = 3 * u, p.heading = panel_heading(style);
  const auto across = static_cast<float>(p.across), down = static_cast<float>(p.down);
  const float width = area.w - (across - 1) * p.gap;
  float height = area.h - down * (p.heading + 1) - (down - 1) * p.gap;
  const viz::AxisLabels rows = token_axis(c, "query", c.theme->query, c.selection.query);
  viz::AxisLabels cols = key_axis(c);
  cols.title.clear();
  const auto cells = static_cast<float>(rows.labels.size());
  p.side = std::min(width / across, height / down);
  for (int pass = 0; pass < 2; ++pass) {
    const float cell = std::max(1.F, p.side) / cells;
    p.left = viz::row_label_room(rows, cell, std::min(0.3F * width, kLabelsLeft * em), style);
    p.top = viz::column_label_room(cols, cell, std::min(0.3F * height, 6 * em), style);
    if (p.side * style.device_scale < cells && p.foot == 0)
      p.foot = style.line(style.small()) + u, height -= down * p.foot;
    p.lean = viz::lean_of(cols, p.top, style);
    p.side = std::floor(std::min((width - p.left.size - p.lean) / across, (height - p.top.size) / down));
  }
  return p;
}

bool AttentionMaps::place(const ViewContext& c, viz::Rect area) {
  area_ = area;
  if (maps_.size() == 1) return true;
  if (c.in_pane) area_.h -= kScrollBar * c.font_size;  // the bar is above what is under them
  return panels_in(c, area_).side >= 0.6F * kLeastSide * c.font_size;
}

void AttentionMaps::paint_panel(Picture& picture, const ViewContext& c, const Panels& p, int index) const {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.font_size);
  const AttentionMap& one = maps_[index];
  const int row = index / p.across, col = index % p.across;
  viz::Heatmap map = attention_map(c, one.cells, role_);
  map.id = one.id;
  map.show_scale = map.saves_width = map.centered = false;
  map.says_pooling = p.foot > 0;
  map.row_room = col == 0 ? p.left : viz::LabelRoom{};
  map.col_room = row == 0 ? p.top : viz::LabelRoom{};
  if (col > 0) map.rows = {};
  if (row > 0) map.cols = {};
  map.cols.title.clear();
  const auto part = [](int i) { return static_cast<float>(i); };
  const viz::Rect place{
      area_.x + part(col) * (p.side + p.gap) + (col > 0 ? p.left.size : 0),
      area_.y + part(row) * (p.heading + p.side + 1 + p.foot + p.gap) + (row > 0 ? p.top.size : 0),
      map.row_room->size + p.side + (row == 0 ? p.lean : 0),
      p.heading + map.col_room->size + p.side + 1 + p.foot};
  const float x = place.x + map.row_room->size, y = place.y + line / 2;
  viz::add_label(picture.scene, style, one.title, {x, y}, style.font_size, c.theme->text,
                 viz::FontStyle::medium, viz::Align::left, p.side);
  const float used = style.width(one.title, style.font_size, viz::FontStyle::medium) + 2 * u;
  const float room = p.side + (col + 1 < p.across ? p.gap - 2 * u : 0);  // up to the next map
  viz::add_whole_label(picture.scene, style, one.note, {x + used, y}, room - used, c.theme->text_muted);
  const viz::ColorScale& scale = one.cells.scale;
  const viz::Point below{x, place.y + line + style.line(style.small()) / 2};
  if (!viz::paint_color_scale_in(picture.scene, scale, "", std::nullopt, below, room, style))
    viz::add_whole_label(picture.scene, style, (scale.low < 0 ? "±" : "0 to ") + viz::number(scale.high, 3),
                         below, room, c.theme->text_muted);
  if (index == 0)
    viz::add_label(picture.scene, style, "key",
                   {place.x + p.left.size - 2 * u, place.y + p.heading + p.top.size / 2}, style.small(),
                   c.theme->key, viz::FontStyle::medium, viz::Align::right);
  const viz::Region grid =
      viz::paint_heatmap(picture, map, {place.x, place.y + p.heading, place.w, place.h - p.heading}, style);
  paint_shape(picture.scene, c, grid);
}

void AttentionMaps::paint(Picture& picture, const ViewContext& c) const {
  if (maps_.size() > 1) {
    const Panels panels = panels_in(c, area_);
    for (int i = 0; i < static_cast<int>(maps_.size()); ++i) paint_panel(picture, c, panels, i);
    return;
  }
  const AttentionMap& one = maps_.front();
  viz::Heatmap map = attention_map(c, one.cells, role_);
  map.id = one.id;
  map.scale_title = one.scale_title;
  map.least_scale_width = 4 * c.font_size;  // maps of other numbers do not move
  map.centered = !c.trimmed;
  if (c.in_pane || is_slide(c)) map.stretch = is_slide(c) ? 1.8F : 1.35F;  // the map takes the room there is
  const viz::Region grid = viz::paint_heatmap(picture, map, area_, style_of(c));
  paint_shape(picture.scene, c, grid);
}

void AttentionMaps::frame(viz::Scene& scene, const ViewContext& c, const Picture& picture,
                          const Ref& ref) const {
  if (ref.query < 0 || ref.key < 0) return;
  for (const viz::Region& region : picture.regions)
    if (region.role == role_)
      viz::paint_crosshair(scene, region, ref.query, ref.key, c.theme->query, c.theme->key, style_of(c));
}

void AttentionMaps::say(Facts& facts, const ViewContext& c, const viz::Region&, int row, int col) const {
  if (cell_facts) cell_facts(facts, row, col);
  add_clearing(facts.commands, c);
}

std::optional<ViewActions> AttentionMaps::on(const ViewContext& c, const Spot* at,
                                             const Gesture& gesture) const {
  if (gesture.kind == Gesture::Kind::key) return on_key(c, gesture);
  if (!at || at->region.role != role_) return std::nullopt;
  const bool is_click = gesture.kind == Gesture::Kind::click;
  if ((is_click || gesture.kind == Gesture::Kind::drag) && c.options[kDragAction] != DragAction::off)
    return drag_over(c, *at, gesture);
  if (!is_click) return zoomed(c).by(gesture, at->region.rect);
  const bool same = at->hit.row == c.selection.query;
  return ViewActions{SelectQuery{at->hit.row}, !may_see(c, at->hit.row, at->hit.col) ? SelectKey{}
                                               : same ? clicked_key(c, at->hit.col)
                                                      : SelectKey{at->hit.col}};
}

void AttentionMaps::add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c,
                                const Picture& picture) const {
  const float bottom = maps_.size() > 1 ? area_.bottom() : c.height - kScrollBar * c.font_size;
  std::ranges::move(zoom_scrolls(kZoom, c, picture, role_, bottom), std::back_inserter(scrolls));
}

std::string masked_words(const ViewContext& c, int query, int key) {
  if (c.differs()) return "masked in both runs, or no matching token in the baseline";
  return "masked: " + why_masked(query, key);
}

}  // namespace headscope::app
