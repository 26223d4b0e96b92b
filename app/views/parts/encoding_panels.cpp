#include "app/views/parts/encoding_panels.h"

#include <numbers>

#include "app/run/analyses/parameters.h"
#include "app/views/parts/parts.h"
#include "viz/charts/curves.h"

namespace headscope::app {
namespace {

constexpr const char* kColumn = "position";  // what a column is
constexpr float kQuarterTurn = std::numbers::pi_v<float> / 2;
constexpr double kSquareEvenness = 0.85;
constexpr float kSquareShare = 0.8F;   // of the height, for a square map under its curves
constexpr std::size_t kMaxCurves = 6;  // more colours would not be distinguishable

/// Draws title and note in as many lines as needed, and a formula if it fits into one; in print, what fits
/// next to the words before it is there. Returns their height. The title of an encoding that is not GPT-2's
/// is never dropped.
float paint_panel_title(Picture& picture, const ViewContext& c, const EncodingPanel& panel, viz::Rect area) {
  using viz::FontStyle;
  const viz::Style style = style_of(c);
  const float line = style.line(style.font_size), gap = 3 * style.unit();
  float y = area.y - line, end = area.w;
  const auto add = [&](const std::string& text, float size, viz::Color color,
                       FontStyle face = FontStyle::regular) {
    for (const std::string& words : viz::wrap(style, text, size, face, area.w)) {
      const float width = style.width(words, size, face);
      const bool beside = c.printed && end + gap + width <= area.w;
      const float x = beside ? end + gap : 0;
      if (!beside) y += line;
      viz::add_label(picture.scene, style, words, {area.x + x, y + line / 2}, size, color, face);
      end = x + width;
    }
  };
  add(panel.title, style.font_size, c.theme->text, FontStyle::medium);
  add(panel.note, style.small(), c.theme->text_muted);
  if (!panel.formula.empty() && style.width(panel.formula, style.small()) <= area.w)
    add(panel.formula, style.small(), c.theme->text);
  return y + line - area.y;
}

/// One past the prompt's last position in a table of `count`, where it is marked; the end if there is no
/// prompt.
int marked_length(const ViewContext& c, int count) {
  return c.run->tokens.was_empty ? count : c.run->run->length();
}

void paint_length_mark(viz::Scene& scene, const viz::Region& grid, int length, viz::Color color) {
  if (length >= grid.col_count) return;
  const float x = grid.cell_rect(0, length).x;
  if (x < grid.rect.x || x > grid.rect.right()) return;
  scene.add(viz::Segments{{{x, grid.rect.y}, {x, grid.rect.bottom()}}, color, 1.5F});
}

viz::CurveChart make_curves(const ViewContext& c, const EncodingPanel& panel, const EncodingLook& look) {
  const int length = marked_length(c, panel.values.cols);
  viz::CurveChart chart;
  chart.count = panel.values.cols;
  const Zoom& zoom = look.zoom;
  if (zoom.rows > 0) {
    chart.shown = std::clamp<double>(zoom.cols, 1, chart.count);
    chart.first = std::clamp(zoom.col, 0.0, chart.count - chart.shown);
  }
  chart.role = kEncodingCurves;
  chart.id = panel.id;
  chart.marked_x = length < panel.values.cols ? length : -1;
  chart.mark_color = c.theme->text_muted;
  chart.mark_label = "prompt: " + std::to_string(length);
  float magnitude = 0;
  for (const int curve : look.curves) {
    viz::Matrix row = panel.values;
    row.data += curve * row.row_stride;
    row.rows = 1;
    magnitude = std::max(magnitude, viz::value_range(row).magnitude());
    const int color = static_cast<int>(chart.curves.size());
    chart.curves.push_back({row, std::to_string(curve), viz::categorical(*c.theme, color), color});
  }
  chart.high = magnitude > 0 ? 1.05 * magnitude : 1;
  chart.low = -chart.high;
  if (look.high > look.low) chart.low = look.low, chart.high = look.high;
  return chart;
}

/// Room around the plots, the same in panels side by side so that they are aligned; on top of each other,
/// each has a title of its own height.
struct Room {
  float title = 0;
  float left = 0;
  float right = 0;
  float legend = 0;
  bool lines = false;  ///< names of the curves and the colour scale are lines above and below the plots
};

/// Draws what the curves are of, "dim.", and their names in a line. Returns its width.
float paint_names(viz::Scene& scene, const viz::CurveChart& chart, const EncodingLook& look, viz::Point at,
                  const viz::Style& style) {
  viz::add_muted(scene, style, look.curves_title, at);
  const float used = style.width(look.curves_title, style.small()) + 2 * style.unit();
  return used + viz::paint_curve_names(scene, chart, {at.x + used, at.y}, style);
}

Room room_for(const ViewContext& c, const EncodingPanel& panel, const EncodingLook& look, float width) {
  const viz::Style style = style_of(c);
  const float u = style.unit();
  Picture scratch;
  Room room;
  room.title = paint_panel_title(scratch, c, panel, {0, 0, width, 0});
  room.left = std::max(viz::row_numbers_width(panel.values.rows, style),
                       style.width("−0.00", style.small()) + style.line(style.small()) + 3 * u);
  // In a column, plots are as wide as they can be; square ones are as wide as they are high.
  viz::Scene measured;
  room.lines = c.printed && is_column_wide(c) && !look.square &&
               paint_names(measured, make_curves(c, panel, look), look, {}, style) <= width;
  if (room.lines) {
    room.title += style.line(style.small());
    room.right = 2 * u;
    return room;
  }
  room.legend = viz::color_scale_width(panel.scale, look.value_title, std::nullopt, style);
  room.right = std::max(room.legend + 2 * u, viz::curve_labels_width(make_curves(c, panel, look), style));
  return room;
}

float layout_scale(const ViewContext& c) {
  return c.print_scale > 0 ? c.print_scale : style_of(c).device_scale;
}

/// The largest size up to `most` at which all pixels show the same number of `count` cells, or all cells take
/// the same number of pixels; `most` if that would cost too much of it.
float even_size(float most, int count, float scale, double share = 0.7) {
  const double pixels = std::floor(static_cast<double>(most) * scale);
  if (pixels < 1) return most;
  const double even =
      pixels >= count ? std::floor(pixels / count) * count : count / std::ceil(count / pixels);
  return static_cast<float>((even >= share * pixels ? even : pixels) / scale);
}

viz::Region map_region(const EncodingPanel& panel, const Zoom& zoom, const viz::Style& style) {
  viz::Region grid = viz::fit_grid({}, panel.values.rows, panel.values.cols,
                                   {zoom.row, zoom.col, zoom.rows, zoom.cols}, 0, style);
  grid.role = kEncodingMap;
  grid.id = panel.id;
  return grid;
}

/// What of a map's cells is drawn, where a pixel has several.
std::string pooled_words(const EncodingLook& look, const viz::Region& grid, float room,
                         const viz::Style& style) {
  viz::PooledCells pooled = viz::pooled_cells(grid, style);
  const std::string rows = look.row_title + "s", cols = std::string(kColumn) + "s";
  pooled.row_names = rows.c_str(), pooled.col_names = cols.c_str();
  return viz::pooling_words(look.pooling, pooled, room, style);
}

void paint_map(Picture& picture, const ViewContext& c, const EncodingPanel& panel, const EncodingLook& look,
               const viz::Region& grid) {
  const viz::Style style = style_of(c);
  viz::HeatmapCells cells;
  cells.matrix = panel.values;
  cells.scale = panel.scale;
  cells.pooling = look.pooling;
  viz::paint_cells(picture.scene, cells, grid, style);
  paint_length_mark(picture.scene, grid, marked_length(c, grid.col_count), c.theme->text_muted);
  viz::paint_row_numbers(picture.scene, grid, look.row_title, style);
  viz::paint_column_numbers(picture.scene, grid, kColumn, style);
  picture.regions.push_back(grid);
}

/// False: no room.
bool paint_panel(Picture& picture, const ViewContext& c, const EncodingPanel& panel, const EncodingLook& look,
                 viz::Rect area, const Room& room) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small()), scale = layout_scale(c);
  // To the pixels of the page, whatever the file's format.
  const auto snapped = [&](float v) { return std::round(v * scale) / scale; };
  paint_panel_title(picture, c, panel, area);
  const float top = area.y + room.title + line + u;
  const float width = area.w - room.left - room.right;
  const bool pools = std::min(width / static_cast<float>(panel.values.cols),
                              0.58F * area.h / static_cast<float>(panel.values.rows)) *
                         scale <
                     1;
  const float height = area.bottom() - top - viz::column_numbers_height(style) - 4 * u -
                       (room.lines ? line + u
                        : pools    ? line
                                   : 0);
  if (width < 3 * style.font_size || height < 4 * style.font_size) return false;
  viz::Region grid = map_region(panel, look.zoom, style);
  // The map is taller if that shows every dimension. Cells of uneven pixel sizes would show stripes that are
  // not in the values.
  const float every_dimension = static_cast<float>(grid.row_count) / scale;
  const float names = static_cast<float>(look.curves.size()) * line;  // of the curves, beside them
  const float most = look.square ? kSquareShare : 0.75F;
  const float tallest = std::min(most * height, std::max(0.5F * height, height - names)),
              side = std::min(width, tallest);
  const float w = look.square ? side : width,
              h = look.square ? side : std::clamp(every_dimension, 0.58F * height, tallest);
  // The cosines of neighbours hardly differ: their maps may be larger instead.
  grid.rect.w = even_size(w, grid.col_count, scale, look.square ? kSquareEvenness : 0.7);
  grid.rect.h = look.square ? grid.rect.w : std::floor(even_size(h, grid.row_count, scale));
  grid.rect.x = snapped(area.x + room.left);
  // Curves over a square map are no higher than it.
  const float rest = height - grid.rect.h, curves = look.square ? std::min(rest, grid.rect.h) : rest;
  grid.rect.y = snapped(top + curves + 4 * u);

