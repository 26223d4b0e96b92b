#include <algorithm>
#include <array>
#include <cmath>

#include "app/run/sinusoidal.h"
#include "app/views/common.h"
#include "viz/curves.h"

namespace headscope::app {
namespace {

constexpr double kOutliers = 0.002;       // of the values may lie beyond the colour scale
constexpr std::size_t kMostCurves = 6;    // more colours than that cannot be told apart
enum Encoding { kLearned, kSinusoidal };  // Region::id
enum Role { kMap, kCurves };              // of the map rows are dimensions, columns of both are positions

const Option<std::vector<int>> kDimensions{
    {.name = "dimensions",
     .label = "Dimensions",
     .help =
         "dimensions that are drawn as curves (auto: four whose sinusoids have four periods down to half a "
         "one over the context)",
     .usual = std::vector<int>{},
     .usual_name = "auto",
     .low = 0,
     .high = 1 << 24}};

const Option<Zoom> kEncodingZoom{
    {.name = "encoding-zoom",
     .label = "Zoom",
     .help = "only dimensions D to D and positions P to P (the ends not included)",
     .usual = Zoom{},
     .usual_name = "all",
     .kept = false,
     .control = Control::none}};

/// An encoding as the picture shows it: a row for each dimension, a column for each position.
struct Panel {
  Encoding encoding = kLearned;
  std::string title;
  std::string note;
  viz::Matrix values;
  viz::ColorScale scale;
};

viz::Matrix by_dimension(std::span<const float> values, const model::Config& config) {
  return viz::Matrix::row_major(values, config.n_ctx, config.n_embd).transposed();
}

/// The dimensions that are drawn as curves: the chosen ones that the model has.
std::vector<int> shown_dimensions(const ViewContext& c) {
  const model::Config& config = c.run->run->config;
  std::vector<int> dimensions = c.options[kDimensions];
  if (dimensions.empty()) return c.run->model->readable_dimensions;
  std::erase_if(dimensions, [&](int d) { return d >= config.n_embd; });
  return dimensions.empty() ? c.run->model->readable_dimensions : dimensions;
}

Zoom shown_part(const ViewContext& c) {
  return part_of(c.options[kEncodingZoom], c.run->run->config.n_embd, c.run->run->config.n_ctx);
}

Panel learned_panel(const ViewContext& c) {
  Panel panel{kLearned,
              "Learned by this model",
              "wpe.weight",
              by_dimension(c.run->model->transformer->position_embedding(), c.run->run->config),
              {}};
  // A few dimensions carry values far above all others; they would leave the rest without colour.
  const float magnitude = viz::robust_magnitude(panel.values, kOutliers);
  panel.scale = viz::diverging_scale(static_cast<double>(magnitude));
  const viz::ValueRange range = viz::value_range(panel.values.transposed());
  panel.scale.values_above = range.high > magnitude;
  panel.scale.values_below = range.low < -magnitude;
  return panel;
}

Panel sinusoidal_panel(const ViewContext& c, std::span<const float> encoding) {
  return {kSinusoidal, "Sinusoidal encoding (Vaswani et al. 2017)", "for comparison: not GPT-2's",
          by_dimension(encoding, c.run->run->config), viz::diverging_scale(1)};
}

/// Title and note in as many lines as they take; returns their height. What is not GPT-2's must never lose
/// its name.
float paint_panel_title(Picture& picture, const ViewContext& c, const Panel& panel, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.font_size);
  float y = area.y;
  for (const std::string& words :
       viz::wrap(style, panel.title, style.font_size, viz::FontStyle::medium, area.w)) {
    viz::add_label(picture.scene, style, words, {area.x, y + line / 2}, style.font_size, c.theme->text,
                   viz::FontStyle::medium);
    y += line;
  }
  for (const std::string& words :
       viz::wrap(style, panel.note, style.small(), viz::FontStyle::regular, area.w)) {
    viz::add_label(picture.scene, style, words, {area.x, y + line / 2}, style.small(), c.theme->text_muted);
    y += line;
  }
  return y - area.y;
}

void paint_length_mark(viz::Scene& scene, const viz::Region& grid, int length, viz::Color color) {
  if (length >= grid.col_count) return;
  const float x = grid.cell_rect(0, length).x;
  if (x < grid.rect.x || x > grid.rect.right()) return;
  scene.add(viz::Segments{{{x, grid.rect.y}, {x, grid.rect.bottom()}}, color, 1.5F});
}

viz::CurveChart make_curves(const ViewContext& c, const Panel& panel) {
  const int length = c.run->run->length();
  viz::CurveChart chart;
  chart.count = panel.values.cols;
  const Zoom zoom = shown_part(c);
  if (zoom.rows > 0) {
    chart.shown = std::clamp<double>(zoom.cols, 1, chart.count);
    chart.first = std::clamp(zoom.col, 0.0, chart.count - chart.shown);
  }
  chart.role = kCurves;
  chart.id = panel.encoding;
  chart.marked_x = length < panel.values.cols ? length : -1;
  chart.mark_color = c.theme->accent;
  chart.mark_label = "prompt: " + std::to_string(length);
  float magnitude = 0;
  const std::vector<int> dimensions = shown_dimensions(c);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    viz::Matrix row = panel.values;
    row.data += dimensions[i] * row.row_stride;
    row.rows = 1;
    magnitude = std::max(magnitude, viz::value_range(row).magnitude());
    chart.curves.push_back(
        {row, std::to_string(dimensions[i]), viz::categorical(*c.theme, static_cast<int>(i))});
  }
  chart.high = magnitude > 0 ? 1.05 * static_cast<double>(magnitude) : 1;
  chart.low = -chart.high;
  return chart;
}

