#include "app/views/parts/encoding_panels.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "viz/charts/curves.h"

namespace headscope::app {
namespace {

constexpr const char* kColumn = "position";  // what a column is
constexpr float kLeast = 3.5F;               // ems, the smaller side of a map

/// The names of curves, after what they are: "value of dim.". In as many lines as needed; returns their
/// height.
float paint_names(viz::Scene& scene, const std::string& title, std::span<const int> curves, viz::Rect area,
                  const viz::Style& style) {
  const float line = style.line(style.small()), gap = 2 * style.unit();
  viz::Point at{area.x, area.y + line / 2};
  viz::add_muted(scene, style, title, at);
  at.x += style.width(title, style.small()) + gap;
  viz::CurveChart one;
  for (int i = 0; i < std::ssize(curves); ++i) {
    one.curves = {{{}, std::to_string(curves[i]), viz::categorical(style.theme, i), i}};
    const float width = viz::curve_labels_width(one, style);
    if (at.x + width - gap > area.right()) at = {area.x, at.y + line};
    viz::paint_curve_names(scene, one, at, style);
    at.x += width;
  }
  return at.y + line / 2 - area.y;
}

/// Height of the numbers and the scale under a map.
float height_beneath(const viz::Style& style) {
  return viz::column_numbers_height(style) + style.unit() + style.line(style.small());
}

}  // namespace

std::string sinusoid_formula(int d_model) {
  const std::string d = std::to_string(d_model);
  const std::string period = "10000" + viz::superscript("2i/" + d);
  return "PE(p, 2i) = sin(p / " + period + "), PE(p, 2i+1) = cos(p / " + period + ")";
}

std::string position_words(const ViewContext& c, int position) {
  return "position " +
         (position < c.run->run->length() ? token_name(c.run->tokens, position) : std::to_string(position));
}

std::string refuse_numbers(const ViewContext& c, const Option<std::vector<int>>& option,
                           const std::string& what, int count) {
  for (const int n : c.options[option]) {
    if (n >= count)
      return "there is no " + what + " " + std::to_string(n) + ": the model has 0 to " +
             std::to_string(count - 1) + "; see --" + std::string(option.name);
  }
  return "";
}

float paint_encoding_head(viz::Picture& picture, int encoding, const std::string& note,
                          const std::string& formula, viz::Rect area, const viz::Style& style) {
  float y = area.y;
  const auto say = [&](const std::string& text, float size, viz::FontStyle face, viz::Color color) {
    for (const std::string& words : viz::wrap(style, text, size, face, area.w)) {
      viz::add_label(picture.scene, style, words, {area.x, y + style.line(size) / 2}, size, color, face);
      y += style.line(size);
    }
  };
  say(encoding == kLearned ? "Learned by this model" : "Sinusoids (Vaswani et al. 2017)", style.font_size,
      viz::FontStyle::medium, style.theme.text);
  say(note, style.small(), viz::FontStyle::regular, style.theme.text_muted);
  if (!formula.empty() && style.width(formula, style.small()) <= area.w)
    say(formula, style.small(), viz::FontStyle::regular, style.theme.text);
  return y - area.y;
}

Wish EncodingPanels::width(const ViewContext& c) const {
  return {10 * c.font_size, 60 * c.font_size};
}

Wish EncodingPanels::height(const ViewContext& c, float width) const {
  constexpr float kLeastBeside = 14, kHigh = 1.1F;  // ems; height of curves and map by their width
  constexpr float kEnough = 1e4F;
  const auto good = [&](bool beside) {
    const Layout one = arranged(c, {0, 0, width, kEnough}, beside)[kSinusoidal];
    const float panel = one.head + one.names + kHigh * one.curves.w + height_beneath(style_of(c));
    return std::pair(one.curves.w, beside ? panel : 2 * panel + 5 * style_of(c).unit());
  };
  const auto [plot, side_by_side] = good(true);
  const Layout least = arranged(c, {0, 0, width, 0}, true)[kSinusoidal];
  return {least.head + height_beneath(style_of(c)) + kLeast * c.font_size,
          plot >= kLeastBeside * c.font_size ? side_by_side : good(false).second};
}

EncodingPanels::Layout EncodingPanels::layout(const ViewContext& c, viz::Rect area, int encoding) const {
  constexpr float kLeastWithCurves = 10;  // ems
  const viz::Style style = style_of(c);
  const viz::Matrix& values = panels[encoding].cells.matrix;
  const float u = style.unit(), line = style.line(style.small());
  Layout made;
  made.area = area;
  viz::Picture scratch;
  for (int other = 0; other < std::ssize(panels); ++other)  // the higher one, so that the plots are aligned
    made.head = std::max(made.head, paint_encoding_head(scratch, other, panels[other].note,
                                                        panels[other].formula, area, style));
  made.names = paint_names(scratch.scene, curves_title, curves, area, style) + line + u;
  const float room = area.h - made.head - u - height_beneath(style);
  if (room - made.names < kLeastWithCurves * style.font_size) made.names = 0;
  const float left =
      std::max(viz::row_numbers_width(values.rows, style), style.width("−0.00", style.small()) + 2 * u);
  const float gap = made.names > 0 ? 4 * u : 0, plots = std::max(0.F, room - made.names - gap);
  const float map = made.names == 0 ? plots : (square ? 0.68F : 0.58F) * plots;
  made.curves = {style.snapped(area.x + left), style.snapped(area.y + made.head + u + made.names),
                 area.w - left - 2 * u, std::floor(plots - map)};
  made.map = viz::fit_grid({made.curves.x, made.curves.bottom() + gap, made.curves.w, map}, values.rows,
                           values.cols, zoom, square ? 1 : 0, style);
  made.map.role = kEncodingMap, made.map.id = encoding;
  return made;
}

std::array<EncodingPanels::Layout, 2> EncodingPanels::arranged(const ViewContext& c, viz::Rect area,
                                                               bool beside) const {
  const float gap = 5 * style_of(c).unit();
  (beside ? area.w : area.h) = ((beside ? area.w : area.h) - gap) / 2;
  viz::Rect second = area;
  (beside ? second.x : second.y) += (beside ? area.w : area.h) + gap;
  return {layout(c, area, kLearned), layout(c, second, kSinusoidal)};
}

bool EncodingPanels::place(const ViewContext& c, viz::Rect area) {
  const auto side = [](const std::array<Layout, 2>& layouts) {
    return std::min(layouts[0].map.rect.w, layouts[0].map.rect.h);
  };
  layouts_ = arranged(c, area, true);
  if (const auto stacked = arranged(c, area, false); side(stacked) > side(layouts_)) layouts_ = stacked;
  if (side(layouts_) < kLeast * c.font_size) return false;
  const viz::Style style = style_of(c);
  const std::string rows = row_title + "s", cols = std::string(kColumn) + "s";
  viz::PooledCells pooled = viz::pooled_cells(layouts_[0].map, style);
  pooled.row_names = rows.c_str(), pooled.col_names = cols.c_str();
  note_ = viz::pooling_words(panels[0].cells.pooling, pooled, 14 * style.font_size, style);
  if (layouts_[0].names == 0) note_ += note_.empty() ? "no room for curves" : "; no room for curves";
  return true;
}

void EncodingPanels::paint(Picture& picture, const ViewContext& c) const {
  const viz::Style style = style_of(c);
  viz::Scene& scene = picture.scene;
  for (int encoding = 0; encoding < std::ssize(panels); ++encoding) {
    const auto& [note, formula, cells] = panels[encoding];
    const Layout& its = layouts_[encoding];
    const viz::Region& map = its.map;
    paint_encoding_head(picture, encoding, note, formula, its.area, style);
    viz::CurveChart chart;
    chart.role = kEncodingCurves;
    chart.id = encoding;
    chart.count = map.col_count;
    chart.first = map.first_col, chart.shown = map.cols;
    chart.names_beside = false;
    if (length > 0 && length < chart.count) {
      chart.marked_x = length;
      chart.mark_color = c.theme->text_muted;
      chart.mark_label = "prompt: " + std::to_string(length);
    }
    float magnitude = 0;
    for (int i = 0; i < std::ssize(curves); ++i) {
      viz::Matrix row = cells.matrix;
      row.data += curves[i] * row.row_stride;
      row.rows = 1;
      magnitude = std::max(magnitude, viz::value_range(row).magnitude());
      chart.curves.push_back({row, "", viz::categorical(*c.theme, i), i});
    }
    chart.high = high > low ? high : magnitude > 0 ? 1.05 * magnitude : 1;
    chart.low = high > low ? low : -chart.high;
    if (its.names > 0) {
      paint_names(scene, curves_title, curves, {its.area.x, its.area.y + its.head, its.area.w, 0}, style);
      viz::paint_curves(picture, chart, {its.curves.x, its.curves.y, map.rect.w, its.curves.h}, style);
    }
    viz::paint_cells(scene, cells, map, style);
    const viz::Rect& rect = map.rect;
    const float end = map.cell_rect(0, length).x;
    if (chart.marked_x >= 0 && end >= rect.x && end <= rect.right())
      scene.add(viz::Segments{{{end, rect.y}, {end, rect.bottom()}}, chart.mark_color, 1.5F});
    viz::paint_row_numbers(scene, map, row_title, style);
    viz::paint_column_numbers(scene, map, kColumn, style);
    const float foot = rect.bottom() + height_beneath(style) - style.line(style.small()) / 2;
    const bool all = viz::paint_color_scale_in(scene, cells.scale, value_title, std::nullopt,
                                               {its.area.x, foot}, its.area.w, style);
    if (!all || its.names == 0 || style.width(row_title, style.small()) > rect.h) picture.whole = false;
    picture.regions.push_back(map);
  }
}

void EncodingPanels::add_facts(Facts& facts, const ViewContext& c, const Picture& picture,
                               const viz::Hit& hit) const {
  const viz::Color color = c.theme->text_muted;
  for (const viz::Region& region : picture.regions) {
    if (region.role == kEncodingMap && region_of(picture, hit).role == kEncodingMap) {
      viz::paint_crosshair(facts.overlay, region, hit.row, hit.col, color, color, style_of(c));
    } else {
      const float x = region.cell_rect(0, hit.col).center().x;
      facts.overlay.add(viz::Segments{{{x, region.rect.y}, {x, region.rect.bottom()}}, color, 1});
    }
  }
}

}  // namespace headscope::app
