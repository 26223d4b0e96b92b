#include "app/views/output/attribution_picture.h"

#include <array>

#include "app/run/analyses/best_found.h"
#include "app/views/parts/parts.h"

namespace headscope::app {

namespace {

double cell_of(const Attribution& a, int layer, int col) {
  if (col < a.n_head()) return a.head(layer, col);
  return (col == a.n_head() ? a.attention_bias : a.mlps)[layer];
}

std::string name_of_cell(const Attribution& a, int layer, int col) {
  if (col < a.n_head()) return head_name(layer, col);
  return "L" + std::to_string(layer) + (col == a.n_head() ? " bias" : " MLP");
}

/// Visits the parts outside the layers and each layer, in the order of the pass.
template <class End, class Layer>
void for_each_in_order(const Attribution& a, const End& end, const Layer& layer) {
  end(kTokenEmbedding);
  end(kPositionEmbedding);
  for (int i = 0; i < a.layers; ++i) layer(i);
  end(kFinalBias);
  if (a.edited) end(kEdits);
}

std::vector<Contribution> parts_of(const Attribution& a) {
  const std::vector<std::string> ends = end_names(a);
  std::vector<Contribution> parts;
  for_each_in_order(
      a,
      [&](int end) {
        parts.push_back({-1, end, ends[end], end_of(a, end)});
      },
      [&](int layer) {
        for (int col = 0; col < a.n_head() + 2; ++col)
          parts.push_back({layer, col, name_of_cell(a, layer, col), cell_of(a, layer, col)});
      });
  return parts;
}

void add_row(AttributionNumbers& n, int id, std::string name, double value) {
  n.ids.push_back(id);
  n.names.push_back(std::move(name));
  n.values.push_back(static_cast<float>(value));
}

void add_layer_rows(AttributionNumbers& n) {
  const Attribution& a = *n.of;
  const std::vector<std::string> ends = end_names(a);
  for_each_in_order(
      a, [&](int end) { add_row(n, -1 - end, ends[end], end_of(a, end)); },
      [&](int layer) { add_row(n, layer, n.layer_names[layer], a.layer(layer)); });
  n.sum = a.sum();
}

void add_part_rows(AttributionNumbers& n) {
  std::vector<double> values;
  for (const Contribution& part : n.parts) values.push_back(part.value);
  for (const int i : strongest_first(values)) add_row(n, i, n.parts[i].name, values[i]);
  n.sum = n.of->sum();
}

void add_source_rows(AttributionNumbers& n, const PromptTokens& tokens) {
  const SourceParts* sources = n.split.sources.get();
  if (sources == nullptr) return;
  for (const int key : strongest_first(sources->parts))
    add_row(n, key, tokens.labels[key], sources->parts[key]);
  n.sum = sources->sum();
}

void add_neuron_rows(AttributionNumbers& n) {
  const NeuronParts* neurons = n.split.neurons.get();
  if (neurons == nullptr) return;
  for (const int neuron : strongest_first(neurons->parts))
    add_row(n, neuron, std::to_string(neuron), neurons->parts[neuron]);
  n.sum = neurons->sum();
}

using Numbers = AttributionNumbers;

viz::Matrix grid_of(const Numbers& n) {
  return viz::Matrix::row_major(n.grid, n.of->layers, n.of->n_head() + 2);
}

/// The columns of `matrix` from `first` on.
viz::Matrix columns_of(viz::Matrix matrix, int first, int count) {
  matrix.data += first * matrix.col_stride;
  matrix.cols = count;
  return matrix;
}

/// Two scales, because an MLP or an embedding may add many times what any head does. One is of colours, the
/// other of bars, so that nobody compares the colour of an MLP with that of a head. Each goes as far as its
/// largest part.
struct Scales {
  viz::ColorScale attention;  ///< heads, and attention's bias: all columns but the last
  double others = 1;  ///< a full bar: the largest magnitude of MLPs and of the parts outside the layers
};
Scales scales_of(const ViewContext& c, const Numbers& n) {
  const Attribution& a = *n.of;
  std::vector<float> ends;
  for (int end = 0; end < std::ssize(end_names(a)); ++end) ends.push_back(static_cast<float>(end_of(a, end)));
  const viz::Matrix grid = grid_of(n);
  const int mlp = grid.cols - 1;
  const viz::ValueRange others =
      viz::united(viz::value_range(columns_of(grid, mlp, 1)), viz::value_range(viz::Matrix::row(ends)));
  const auto attention = static_cast<double>(viz::value_range(columns_of(grid, 0, mlp)).magnitude());
  const auto full = static_cast<double>(others.magnitude());
  if (c.side == Side::difference) return {scale_of_differences(attention), std::max(full, kRounding)};
  return {viz::diverging_scale(attention), full > 0 ? full : 1};
}

/// A part in a cell of its own: its number over a bar along the bottom, as long as the part is large.
void paint_bar_cell(viz::Scene& scene, const ViewContext& c, const viz::Rect& cell, double value,
                    double full) {
  const float height = std::max(2.F, std::floor(0.16F * cell.h)), room = cell.w - 2;
  const auto width = static_cast<float>(std::min(1.0, std::abs(value) / full)) * room;
  if (width > 0)
    scene.add(viz::FillRect{{cell.x + 1, cell.bottom() - 1 - height, width, height},
                            viz::sign_color(*c.theme, value)});
}

std::string heading_of(const ViewContext& c) {
  const AttributionList list = c.options[kAttributionList];
  if (list == AttributionList::sources) return head_name(c.selection.layer, c.selection.head) + " from";
  if (list == AttributionList::neurons) return "L" + std::to_string(c.selection.layer) + " neuron";
  return list == AttributionList::layers ? "layer" : "part";
}

List list_of(const ViewContext& c, const Numbers& n) {
  const viz::Theme& theme = *c.theme;
  const AttributionList listed = c.options[kAttributionList];
  const bool sources = listed == AttributionList::sources, neurons = listed == AttributionList::neurons;
  const auto& [of_sources, of_neurons] = n.split;
  List list(c, kAttributionRows, static_cast<int>(n.names.size()));
  if (sources) list.number("", 5, n.ids, {.color = theme.text_muted, .digits = 0});
  list.text(heading_of(c), 9, n.names,
            {.heading = sources ? theme.key : theme.text_muted, .least = sources ? 0 : 10 * c.font_size});
  const int named = list.last();
  if (of_sources) {
    const auto weight = [&n](int row) { return n.split.sources->weights[n.ids[row]]; };
    list.number("weight", 6, weight, {.digits = 4, .scientific = 0.001});
  }
  if (of_neurons) {
    const auto activation = [&n](int row) { return n.split.neurons->activations[n.ids[row]]; };
    list.number(delta(c) + std::string("activation"), 6, activation, {.digits = 3});
  }
  list.bar(c.side == Side::difference ? "difference" : "logit", 8, n.values,
           {.digits = 4, .most = 20 * c.font_size, .is_signed = true});
  const int numbers = list.table.strength = list.last();
  const auto footer = [&](const std::string& name, const std::string& value, viz::Color color) {
    viz::FixedRow& row = list.table.footer.emplace_back();
    row = {list.cell(named, name), list.cell(numbers, value)};
    for (viz::FixedCell& cell : row) cell.color = color;
  };
  if (shows_unmatched(c, n))
    footer("only in the " + second_name(*c.run), viz::fixed_number(of_sources->unmatched, 4),
           theme.text_muted);
  if (of_neurons) footer("output bias", viz::fixed_number(of_neurons->bias, 4), theme.text_muted);
  const bool edited = of_sources ? of_sources->edited : of_neurons && of_neurons->edited;
  if (edited)
    footer("edits of its output", viz::fixed_number((of_sources ? of_sources->edits : of_neurons->edits), 4),
           theme.text_muted);
  const bool pending = (sources && !of_sources) || (neurons && !of_neurons);
  footer("sum", pending ? kComputing : viz::fixed_number(n.sum, 4), theme.text);
  if (listed != AttributionList::layers)
    list.table.row_names = sources ? "sources" : neurons ? "neurons" : "parts";
  const auto marked = std::ranges::find_if(n.ids, [&](int id) {
    if (neurons) return false;
    if (sources) return id == c.selection.key;
    if (listed == AttributionList::layers) return id == c.selection.layer;
    const Contribution& part = n.parts[id];
    return part.layer == c.selection.layer && part.col == c.selection.head;
  });
  if (marked != n.ids.end()) list.table.marked = static_cast<int>(marked - n.ids.begin());
  if (sources) list.table.mark = theme.key;
  return list;
}

viz::Region paint_grid(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  const Scales scales = scales_of(c, n);
  const viz::Matrix values = grid_of(n);
  const int mlp = values.cols - 1;
  std::vector<float> colored = n.grid;
  for (int layer = 0; layer < values.rows; ++layer) colored[layer * values.cols + mlp] = 0;  // they have bars
  viz::Heatmap map;
  map.cells.matrix = viz::Matrix::row_major(colored, values.rows, values.cols);
  map.cells.scale = scales.attention;
  map.show_scale = map.cell_values = false;
  map.rows = selectable_axis(c, n.layer_names, "layer", c.selection.layer);
  map.cols = selectable_axis(c, n.column_names, "head", c.selection.head);
  map.centered = !c.trimmed;
  map.role = kAttributionCell;
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style);
  const auto write = [&](int first, int count, float factor) {
    viz::HeatmapCells cells;
    cells.matrix = columns_of(values, first, count);
    cells.scale = scales.attention;
    const std::vector<float> factors(static_cast<std::size_t>(values.rows), factor);
    cells.row_factors = factors;
    const viz::Rect left = grid.cell_rect(0, first);
    viz::paint_cell_values(
        picture.scene, cells,
        viz::Region::grid(kAttributionCell, 0,
                          {left.x, grid.rect.y, left.w * static_cast<float>(count), grid.rect.h}, values.rows,
                          count),
        style);
  };
  if (grid.rect.w > 0 && grid.rect.h > 0) {
    write(0, mlp, 1);
    for (int layer = 0; layer < values.rows; ++layer)
      paint_bar_cell(picture.scene, c, grid.cell_rect(layer, mlp), static_cast<double>(values.at(layer, mlp)),
                     scales.others);
    write(mlp, 1, 0);  // on the colour of 0
  }
  // Columns other than heads are set apart.
  const float x = grid.cell_rect(0, n.of->n_head()).x;
  picture.scene.add(
      viz::FillRect{{x - style.unit() / 2, grid.rect.y, style.unit(), grid.rect.h}, c.theme->surface});
  const int framed = c.options[kAttributionList] == AttributionList::neurons ? mlp : c.selection.head;
  picture.scene.add(viz::StrokeRect{grid.cell_rect(c.selection.layer, framed), c.theme->accent, 2, 1});
  return grid;
}

/// Paints the scale of the colours and that of the bars from `top` on: side by side, or below each other.
/// Returns their height.
float paint_scales(Picture& picture, const ViewContext& c, const Numbers& n, float left, float top,
                   float room) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small()), u = style.unit(), sample = 8 * u;
  const Scales scales = scales_of(c, n);
  const std::string logit = delta(c) + std::string("logit of "), full = viz::number(scales.others, 3);
  const auto width_of = [&](const std::string& title) {
    viz::Scene measured;
    return viz::paint_color_scale_line(measured, scales.attention, title, {0, 0}, style);
  };
  const auto fits = [&](const std::string& words) {
    return sample + 2 * u + style.width(words, style.small()) <= room;
  };
  std::string colors = logit + "heads and bias", bars = logit + "MLPs and other parts, full bar " + full;
  if (!fits(bars) || width_of(colors) > room) colors = "heads, bias", bars = "MLPs, others: full bar " + full;
  const float width = width_of(colors);
  float x = left, y = top + line / 2;
  picture.whole &=
      viz::paint_color_scale_in(picture.scene, scales.attention, colors, std::nullopt, {x, y}, room, style);
  x += width + 6 * u;
  if (x + sample + 2 * u + style.width(bars, style.small()) > left + room) x = left, y += line + u;
  const viz::Rect swatch{x, std::round(y - u / 2), sample, u};
  picture.scene.add(viz::FillRect{{swatch.x, swatch.y, sample / 2, u}, viz::sign_color(*c.theme, -1)});
  picture.scene.add(
      viz::FillRect{{swatch.x + sample / 2, swatch.y, sample / 2, u}, viz::sign_color(*c.theme, 1)});
  paint_note(picture, c, bars, {x + sample + 2 * u, y}, left + room - x - sample - 2 * u);
  return y + line / 2 + u - top;
}