/// Room around the plots, the same in both panels so that they line up.
struct Room {
  float title = 0;
  float left = 0;
  float right = 0;
  float legend = 0;
};

Room room_for(const ViewContext& c, const Panel& panel, float width) {
  const viz::Style style = style_of(c);
  const float u = style.unit();
  Picture scratch;
  Room room;
  room.title = paint_panel_title(scratch, c, panel, {0, 0, width, 0});
  room.left =
      std::max(viz::row_numbers_width(panel.values.rows, style), style.width("−0.00", style.small()) + 3 * u);
  room.legend = viz::color_scale_width(panel.scale, "", std::nullopt, style);
  room.right = std::max(room.legend, viz::curve_labels_width(make_curves(c, panel), style)) + 2 * u;
  return room;
}

/// The largest size up to `most` at which all pixels show equally many of `count` cells, or all cells take
/// equally many pixels; `most` where that costs too much of it.
float even_size(float most, int count, const viz::Style& style) {
  const double pixels = std::floor(static_cast<double>(most) * style.device_scale);
  if (pixels < 1) return most;
  const double even =
      pixels >= count ? std::floor(pixels / count) * count : count / std::ceil(count / pixels);
  return static_cast<float>((even >= 0.7 * pixels ? even : pixels) / style.device_scale);
}

void paint_panel(Picture& picture, const ViewContext& c, const Panel& panel, viz::Rect area,
                 const Room& room) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  paint_panel_title(picture, c, panel, area);
  const float top = area.y + room.title + line + u;
  const float width = area.w - room.left - room.right;
  const bool pools = std::min(width / static_cast<float>(panel.values.cols),
                              0.58F * area.h / static_cast<float>(panel.values.rows)) *
                         style.device_scale <
                     1;
  const float height = area.bottom() - top - viz::column_numbers_height(style) - 4 * u - (pools ? line : 0);
  if (width < 3 * style.font_size || height < 4 * style.font_size) {
    picture.whole = false;
    return;
  }
  const Zoom zoom = shown_part(c);
  viz::Region grid = viz::fit_grid({}, panel.values.rows, panel.values.cols,
                                   {zoom.row, zoom.col, zoom.rows, zoom.cols}, false, style);
  grid.role = kMap;
  grid.id = panel.encoding;
  // The map is higher where that shows every dimension. Cells of uneven pixels would show stripes that are
  // not in the values.
  const float every_dimension = static_cast<float>(grid.row_count) / style.device_scale;
  grid.rect.w = even_size(width, grid.col_count, style);
  grid.rect.h = std::floor(
      even_size(std::clamp(every_dimension, 0.58F * height, 0.75F * height), grid.row_count, style));
  grid.rect.x = style.snapped(area.x + room.left);
  grid.rect.y = style.snapped(top + height - grid.rect.h + 4 * u);

  const viz::Rect plot{grid.rect.x, style.snapped(top), grid.rect.w, std::floor(height - grid.rect.h)};
  const viz::CurveChart chart = make_curves(c, panel);
  viz::paint_curves(picture, chart, plot, style);
  // Names that had no room: of the axes, and of curves.
  if (style.width("dimension", style.small()) > grid.rect.h ||
      style.width("position", style.small()) > grid.rect.w ||
      static_cast<float>(chart.curves.size()) * line > plot.h) {
    picture.whole = false;
  }
  if (!chart.curves.empty()) {
    const std::string what = "dim.";
    if (style.width(what, style.small()) <= room.right - u) {
      viz::add_label(picture.scene, style, what, {plot.right() + 1.5F * u, plot.y - line / 2}, style.small(),
                     c.theme->text_muted);
    }
  }

  viz::HeatmapCells cells;
  cells.matrix = panel.values;
  cells.scale = panel.scale;
  cells.pooling = viz::Pooling::mean;  // neighbours are of either sign
  viz::paint_cells(picture.scene, cells, grid, style);
  paint_length_mark(picture.scene, grid, c.run->run->length(), c.theme->accent);
  viz::paint_row_numbers(picture.scene, grid, "dimension", style);
  viz::paint_column_numbers(picture.scene, grid, "position", style);
  viz::add_label(picture.scene, style,
                 viz::pooling_words(cells.pooling, viz::pooled_cells(grid, style), width + room.right, style),
                 {grid.rect.x, grid.rect.bottom() + viz::column_numbers_height(style) + line / 2},
                 style.small(), c.theme->text_muted);
  viz::paint_color_scale(picture.scene, panel.scale, "", std::nullopt,
                         {grid.rect.right() + 2 * u, grid.rect.y, room.legend + 1, grid.rect.h}, style);
  picture.regions.push_back(grid);
}