  const viz::Rect plot{grid.rect.x, snapped(top), grid.rect.w, std::floor(curves)};
  viz::CurveChart chart = make_curves(c, panel, look);
  chart.names_beside = !room.lines;
  viz::paint_curves(picture, chart, plot, style);
  // Names without room, of the axes and of curves.
  const bool titled = viz::add_whole_label(
      picture.scene, style, look.value_title,
      {plot.x - style.width("−0.00", style.small()) - 3 * u - line / 2, plot.center().y}, plot.h,
      c.theme->text_muted, viz::FontStyle::regular, viz::Align::center, -kQuarterTurn);
  if (!titled || style.width(look.row_title, style.small()) > grid.rect.h ||
      style.width(kColumn, style.small()) > grid.rect.w ||
      (chart.names_beside && static_cast<float>(chart.curves.size()) * line > plot.h)) {
    picture.whole = false;
  }
  paint_map(picture, c, panel, look, grid);
  if (room.lines) {
    paint_names(picture.scene, chart, look, {area.x, area.y + room.title - line / 2}, style);
    const float y = std::round(grid.rect.bottom() + viz::column_numbers_height(style) + u + line / 2);
    const float legend =
        viz::paint_color_scale_line(picture.scene, panel.scale, look.value_title, {grid.rect.x, y}, style);
    const float used = legend + 4 * u;
    paint_note(picture, c, pooled_words(look, grid, area.right() - grid.rect.x - used, style),
               {grid.rect.x + used, y});
    return true;
  }
  if (!chart.curves.empty() && style.width(look.curves_title, style.small()) <= room.right - u)
    paint_note(picture, c, look.curves_title, {plot.right() + 1.5F * u, plot.y - line / 2});
  paint_note(picture, c, pooled_words(look, grid, width + room.right, style),
             {grid.rect.x, grid.rect.bottom() + viz::column_numbers_height(style) + line / 2});
  viz::paint_color_scale(picture.scene, panel.scale, look.value_title, std::nullopt,
                         {grid.rect.right() + 2 * u, grid.rect.y, room.legend + 1, grid.rect.h}, style);
  return true;
}