/// Paints the parts outside the layers as a row of cells. Returns whether they fit.
bool paint_ends(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Rect& line) {
  const viz::Style style = style_of(c);
  const double full = scales_of(c, n).others;
  const float gap = 2 * style.unit(), small = style.small();
  const std::vector<std::string> names = end_names(*n.of);
  const auto count = static_cast<float>(names.size());
  const float room = line.w - gap * (count - 1);
  float widest = 0, all = 0;
  for (const std::string& name : names) {
    widest = std::max(widest, style.width(name, small));
    all += style.width(name, small);
  }
  if (all > room) return false;
  // As wide as each other, or else as their names need.
  const bool even = widest <= room / count;
  float x = line.x;
  for (int end = 0; end < std::ssize(names); ++end) {
    const auto value = end_of(*n.of, end);
    const float width = even ? room / count : style.width(names[end], small) + (room - all) / count;
    const viz::Rect cell{style.snapped(x), style.snapped(line.y + line.h / 2), width, line.h / 2};
    viz::add_label(picture.scene, style, names[end], {cell.center().x, line.y + line.h / 4}, small,
                   c.theme->text_muted, viz::FontStyle::regular, viz::Align::center, width);
    picture.scene.add(viz::FillRect{cell, viz::diverging(*c.theme, 0), 1});
    paint_bar_cell(picture.scene, c, cell, value, full);
    viz::add_label(picture.scene, style, viz::fixed_number(value, 3), cell.center(), small, c.theme->text,
                   viz::FontStyle::regular, viz::Align::center, width);
    picture.regions.push_back({.role = kAttributionEnd, .id = end, .rect = cell});
    x += width + gap;
  }
  return true;
}

}  // namespace