Picture build(const ViewContext& c) {
  if (auto words = waiting(c)) return *words;
  const viz::Style style = style_of(c);
  const model::Config& config = c.run->run->config;
  Picture picture = blank(c);
  const viz::Rect area = paint_title(
      picture, c, "Positional encoding",
      std::to_string(config.n_ctx) + " positions × " + std::to_string(config.n_embd) + " dimensions");
  const std::vector<float> encoding = sinusoidal_encoding(config.n_ctx, config.n_embd);
  const std::array<Panel, 2> panels{learned_panel(c), sinusoidal_panel(c, encoding)};

  const float gap = 5 * style.unit();
  const bool side_by_side = area.w >= 1.1F * area.h || area.h < 40 * style.font_size;
  const float w = side_by_side ? (area.w - gap) / 2 : area.w, h = side_by_side ? area.h : (area.h - gap) / 2;
  Room room;
  for (const Panel& panel : panels) {
    const Room own = room_for(c, panel, w);
    room = {std::max(room.title, own.title), std::max(room.left, own.left), std::max(room.right, own.right),
            std::max(room.legend, own.legend)};
  }
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const float step = static_cast<float>(i);
    paint_panel(picture, c, panels[i],
                side_by_side ? viz::Rect{area.x + step * (w + gap), area.y, w, h}
                             : viz::Rect{area.x, area.y + step * (h + gap), w, h},
                room);
  }
  return picture;
}