/// The maps alone, each with its scale under it: for a pane without room for curves. False: none for maps
/// either.
bool paint_maps(Picture& picture, const ViewContext& c, const std::vector<EncodingPanel>& panels,
                const EncodingLook& look, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small()), gap = 3 * u;
  const auto count = static_cast<float>(panels.size());
  struct Places {
    float w = 0, h = 0, title = 0;  ///< of a panel, and of its title
    viz::Point map;                 ///< sides of the map
  };
  const float left = viz::row_numbers_width(panels.front().values.rows, style);
  const auto places = [&](bool beside) {
    Places p{beside ? (area.w - (count - 1) * gap) / count : area.w,
             beside ? area.h : (area.h - (count - 1) * gap) / count,
             0,
             {}};
    for (const EncodingPanel& panel : panels)
      p.title = std::max(
          p.title,
          line * static_cast<float>(
                     viz::wrap(style, panel.title, style.small(), viz::FontStyle::medium, p.w).size()));
    p.map = {p.w - left - u, p.h - p.title - viz::column_numbers_height(style) - line - 3 * u};
    if (look.square) p.map.x = p.map.y = std::min(p.map.x, p.map.y);
    return p;
  };
  const auto area_of = [](const Places& p) { return std::max(0.F, p.map.x) * std::max(0.F, p.map.y); };
  const bool beside = area_of(places(true)) >= area_of(places(false));
  const Places p = places(beside);
  if (std::min(p.map.x, p.map.y) < 4 * style.font_size) return false;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const float step = static_cast<float>(i);
    const viz::Point at{area.x + (beside ? step * (p.w + gap) : 0),
                        area.y + (beside ? 0 : step * (p.h + gap))};
    float y = at.y;
    for (const std::string& words :
         viz::wrap(style, panels[i].title, style.small(), viz::FontStyle::medium, p.w)) {
      viz::add_label(picture.scene, style, words, {at.x, y + line / 2}, style.small(), c.theme->text,
                     viz::FontStyle::medium);
      y += line;
    }
    viz::Region grid = map_region(panels[i], look.zoom, style);
    grid.rect = {style.snapped(at.x + left), style.snapped(at.y + p.title + u), p.map.x, p.map.y};
    paint_map(picture, c, panels[i], look, grid);
    const float foot = grid.rect.bottom() + viz::column_numbers_height(style) + u + line / 2;
    viz::Scene measured;
    const bool titled =
        viz::paint_color_scale_line(measured, panels[i].scale, look.value_title, {0, 0}, style) <= p.w;
    const float scale = viz::paint_color_scale_line(picture.scene, panels[i].scale,
                                                    titled ? look.value_title : "", {at.x, foot}, style);
    const std::string pooled = pooled_words(look, grid, p.w - scale - 4 * u, style);
    paint_note(picture, c, pooled, {at.x + scale + 4 * u, foot});
  }
  picture.whole = false;  // without curves
  return true;
}

}  // namespace