std::vector<std::string> end_names(const Attribution& of) {
  std::vector<std::string> names{"token embedding", "position embedding", "ln_f bias"};
  if (of.edited) names.emplace_back("edits");
  return names;
}

double end_of(const Attribution& of, int which) {
  return std::array{of.token_embedding, of.position_embedding, of.final_bias, of.edits}[which];
}

std::string sum_words(const AttributionNumbers& n) {
  const Attribution& a = *n.of;
  return "all parts " + viz::fixed_number(a.sum(), 4) + ", the model's " +
         (a.against < 0 ? "logit " : "difference ") + viz::fixed_number(a.logit, 4) + ", rounding error " +
         viz::number(a.rounding_error(), 2);
}

AttributionNumbers attribution_numbers(std::shared_ptr<const Attribution> of, AttributionList list,
                                       AttributionSplit split, const PromptTokens& tokens) {
  AttributionNumbers n;
  n.of = std::move(of);
  n.split = std::move(split);
  const Attribution& a = *n.of;
  n.parts = parts_of(a);
  for (const Contribution& part : n.parts)
    if (part.layer >= 0) n.grid.push_back(static_cast<float>(part.value));
  for (int layer = 0; layer < a.layers; ++layer) n.layer_names.push_back("L" + std::to_string(layer));
  for (int head = 0; head < a.n_head(); ++head) n.column_names.push_back("H" + std::to_string(head));
  n.column_names.insert(n.column_names.end(), {"bias", "MLP"});
  if (list == AttributionList::parts) add_part_rows(n);
  if (list == AttributionList::layers) add_layer_rows(n);
  if (list == AttributionList::sources) add_source_rows(n, tokens);
  if (list == AttributionList::neurons) add_neuron_rows(n);
  return n;
}

