#include "app/views/output/sweep_grid.h"

#include <set>

#include "app/views/output/sweep_question.h"
#include "app/views/output/sweep_words.h"
#include "app/views/parts/parts.h"

namespace headscope::app {

namespace {

viz::ColorScale scale_of(const ViewContext& c, const SweepGrid& grid, std::span<const float> values) {
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(values));
  if (c.options[kSweptMetric] == SweepMetric::divergence)
    return viz::linear_scale(static_cast<double>(range.high));
  // The first token may be far beyond all others; it must not take their colours away.
  std::vector<float> others;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!grid.by_position || grid.cols == 1 || i % static_cast<std::size_t>(grid.cols) > 0)
      others.push_back(values[i]);
  return beyond_rounding(viz::robust_scale(viz::Matrix::row(others), 0, range));
}

/// Calls visit(row, first cell, end) for each run of cells of a row that are not known yet.
template <class Visit>
void for_each_unknown(const SweepGrid& grid, const Sweep& sweep, const Visit& visit) {
  for (int row = 0; row < grid.rows; ++row)
    for (int col = 0; col < grid.cols; ++col) {
      if (sweep.known[grid.cell(row, col)]) continue;
      int end = col;
      while (end < grid.cols && !sweep.known[grid.cell(row, end)]) ++end;
      visit(row, col, end);
      col = end;
    }
}

/// Covers cells that are not known yet with the background: whole ones, or with estimates the upper and the
/// lower quarter, which a cell of a single pixel's width shows as well.
void cover_unknown(Picture& picture, const ViewContext& c, const SweepGrid& grid, const Sweep& sweep,
                   const viz::Region& region) {
  const bool estimated = sweep.estimates_metric(c.options[kSweptMetric]);
  for_each_unknown(grid, sweep, [&](int row, int col, int end) {
    viz::Rect rect = region.cell_rect(row, col);
    rect.w = region.cell_rect(row, end).x - rect.x;
    if (!estimated) {
      picture.scene.add(viz::FillRect{rect, c.theme->surface});
      return;
    }
    const float h = rect.h / 4;
    picture.scene.add(viz::FillRect{{rect.x, rect.y, rect.w, h}, c.theme->surface});
    picture.scene.add(viz::FillRect{{rect.x, rect.bottom() - h, rect.w, h}, c.theme->surface});
  });
  picture.scene.add(viz::StrokeRect{region.rect, c.theme->line, 1});
}

/// Draws a dot in a corner of the cell.
void mark_applied(Picture& picture, const ViewContext& c, const viz::Rect& cell) {
  const float size = std::clamp(0.2F * std::min(cell.w, cell.h), 2.F, 0.5F * c.font_size);
  const viz::Rect dot{cell.right() - 1.7F * size, cell.y + 0.7F * size, size, size};
  const float ring = 0.25F * size;
  picture.scene.add(viz::FillRect{dot.inset(-ring), c.theme->surface, size / 2 + ring});
  picture.scene.add(viz::FillRect{dot, c.theme->text, size / 2});
}

/// The names of the rows: of each head at positions if there is room, else of the layers alone.
class RowNames {
 public:
  RowNames(const ViewContext& c, const SweepGrid& grid, const viz::Rect& area)
      : layers_(grid.rows / grid.rows_per_layer) {
    constexpr float kCells = 0.82F;  // fraction of the height that the cells take at least
    const viz::Style style = style_of(c);
    const float cell = kCells * area.h / static_cast<float>(grid.rows);
    names_heads_ = grid.rows_per_layer > 1 && cell >= 0.85F * style.line(style.small());
    const int rows = names_heads_ ? grid.rows : layers_;
    for (int row = 0; row < rows; ++row)
      names_.push_back(names_heads_ ? head_name(grid.layer(row), row % grid.rows_per_layer)
                                    : "L" + std::to_string(row));
    const int selected = names_heads_ ? grid.row(c.selection.layer, c.selection.head) : c.selection.layer;
    axis_ = selectable_axis(c, names_, names_heads_ ? "head" : "layer", selected);
    stands_apart_ = rows < grid.rows;
    room_ = viz::row_label_room(axis_, kCells * area.h / static_cast<float>(rows), 0.24F * area.w, style);
  }