std::string learned_note(const ViewContext& c) {
  const auto bundled = c.ask(IsBundledModel{});
  return bundled && bundled->yes ? "wpe.weight; began as sinusoids" : "wpe.weight";
}

std::string sinusoid_formula(int d_model) {
  const std::string d = std::to_string(d_model);
  const std::string period = "10000" + viz::superscript("2i/" + d);
  return "PE(p, 2i) = sin(p / " + period + "), PE(p, 2i+1) = cos(p / " + period + ")";
}

bool paint_encodings(Picture& picture, const ViewContext& c, const std::vector<EncodingPanel>& panels,
                     const EncodingLook& look, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float gap = 5 * style.unit();
  const auto count = static_cast<float>(panels.size());
  const auto sides_of = [&](bool beside) -> viz::Point {
    return {beside ? (area.w - (count - 1) * gap) / count : area.w,
            beside ? area.h : (area.h - (count - 1) * gap) / count};
  };
  const auto room_of = [&](bool beside) {
    Room room;
    for (const EncodingPanel& panel : panels) {
      const Room own = room_for(c, panel, look, sides_of(beside).x);
      room = {std::max(room.title, own.title), std::max(room.left, own.left), std::max(room.right, own.right),
              std::max(room.legend, own.legend), own.lines};
    }
    return room;
  };
  const auto square_side = [&](bool beside) {
    const Room room = room_of(beside);
    const float numbers =
        viz::column_numbers_height(style) + 2 * style.line(style.small()) + 5 * style.unit();
    const float most = std::min(sides_of(beside).x - room.left - room.right,
                                kSquareShare * (sides_of(beside).y - room.title - numbers));
    return even_size(most, panels.front().values.cols, layout_scale(c), kSquareEvenness);
  };
  const auto width_of = [&](bool beside) {
    const Room room = room_of(beside);
    return sides_of(beside).x - room.left - room.right;
  };
  // Square maps stand as they are largest, others beside each other if they are wide enough there.
  const bool wide = area.w >= 1.1F * area.h || area.h < 40 * style.font_size;
  const auto shows_all_rows = [&](bool beside) {
    const float numbers = viz::column_numbers_height(style) + 2 * style.line(style.small());
    const float map = 0.58F * (sides_of(beside).y - room_of(beside).title - numbers);
    return map * layout_scale(c) >= static_cast<float>(panels.front().values.rows);
  };
  // A row that is left out is worse than columns that are averaged.
  const bool stacked_loses = c.in_pane && !shows_all_rows(false) && width_of(true) >= 8 * style.font_size;
  const bool side_by_side = look.square ? square_side(true) > square_side(false)
                                        : (wide || stacked_loses) && width_of(true) >= 6 * style.font_size;
  const auto [w, h] = sides_of(side_by_side);
  const Room room = room_of(side_by_side);
  const float least = 6 * style.font_size;
  const bool small = look.square ? square_side(side_by_side) < least
                                 : width_of(side_by_side) < least || h - room.title < 2.5F * least;
  if (c.in_pane && small && paint_maps(picture, c, panels, look, area)) return true;
  float titles = 0;  // of panels on top of each other, whose plots are equally high
  for (const EncodingPanel& panel : panels) titles += room_for(c, panel, look, w).title;
  viz::Rect place{area.x, area.y, w, h};
  for (const EncodingPanel& panel : panels) {
    Room own = room;
    if (!side_by_side) {
      own.title = room_for(c, panel, look, w).title;
      place.h = h - titles / count + own.title;
    }
    if (!paint_panel(picture, c, panel, look, place, own)) return false;
    (side_by_side ? place.x : place.y) += (side_by_side ? w : place.h) + gap;
  }
  return true;
}