const ListRows kAttributionRows{
    .role = kAttributionRow, .first = kFirstContribution, .names = "rows", .keys = ListKeys::pages};

bool shows_unmatched(const ViewContext& c, const AttributionNumbers& n) {
  return c.side == Side::difference && compares_different_inputs(*c.run) && n.split.sources &&
         n.split.sources->unmatched != 0;
}

Picture attribution_picture(const ViewContext& c, const Numbers& n, const AttributionWords& words) {
  const viz::Style style = style_of(c);
  // Height of the row of parts outside the layers.
  const float ends_h = 2 * (style.line(style.small()) + style.unit()), scales_h = ends_h;
  const model::Config& config = c.run->run->config;
  const float shape = static_cast<float>(config.n_layer) / static_cast<float>(config.n_head + 2);
  ChartAndList l =
      lay_out_with_list(c, 36, 0.6F, 32, 2 * ends_h + scales_h + style.line(style.small()), shape);
  List list = list_of(c, n);
  list.lay_out(l.list);
  const bool lists = l.list.w > 0 && list.layout().places.size() > 1;
  if (!lists) l.chart.w = below_title(c).w;
  if (l.chart.w < 12 * c.font_size || l.chart.h < 6 * c.font_size) return too_small(c, "for the parts");
  Picture picture = blank(c);
  paint_title(picture, c, words.title, words.subtitle);
  const viz::Region grid = paint_grid(picture, c, n, l.chart);
  float y = std::min(l.chart.bottom(), grid.rect.bottom() + 2 * style.unit()) + style.unit();
  y += paint_scales(picture, c, n, l.chart.x, y, l.chart.w) + style.unit();
  const bool ends = paint_ends(picture, c, n, {l.chart.x, y, l.chart.w, ends_h});
  const float words_y = y + (ends ? ends_h + 2 * style.unit() : 0);
  const std::string note = words.note + (lists       ? list.note("; listed: ")
                                         : c.in_pane ? "; a wider pane has a list"
                                                     : "; not shown: the numbers of all parts");
  paint_small_lines(picture, c, viz::wrap(style, note, style.small(), viz::FontStyle::regular, l.chart.w),
                    {l.chart.x, words_y}, l.chart.w);
  if (lists) list.paint(picture);
  // The list of parts may be missing: the grid shows them, too.
  picture.whole =
      picture.whole && ends && (lists || c.in_pane || c.options[kAttributionList] == AttributionList::parts);
  return picture;
}