  void put(viz::Heatmap& map) const {
    if (stands_apart_)
      map.row_room = viz::LabelRoom{room_.size};
    else
      map.rows = axis_;
  }
  /// After the map: the names of layers, and lines between these.
  void paint(Picture& picture, const ViewContext& c, const SweepGrid& grid, const viz::Region& region) const {
    const viz::Style style = style_of(c);
    if (stands_apart_)
      picture.whole &= viz::paint_row_labels(picture.scene, axis_, room_,
                                             viz::Region::grid(0, 0, region.rect, layers_, 1), style);
    // Where rows are low, a line would cover one: there are ticks beside the grid instead.
    constexpr float kRowWithLine = 3;  // device pixels
    const viz::Rect& rect = region.rect;
    const float row_height = rect.h / static_cast<float>(grid.rows);
    const bool ticks = row_height * c.device_scale < kRowWithLine;
    const float left = ticks ? rect.x - style.unit() : rect.x, right = ticks ? rect.x : rect.right();
    viz::Segments lines{{}, c.theme->text_muted, 1};
    for (int row = grid.rows_per_layer; grid.rows_per_layer > 1 && row < grid.rows;
         row += grid.rows_per_layer) {
      const float y = style.snapped(region.cell_rect(row, 0).y);
      lines.points.insert(lines.points.end(), {{left, y}, {right, y}});
    }
    if (!lines.points.empty()) picture.scene.add(std::move(lines));
  }

 private:
  int layers_;
  bool names_heads_ = false, stands_apart_ = false;
  std::vector<std::string> names_;
  viz::AxisLabels axis_;
  viz::LabelRoom room_;
};

}  // namespace

SweepGrid sweep_grid(const model::Config& config, const SweepOf& question) {
  const int positions = question.edited_positions();
  if (question.over == SweepOver::positions) return {config.n_layer, positions, 1, true};
  if (question.over == SweepOver::head_positions)
    return {config.n_layer * config.n_head, positions, config.n_head, true};
  return {config.n_layer, config.n_head + (question.over == SweepOver::senders), 1, false};
}

viz::Point sweep_grid_size(const ViewContext& c, const SweepGrid& grid) {
  const auto columns = static_cast<float>(grid.cols), rows = static_cast<float>(grid.rows);
  if (c.printed && !grid.by_position)  // cells are square
    return {c.width, rows * c.width / columns + 14 * c.font_size};
  // Rows of heads at positions need not have room for their names.
  const float row = grid.rows_per_layer == 1 ? 2.4F : std::min(1.7F, (c.printed ? 50.F : 90.F) / rows);
  return {std::clamp(columns * (grid.by_position ? 1.8F : 2.6F) + 14, 48.F, 120.F) * c.font_size,
          (rows * row + 14) * c.font_size};
}

float paint_sweep_grid(Picture& picture, const ViewContext& c, const SweptCells& cells, const viz::Rect& area,
                       int role) {
  const viz::Style style = style_of(c);
  const SweepOf& question = cells.question;
  const SweepGrid grid = sweep_grid(c.run->run->config, question);
  viz::Heatmap map;
  map.cells.matrix = viz::Matrix::row_major(cells.values, grid.rows, grid.cols);
  map.cells.scale = scale_of(c, grid, cells.values);
  std::set<std::pair<int, int>> applied;  // rows and columns
  for (const SweepPlace& place : cells.applied)
    applied.emplace(grid.row(place.layer, place.head.value_or(0)), grid.col(place));
  map.cells.masked = cells.nothing;
  const RowNames row_names(c, grid, area);
  row_names.put(map);
  std::vector<std::string> heads;
  if (grid.by_position) {
    map.cols = token_axis(c, "position", c.theme->key, c.selection.key);
    map.cols.labels = map.cols.labels.first(grid.cols);
    map.stretch = 0;
  } else {
    for (int col = 0; col < grid.cols; ++col)
      heads.push_back(grid.place(question, 0, col).is_mlp ? "MLP" : "H" + std::to_string(col));
    map.cols = selectable_axis(c, heads, over_senders(c.options) ? "sender" : "head", c.selection.head);
    if (c.printed && c.width > c.height) map.stretch = 1.7F;  // a slide is wide
  }
  map.scale_title = sweep_scale_title(c);
  map.centered = !c.trimmed;
  map.saves_width = true;
  map.titles_in_corner = c.printed && is_column_wide(c);
  map.role = role;
  const viz::Region region = viz::paint_heatmap(picture, map, area, style);
  if (!is_complete(cells.sweep)) cover_unknown(picture, c, grid, cells.sweep, region);
  row_names.paint(picture, c, grid, region);
  for (const auto& [row, col] : applied) mark_applied(picture, c, region.cell_rect(row, col));
  const int marked = grid.by_position ? c.selection.key : c.selection.head;
  if (marked >= 0 && marked < grid.cols)
    picture.scene.add(viz::StrokeRect{region.cell_rect(grid.row(c.selection.layer, c.selection.head), marked),
                                      c.theme->accent, 2, 1});
  return region.rect.bottom() + viz::flat_scale_height(map, area, style);
}