viz::Scene encoding_cross(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  viz::Scene overlay;
  for (const viz::Region& other : picture.regions) {
    viz::Segments lines{{}, c.theme->text_muted, 1};
    const auto add = [&](viz::Point a, viz::Point b) {
      if (a.x < b.x || a.y < b.y) lines.points.insert(lines.points.end(), {a, b});
    };
    const viz::Rect& r = other.rect;
    if (region.role == kEncodingMap && other.role == kEncodingMap) {
      // The lines end just before the cell, which keeps its colour.
      const viz::Rect cell = other.cell_rect(hit.row, hit.col).inset(-4);
      const viz::Point at = cell.center();
      add({at.x, r.y}, {at.x, cell.y});
      add({at.x, cell.bottom()}, {at.x, r.bottom()});
      add({r.x, at.y}, {cell.x, at.y});
      add({cell.right(), at.y}, {r.right(), at.y});
    } else {
      const float x = other.cell_rect(0, hit.col).center().x;
      add({x, r.y}, {x, r.bottom()});
    }
    overlay.add(std::move(lines));
  }
  return overlay;
}

void add_both(Facts& facts, float learned, float sinusoidal) {
  facts.number("learned", learned);
  facts.number("sinusoidal", sinusoidal);
  facts.said.back().unit = "(not GPT-2's)";
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

Zoom shown_part(const EncodingView& view, const ViewContext& c) {
  return part_of(c.options[view.zoom], view.rows(c), c.run->run->config.n_ctx);
}

/// Toggles a curve. At least one stays, and at most as many as are distinguishable.
static ViewActions curve_toggled(const EncodingView& view, const ViewContext& c, int row) {
  std::vector<int> curves = view.shown(c);
  const auto found = std::ranges::find(curves, row);
  if (found == curves.end()) {
    if (curves.size() >= kMaxCurves) curves.erase(curves.begin());
    curves.push_back(row);
  } else if (curves.size() > 1) {
    curves.erase(found);
  }
  return {SetOption{&view.curves, curves}};
}

std::vector<MenuLine> encoding_menu(const EncodingView& view, const ViewContext& c, int row) {
  std::vector<MenuLine> lines;
  if (row >= 0) {
    const std::vector<int> curves = view.shown(c);
    const bool drawn = std::ranges::count(curves, row) > 0;
    if (!drawn || curves.size() > 1)
      lines.push_back({(drawn ? "Hide the curve of " : "Show the curve of ") + std::string(view.row) + " " +
                           std::to_string(row),
                       curve_toggled(view, c, row)});
  }
  add_whole(lines, view.whole, view.zoom, c.options);
  return lines;
}

static ViewActions zoom_encodings(const EncodingView& view, const ViewContext& c, int which) {
  const int rows = view.rows(c), cols = c.run->run->config.n_ctx;
  Zoom now = shown_part(view, c);
  if (now == Zoom{}) now = {0, 0, static_cast<double>(rows), static_cast<double>(cols)};
  return zoom_about_cell(view.zoom, c.options, rows, cols, now.row + now.rows / 2, now.col + now.cols / 2,
                         which < 2 ? 1.5 : 1 / 1.5);
}

static ViewActions on_encodings(const EncodingView& view, const ViewContext& c, const Picture& picture,
                                const viz::Hit* hit, const Gesture& gesture) {
  if (gesture.kind == Gesture::Kind::key) {
    if (shown_part(view, c) != Zoom{})
      return zoom_keys(view.zoom, c.options, view.rows(c), c.run->run->config.n_ctx, gesture.key);
    if (gesture.key == Key::left) return view.step(c, -1);
    return gesture.key == Key::right ? view.step(c, 1) : ViewActions{};
  }
  if (!hit || region_of(picture, *hit).role != kEncodingMap) return {};
  if (gesture.kind == Gesture::Kind::click) return curve_toggled(view, c, hit->row);
  return zoom_gesture(view.zoom, c.options, region_of(picture, *hit), gesture);
}

void add_encodings(View& view, const EncodingView& encodings, std::vector<KeyCommand> commands,
                   std::string_view help_whole, std::string note) {
  view.options = {&encodings.curves, &encodings.zoom};
  view.commands = std::move(commands);
  view.commands.push_back({"+=-", "", "Zoom the maps", [=](const ViewContext& c, int which) {
                             return c.run ? zoom_encodings(encodings, c, which) : ViewActions{};
                           }});
  view.commands.push_back({"0", "Fit", help_whole,
                           [=](const ViewContext& c, int) { return show_whole(encodings.zoom, c.options); },
                           "The whole maps are shown."});
  view.on = [=](const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
    return c.run ? on_encodings(encodings, c, picture, hit, gesture) : ViewActions{};
  };
  view.menu = [=](const ViewContext& c) { return encoding_menu(encodings, c, -1); };
  view.scrolls = [=](const ViewContext& c, const Picture& picture) {
    return zoom_scrolls(encodings.zoom, c, picture, kEncodingMap);
  };
  view.refuse = [=](const ViewContext& c) {
    return refuse_numbers(c, encodings.curves, encodings.row, encodings.rows(c));
  };
  view.needs = Capability::weights | Capability::positions_table;
  view.landmarks = {landmark("learned map", kEncodingMap, kLearned),
                    landmark("sinusoidal map", kEncodingMap, kSinusoidal),
                    landmark("learned curves", kEncodingCurves, kLearned),
                    landmark("sinusoidal curves", kEncodingCurves, kSinusoidal)};
  view.caption = {.prompt = false, .note = std::move(note)};
}

}  // namespace headscope::app