AttributionTarget attribution_target(const ViewContext& c, const Numbers& n, const Picture& picture,
                                     const viz::Hit& hit) {
  using Target = AttributionTarget;
  const viz::Region& region = region_of(picture, hit);
  const auto part_at = [&](int layer, int col) -> Target {
    const auto found = std::ranges::find_if(
        n.parts, [&](const Contribution& part) { return part.layer == layer && part.col == col; });
    return {.part = found != n.parts.end() ? static_cast<int>(found - n.parts.begin()) : -1};
  };
  if (region.role == kAttributionCell) return part_at(hit.row, hit.col);
  if (region.role == kAttributionEnd) return part_at(-1, region.id);
  if (region.id >= std::ssize(n.ids)) return {};
  const int id = n.ids[region.id];
  const AttributionList list = c.options[kAttributionList];
  if (list == AttributionList::parts) return {.part = id};
  if (list == AttributionList::sources) return {.source = id};
  if (list == AttributionList::neurons) return {.neuron = id};
  return id < 0 ? part_at(-1, -1 - id) : Target{.layer = id};
}

std::optional<SelectHead> head_of_part(const Numbers& n, int index) {
  if (index < 0) return std::nullopt;
  const Contribution& part = n.parts[index];
  if (part.layer < 0 || part.col >= n.of->n_head()) return std::nullopt;
  return SelectHead{part.layer, part.col};
}

void frame_target(viz::Scene& overlay, const ViewContext& c, const Numbers& n, const Picture& picture,
                  const AttributionTarget& at) {
  const auto frame = [&](const viz::Rect& rect) {
    overlay.add(viz::StrokeRect{rect, c.theme->text, 1.5F, 1});
  };
  for (int i = 0; i < std::ssize(picture.regions); ++i) {
    const viz::Region& region = picture.regions[i];
    if (region.role != kAttributionCell) {
      if (attribution_target(c, n, picture, {i, 0, 0}) == at) frame(region.rect.inset(0.5F));
    } else if (at.part >= 0 && n.parts[at.part].layer >= 0) {
      frame(region.cell_rect(n.parts[at.part].layer, n.parts[at.part].col).inset(-0.5F));
    }
  }
}

std::optional<ViewActions> attribution_key(const ViewContext& c, const TableRows& rows,
                                           const Gesture& gesture) {
  const bool sideways = gesture.key == Key::left || gesture.key == Key::right;
  return gesture.modifiers.shift && sideways ? std::nullopt : keys_along_heads(c, rows, gesture);
}

viz::Point attribution_size(const ViewContext& c) {
  const float layers = c.run ? static_cast<float>(c.run->run->config.n_layer) : 1;
  return {70 * c.font_size, std::max(26 * c.font_size, (layers + 9) * 2.2F * c.font_size)};
}

}  // namespace headscope::app