const Option<int> kFirstSwept = first_row_option("first-swept", true);
const ListRows kSweptRows{.role = kSweptRow, .first = kFirstSwept, .names = "MLPs"};

List sweep_list(const ViewContext& c, const SweepOf& question, const Sweep& sweep,
                const std::vector<std::size_t>& cells) {
  const bool neurons = question.over == SweepOver::neurons;
  List list(c, kSweptRows, static_cast<int>(cells.size()));
  const auto cell_of = [&cells](int row) { return cells[static_cast<std::size_t>(row)]; };
  const auto place_of = [&, cell_of](int row) { return question.place_of(sweep, cell_of(row)); };
  list.text(neurons ? "neuron" : "MLP", 9, [&, place_of](int row) {
    const SweepPlace place = place_of(row);
    return part_name(place) + (is_applied(c, question, place) ? "  •" : "");
  });
  const auto has_difference = [&, cell_of, place_of](int row) {
    return sweep.known[cell_of(row)] && question.has_edits(place_of(row));
  };
  const SweepMetric metric = c.options[kSweptMetric];
  list.bar(sweep_scale_title(c), 8,
           [&, cell_of, has_difference](int row) {
             return has_difference(row) ? shown_difference(c, sweep, cell_of(row)) : 0;
           },
           {.digits = 4,
            .scientific = 1e-4,
            .rounds = true,
            .axis = true,
            .most = c.trimmed ? 24 * c.font_size : c.width,
            .is_signed = metric != SweepMetric::divergence,
            .blank = [has_difference](int row) { return !has_difference(row); }});
  list.table.strength = list.last();
  if (sweep.estimates_metric(metric) && (neurons || !c.printed || !is_complete(sweep)))
    list.number("estimate", 5,
                [&, cell_of, place_of](int row) {
                  return question.has_edits(place_of(row)) ? shown_estimate(c, sweep, cell_of(row)) : 0;
                },
                {.color = c.theme->text_muted,
                 .digits = 4,
                 .scientific = 1e-4,
                 .blank = [&question, place_of](int row) { return !question.has_edits(place_of(row)); }});
  if (neurons)
    list.table.row_names = "strongest neurons", list.table.in_order_of_strength = true;
  else if (c.in_pane)  // a figure is not about the selected layer
    list.table.marked = std::min(c.selection.layer, sweep.layers - 1);
  return list;
}

viz::Point sweep_list_size(const ViewContext& c, const SweepOf& question) {
  const viz::Style style = style_of(c);
  const model::Config& config = c.run->run->config;
  viz::Table table;
  table.rows = question.over == SweepOver::mlps
                   ? config.n_layer
                   : static_cast<int>(std::min(std::int64_t{question.neurons},
                                               std::int64_t{config.n_layer} * config.n_inner));
  table.max_rows = c.max_rows;
  return {48 * c.font_size, viz::table_height(table, style) + 9 * c.font_size};
}

}  // namespace headscope::app
