#include "app/views/parts/attention_maps.h"

#include "app/views/parts/parts.h"

namespace headscope::app {
namespace {

constexpr float kLeastSide = 5, kGoodSide = 9, kMostCell = 6;       // ems
constexpr float kLabelsLeft = 7, kLabelsAbove = 6, kScaleRoom = 6;  // ems, about

/// How many of several maps are side by side: all, half of them or one.
int maps_across(int count, float ems) {
  for (const int across : {count, count / 2})
    if (across > 0 && (ems - kLabelsLeft) / static_cast<float>(across) >= kGoodSide) return across;
  return 1;
}

/// Above each of several maps: its title, and its scale.
float panel_heading(const viz::Style& style) {
  return style.line(style.font_size) + style.line(style.small()) + 2 * style.unit();
}

}  // namespace

Wish AttentionMaps::height(const ViewContext& c, float width) const {
  const float em = c.font_size, ems = width / em;
  const auto cells = static_cast<float>(maps_.front().cells.matrix.rows);
  if (maps_.size() == 1) {
    const float around = (kLabelsAbove + 5) * em;
    const float cell = std::max(0.F, ems - kLabelsLeft - kScaleRoom) /
                       static_cast<float>(maps_.front().cells.matrix.cols) * em;
    return {around, around + cells * std::min(cell, kMostCell * em), around + cells * cell};
  }
  const int across = maps_across(static_cast<int>(maps_.size()), ems);
  const auto down = static_cast<float>(static_cast<int>(maps_.size()) / across);
  const float own = panel_heading(style_of(c)) + 1.5F * em, labels = kLabelsAbove * em;
  const float side = std::min((ems - kLabelsLeft) / static_cast<float>(across), kMostCell * cells) * em;
  const float good = labels + down * (own + side);
  return {std::min(good, labels + down * (own + kLeastSide * em)), good, good};
}

AttentionMaps::Panels AttentionMaps::panels_in(const ViewContext& c, viz::Rect area) const {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit();
  const auto count = static_cast<int>(maps_.size());
  Panels p;
  p.across = maps_across(count, area.w / em), p.down = count / p.across;
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
    p.top = viz::column_label_room(cols, cell, std::min(0.3F * height, kLabelsAbove * em), style);
    if (p.side * style.device_scale < cells && p.foot == 0)
      p.foot = style.line(style.small()) + u, height -= down * p.foot;
    p.side = std::floor(std::min((width - p.left.size) / across, (height - p.top.size) / down));
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
  map.show_scale = map.saves_width = map.centered = map.titles_in_corner = false;
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
      map.row_room->size + p.side, p.heading + map.col_room->size + p.side + 1 + p.foot};
  const float y = place.y + line / 2;
  viz::add_label(picture.scene, style, one.title, {place.x, y}, style.font_size, c.theme->text,
                 viz::FontStyle::medium, viz::Align::left, place.w);
  const float used = style.width(one.title, style.font_size, viz::FontStyle::medium) + 2 * u;
  viz::add_whole_label(picture.scene, style, one.note, {place.x + used, y}, place.w - used,
                       c.theme->text_muted);
  viz::paint_color_scale_in(picture.scene, one.cells.scale, "", std::nullopt,
                            {place.x, place.y + line + style.line(style.small()) / 2}, place.w, style);
  if (index == 0)
    viz::add_label(picture.scene, style, "key",
                   {place.x + p.left.size - 2 * u, place.y + p.heading + p.top.size / 2}, style.small(),
                   c.theme->key, viz::FontStyle::medium, viz::Align::right);
  const viz::Region grid =
      viz::paint_heatmap(picture, map, {place.x, place.y + p.heading, place.w, place.h - p.heading}, style);
  paint_shape(picture.scene, c, grid);
  if (painted) painted(picture, c, grid);
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
  const bool is_slide = c.printed && c.width > c.height;
  if (c.in_pane || is_slide) map.stretch = 1.35F;  // the map takes the room there is
  const viz::Region grid = viz::paint_heatmap(picture, map, area_, style_of(c));
  paint_shape(picture.scene, c, grid);
  if (painted) painted(picture, c, grid);
}

std::optional<Ref> AttentionMaps::ref_at(const Picture& picture, const viz::Hit& hit) const {
  const viz::Region& region = region_of(picture, hit);
  if (region.role != role_ || hit.row >= region.row_count || hit.col >= region.col_count) return std::nullopt;
  return Ref{.query = hit.row, .key = hit.col};
}

void AttentionMaps::frame(viz::Scene& scene, const ViewContext& c, const Picture& picture,
                          const Ref& ref) const {
  if (ref.query < 0 || ref.key < 0) return;
  for (const viz::Region& region : picture.regions)
    if (region.role == role_)
      viz::paint_crosshair(scene, region, ref.query, ref.key, c.theme->query, c.theme->key, style_of(c));
}

void AttentionMaps::add_facts(Facts& facts, const ViewContext& c, const Picture& picture,
                              const viz::Hit& hit) const {
  if (!ref_at(picture, hit)) return;
  if (cell_facts) cell_facts(facts, hit.row, hit.col);
  add_whole_matrix(facts.commands, c);
}

std::optional<ViewActions> AttentionMaps::on(const ViewContext& c, const Picture& picture,
                                             const viz::Hit* hit, const Gesture& gesture) const {
  if (gesture.kind != Gesture::Kind::key && (!hit || region_of(picture, *hit).role != role_))
    return std::nullopt;
  return matrix_gesture(c, picture, hit, gesture);
}

void AttentionMaps::add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c,
                                const Picture& picture) const {
  const float bottom = maps_.size() > 1 ? area_.bottom() : c.height - kScrollBar * c.font_size;
  std::ranges::move(zoom_scrolls(kZoom, c, picture, role_, bottom), std::back_inserter(scrolls));
}

std::string masked_words(const ViewContext& c, int query, int key) {
  if (c.side == Side::difference) return "masked on both sides, or a token without counterpart";
  return "masked: " + why_masked(query, key);
}

}  // namespace headscope::app
