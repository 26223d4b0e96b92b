#include "app/views/parts/encoding_panels.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "viz/charts/curves.h"

namespace headscope::app {
namespace {

/// The part of an area between the numbers at its left, the same for curves and maps, and a margin.
viz::Rect plot_in(const EncodingMaps& maps, viz::Rect area, float above, float below,
                  const viz::Style& style) {
  const float u = style.unit();
  const float left = std::max(viz::row_numbers_width(maps.cells[0].matrix.rows, style),
                              style.width("−0.00", style.small()) + 2 * u);
  return {style.snapped(area.x + left), style.snapped(area.y + above), area.w - left - 2 * u,
          std::max(1.F, std::floor(area.h - above - below))};
}

/// The part of a map that is shown, in the area of its plot.
viz::Region region_of_map(Encoding encoding, const EncodingMaps& maps, viz::Rect plot,
                          const viz::Style& style) {
  const viz::Matrix& matrix = maps.cells[encoding].matrix;
  viz::Region region = viz::fit_grid(plot, matrix.rows, matrix.cols, maps.zoom, 0, style);
  region.role = kEncodingMap, region.id = encoding;
  return region;
}

void paint_curves(Picture& picture, Encoding encoding, const EncodingMaps& maps, viz::Rect area,
                  const viz::Style& style) {
  viz::CurveChart chart;
  float magnitude = 0;
  for (int i = 0; i < std::ssize(maps.curves); ++i) {
    viz::Matrix row = maps.cells[encoding].matrix;
    row.data += maps.curves[i] * row.row_stride;
    row.rows = 1;
    magnitude = std::max(magnitude, viz::value_range(row).magnitude());
    chart.curves.push_back({row, std::to_string(maps.curves[i]), viz::categorical(style.theme, i), i});
  }
  const float names = viz::paint_curve_names(picture.scene, chart, maps.curves_title, area, style);
  viz::Rect plot = plot_in(maps, area, names + style.line(style.small()) + style.unit(), 0, style);
  const viz::Region map = region_of_map(encoding, maps, plot, style);
  plot.w = map.rect.w;
  chart.role = kEncodingCurves;
  chart.id = encoding;
  chart.count = map.col_count;
  chart.first = map.first_col, chart.shown = map.cols;
  if (maps.length > 0 && maps.length < chart.count) {
    chart.marked_x = maps.length;
    chart.mark_color = style.theme.text_muted;
    chart.mark_label = "prompt: " + std::to_string(maps.length);
  }
  const bool limited = maps.high > maps.low;
  chart.high = limited ? maps.high : magnitude > 0 ? 1.05 * magnitude : 1;
  chart.low = limited ? maps.low : -chart.high;
  viz::paint_curves(picture, chart, plot, style);
}

void paint_map(Picture& picture, Encoding encoding, const EncodingMaps& maps, viz::Rect area,
               const viz::Style& style) {
  viz::Scene& scene = picture.scene;
  const float line = style.line(style.small()), beneath = viz::column_numbers_height(style) + style.unit();
  const viz::HeatmapCells& cells = maps.cells[encoding];
  const auto map_over = [&](float lines) {
    return region_of_map(encoding, maps, plot_in(maps, area, 0, beneath + lines * line, style), style);
  };
  const auto pooling = [&](const viz::Region& of) {
    return viz::pooling_words(cells.pooling, viz::pooled_cells(of, style), area.w, style);
  };
  viz::Region map = map_over(1);
  if (!pooling(map).empty()) map = map_over(2);
  viz::paint_cells(scene, cells, map, style);
  const float end = map.cell_rect(0, maps.length).x;
  if (maps.length > 0 && maps.length < map.col_count && end >= map.rect.x && end <= map.rect.right())
    scene.add(viz::Segments{{{end, map.rect.y}, {end, map.rect.bottom()}}, style.theme.text_muted, 1.5F});
  viz::paint_row_numbers(scene, map, maps.row_title, style);
  viz::paint_column_numbers(scene, map, "position", style);
  if (style.width(maps.row_title, style.small()) > map.rect.h) picture.whole = false;
  const viz::Point foot{area.x, map.rect.bottom() + beneath + line / 2};
  viz::paint_color_scale_in(scene, cells.scale, maps.value_title, std::nullopt, foot, area.w, style);
  viz::add_muted(scene, style, pooling(map), {foot.x, foot.y + line});
  picture.regions.push_back(map);
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

BoxPtr encoding_heading(Encoding encoding, std::string note) {
  return notes({std::move(note)}, encoding == kLearned ? "Learned by this model" : "Sinusoids");
}

BoxPtr encoding_panel(Encoding encoding, const EncodingMaps& maps) {
  const auto box = [&](auto height, auto paint) {
    return custom({12.5F, 40}, height,
                  [&maps, encoding, paint](Picture& picture, const ViewContext& c, viz::Rect area) {
                    paint(picture, encoding, maps, area, style_of(c));
                  });
  };
  auto curves = box([](float w) { return Wish{8, 4 + 0.3F * w, 4 + 0.5F * w}; }, paint_curves);
  auto map = box([](float w) { return Wish{8, 4 + 0.6F * w}; }, paint_map);
  return rows(boxes(encoding_heading(encoding, maps.notes[encoding]),
                    may_be_left_out(std::move(curves), "the curves"), std::move(map)));
}

}  // namespace headscope::app
