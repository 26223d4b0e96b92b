#include <algorithm>
#include <cmath>

#include "app/views/common.h"

namespace headscope::app {
namespace {

enum Role { kCell };  // row: query, col: key

PatternOf shown_pattern(const ViewContext& c) {
  return {c.selection.layer, c.selection.head};
}

Picture build(const ViewContext& c) {
  const auto pattern = c.ask(shown_pattern(c));
  if (auto words = waiting(c, shown_pattern(c), pattern != nullptr)) return *words;
  const viz::Style style = style_of(c);
  Picture picture = blank(c);
  const viz::Rect area =
      paint_title(picture, c, "Attention pattern of " + head_name(c.selection.layer, c.selection.head),
                  "how much of each key a query takes; rows sum to 1");

  const viz::Matrix weights = pattern->matrix();
  const PatternScale scale = pattern_scale(weights, c.options, "weight");
  viz::Heatmap map;
  map.cells = {weights, scale.scale, true, scale.outside_column, scale.row_factors};
  map.rows = token_axis(c, "query", c.theme->query, c.selection.query);
  map.cols = token_axis(c, "key", c.theme->key, c.selection.key);
  map.scale_title = scale.title;
  map.outside_text = "key 0";
  map.framed_row = c.selection.query;
  map.frame = c.theme->query;
  map.framed_col = c.selection.key;
  map.cell_frame = c.theme->key;
  map.shown = shown_cells(part_of(c.options[kZoom], weights.rows, weights.cols));
  map.centered = !c.trimmed;
  map.role = kCell;
  viz::paint_heatmap(picture, map, area, style);
  return picture;
}

/// Place of a key among the keys of its query, 1 for the largest weight.
int rank_of(const viz::Matrix& pattern, int query, int key) {
  int rank = 1;
  for (int k = 0; k <= query; ++k) rank += pattern.at(query, k) > pattern.at(query, key);
  return rank;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  const auto answer = c.ask(shown_pattern(c));
  Hover result;
  if (!answer || hit.row >= answer->length || hit.col >= answer->length) return result;
  viz::paint_crosshair(result.overlay, region, hit.row, hit.col, c.theme->query, c.theme->key, style_of(c));
  const viz::Matrix pattern = answer->matrix();
  const std::string query = "query " + token_name(c.run->tokens, hit.row),
                    key = "key " + token_name(c.run->tokens, hit.col);
  const std::string place = head_name(c.selection.layer, c.selection.head) + "   " + query + " → " + key;
  result.lines = {query, key};
  if (hit.col > hit.row) {
    result.lines.insert(result.lines.end(),
                        {"masked: this key comes after the query", "score −∞, weight exactly 0"});
    result.status = place + "   masked";
    return result;
  }
  const float weight = pattern.at(hit.row, hit.col);
  result.lines.push_back("weight " + exact(weight));
  if (std::isfinite(weight)) {
    result.lines.push_back(percent(weight) + " of this query's attention, rank " +
                           std::to_string(rank_of(pattern, hit.row, hit.col)) + " of " +
                           std::to_string(hit.row + 1));
  }
  result.status = place + "   " + exact(weight);
  return result;
}

/// A row a query, a column a key; masked cells empty.
Table table(const ViewContext& c) {
  const auto answer = c.ask(shown_pattern(c));
  Table result;
  if (!answer) return result;
  const viz::Matrix pattern = answer->matrix();
  result.header = {"query", "token"};
  for (int key = 0; key < pattern.cols; ++key) {
    result.header.push_back(std::to_string(key) + " " + c.run->tokens.labels[static_cast<std::size_t>(key)]);
  }
  for (int query = 0; query < pattern.rows; ++query) {
    std::vector<std::string> row{std::to_string(query),
                                 c.run->tokens.labels[static_cast<std::size_t>(query)]};
    for (int key = 0; key < pattern.cols; ++key)
      row.push_back(key <= query ? plain(pattern.at(query, key)) : "");
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture&, const viz::Hit* hit) {
  const auto answer = c.ask(shown_pattern(c));
  std::optional<float> weight;
  if (answer && hit && hit->row < answer->length && hit->col <= hit->row)
    weight = answer->matrix().at(hit->row, hit->col);
  return attention_matrix_menu(c, hit, weight);
}

/// Between the map and its legend, and under the map and what it says of pooling.
std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  if (picture.regions.empty()) return {};
  const viz::Region& grid = picture.regions.front();
  const viz::Style style = style_of(c);
  const float u = style.unit(), bar = kScrollBar * c.font_size;
  const viz::PooledCells pooled = viz::pooled_cells(grid, style);
  const bool words = pooled.rows > 1 || pooled.cols > 1;
  const float bottom = grid.rect.bottom() + u + (words ? style.line(style.small()) : 0);
  return zoom_scrolls(kZoom, c.options, grid, grid.rect,
                      std::min(grid.rect.right() + 0.75F * u, c.width - bar),
                      std::min(bottom, c.height - bar));
}

}  // namespace

View heatmap_view() {
  View view;
  view.id = "heatmap";
  view.title = "Heatmap";
  view.help = "attention pattern of one head: a row for each query, a column for each key";
  view.part = Part::attention;
  view.options = {&kValueScale, &kValueMax, &kWithoutKey0, &kPainting, &kZoom};
  view.commands = attention_matrix_commands();
  view.on = on_attention_matrix;
  view.menu = menu;
  view.scrolls = scrolls;
  view.refuse = refuse_zoom;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