float value_of(const ViewContext& c, int encoding, int position, int dimension) {
  const model::Config& config = c.run->run->config;
  if (encoding == kLearned) {
    return c.run->model->transformer
        ->position_embedding()[static_cast<std::size_t>(position) * static_cast<std::size_t>(config.n_embd) +
                               static_cast<std::size_t>(dimension)];
  }
  return sinusoidal_value(position, dimension, config.n_embd);
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  Hover result;
  const bool curve = region.role == kCurves;
  if (!c.run) return result;
  const model::Config& config = c.run->run->config;
  if (hit.col >= config.n_ctx || (!curve && hit.row >= config.n_embd)) return result;
  for (const viz::Region& other : picture.regions) {
    viz::Segments lines{{}, c.theme->text_muted, 1};
    const auto add = [&](viz::Point a, viz::Point b) {
      if (a.x < b.x || a.y < b.y) lines.points.insert(lines.points.end(), {a, b});
    };
    const viz::Rect& r = other.rect;
    if (!curve && other.role == region.role) {
      // Up to the cell, which keeps its colour, and a little less.
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
    result.overlay.add(std::move(lines));
  }
  const std::string position = hit.col < c.run->run->length()
                                   ? "position " + token_name(c.run->tokens, hit.col)
                                   : "position " + std::to_string(hit.col);
  result.lines = {position};
  const std::string name = region.id == kLearned ? "learned" : "sinusoidal";
  if (curve) {
    for (const int d : shown_dimensions(c)) {
      result.lines.push_back(name + " dimension " + std::to_string(d) + ": " +
                             exact(value_of(c, region.id, hit.col, d)));
    }
  } else {
    result.lines.push_back("dimension " + std::to_string(hit.row));
    result.lines.push_back("learned " + exact(value_of(c, kLearned, hit.col, hit.row)));
    result.lines.push_back("sinusoidal " + exact(value_of(c, kSinusoidal, hit.col, hit.row)) +
                           " (not GPT-2's)");
  }
  result.status = position + "   " + (result.lines.size() > 1 ? result.lines.back() : "");
  return result;
}

/// The chosen dimensions of both encodings, a row for each position.
Table table(const ViewContext& c) {
  Table result;
  if (!c.run) return result;
  const std::vector<int> dimensions = shown_dimensions(c);
  result.header = {"position"};
  for (const char* name : {"learned ", "sinusoidal "}) {
    for (const int d : dimensions) result.header.push_back(name + std::to_string(d));
  }
  for (int position = 0; position < c.run->run->config.n_ctx; ++position) {
    std::vector<std::string> row{std::to_string(position)};
    for (const int encoding : {kLearned, kSinusoidal}) {
      for (const int d : dimensions) row.push_back(plain(value_of(c, encoding, position, d)));
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

ViewActions toggle(const ViewContext& c, int dimension) {
  std::vector<int> dimensions = shown_dimensions(c);
  const auto found = std::find(dimensions.begin(), dimensions.end(), dimension);
  if (found == dimensions.end()) {
    if (dimensions.size() >= kMostCurves) dimensions.erase(dimensions.begin());
    dimensions.push_back(dimension);
  } else if (dimensions.size() > 1) {
    dimensions.erase(found);
  }
  return {SetOption{&kDimensions, dimensions}};
}

/// All curves by as many dimensions as there are curves; `which` is 0: up.
ViewActions step(const ViewContext& c, int which) {
  if (!c.run) return {};
  const int count = c.run->run->config.n_embd;
  std::vector<int> dimensions = shown_dimensions(c);
  const int by = static_cast<int>(dimensions.size()) * (which == 0 ? 1 : -1);
  for (int& d : dimensions) d = ((d + by) % count + count) % count;
  return {SetOption{&kDimensions, dimensions}};
}

ViewActions zoom_about_middle(const ViewContext& c, int which) {
  if (!c.run) return {};
  const int rows = c.run->run->config.n_embd, cols = c.run->run->config.n_ctx;
  Zoom now = shown_part(c);
  if (now == Zoom{}) now = {0, 0, static_cast<double>(rows), static_cast<double>(cols)};
  return zoom_about_cell(kEncodingZoom, c.options, rows, cols, now.row + now.rows / 2, now.col + now.cols / 2,
                         which < 2 ? 1.5 : 1 / 1.5);
}

ViewActions on_key(const ViewContext& c, Key key) {
  if (!c.run) return {};
  const model::Config& config = c.run->run->config;
  if (shown_part(c) != Zoom{}) return zoom_keys(kEncodingZoom, c.options, config.n_embd, config.n_ctx, key);
  if (key == Key::left) return step(c, 1);
  if (key == Key::right) return step(c, 0);
  return {};
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (gesture.kind == Gesture::Kind::key) return on_key(c, gesture.key);
  if (!hit) return {};
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit->region)];
  if (region.role != kMap) return {};
  if (gesture.kind == Gesture::Kind::click) return toggle(c, hit->row);
  return zoom_gesture(kEncodingZoom, c.options, region, gesture);
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  std::vector<MenuLine> lines;
  if (!c.run) return lines;
  const std::vector<int> curves = shown_dimensions(c);
  const viz::Region* region = hit ? &picture.regions[static_cast<std::size_t>(hit->region)] : nullptr;
  if (region && region->role == kMap) {
    lines.push_back(copy_value(value_of(c, region->id, hit->col, hit->row)));
    const bool drawn = std::ranges::find(curves, hit->row) != curves.end();
    // One curve stays.
    if (!drawn || curves.size() > 1) {
      lines.push_back({(drawn ? "No curve of dimension " : "Curve of dimension ") + std::to_string(hit->row),
                       toggle(c, hit->row)});
    }
  } else if (region) {
    for (const int d : curves)
      lines.push_back(
          copy_value(value_of(c, region->id, hit->col, d), "dimension " + std::to_string(d) + ":"));
  }
  if (ViewActions whole = show_whole(kEncodingZoom, c.options); !whole.empty())
    lines.push_back({"Whole encodings", std::move(whole)});
  return lines;
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return zoom_scrolls(kEncodingZoom, c, picture, kMap);
}

std::string refuse(const ViewContext& c) {
  const int count = c.run->run->config.n_embd;
  for (const int d : c.options[kDimensions]) {
    if (d >= count)
      return "there is no dimension " + std::to_string(d) + ": they go from 0 to " +
             std::to_string(count - 1) + " here; see --" + std::string(kDimensions.name);
  }
  return "";
}

}  // namespace

View positions_view() {
  View view;
  view.id = "positions";
  view.title = "Positions";
  view.help = "the learned positional encoding as curves and as a heatmap, beside the sinusoidal one of 2017";
  view.group = Group::input;
  view.options = {&kDimensions, &kEncodingZoom};
  view.commands = {{"D", "‹", "Curves of the dimensions before these",
                    [](const ViewContext& c, int) { return step(c, 1); }},
                   {"d", "›", "Curves of the dimensions after these", step},
                   {"+=-", "", "Zoom the maps", zoom_about_middle},
                   {"0", "Whole", "Show the whole encodings again",
                    [](const ViewContext& c, int) { return show_whole(kEncodingZoom, c.options); }}};
  view.on = on;
  view.menu = menu;
  view.scrolls = scrolls;
  view.refuse = refuse;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.caption = {false, false, false};
  return view;
}

}  // namespace headscope::app
