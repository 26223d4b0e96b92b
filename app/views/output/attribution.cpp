
#include <algorithm>
#include <cmath>

#include "app/views/output/attribution_means.h"
#include "app/views/output/attribution_numbers.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/difference.h"
#include "app/views/parts/edit_menu.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/landmarks.h"
#include "app/views/parts/list.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/token_axes.h"
#include "viz/charts/heatmap.h"
#include "viz/scene/colormap.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

/// Roles of regions. cell: row: layer; col: a head, or after the heads attention's bias and the MLP. end: id:
/// an AttributionEnd. row: id: for parts their index, for layers the layer, for sources the position, for
/// neurons their number.
enum Role { kCell, kEnd, kRow };
using Numbers = AttributionNumbers;

const auto kList = choice_option<AttributionList>(
    "attribution-list", "List", "cC", "what is listed next to the grid",
    {{"parts", "Parts", "All parts of the model, strongest first"},
     {"layers", "Layers", "Each layer's heads, bias and MLP together", "by layer"},
     {"sources", "Sources", "The source tokens of the chosen head's part, strongest first",
      "the head's source tokens"},
     {"neurons", "Neurons", "The neurons of the MLP's part in the chosen layer, strongest first",
      "the layer's neurons"}});
const auto kFirstRow =
    first_row_option("first-contribution", "First contribution", "first row shown in the list", true);

// ---- the numbers ----

/// Nullopt until it is known which token's logit is attributed.
std::optional<AttributionOf> question_of(const ViewContext& c) {
  const auto tokens = logit_tokens(c);
  if (!tokens) return std::nullopt;
  return AttributionOf{std::max(0, c.selection.query), tokens->token, tokens->against};
}

std::string target_of(const ViewContext& c, const Attribution& a) {
  return logit_words(c, a.token, a.against);
}

/// Nullopt until a prompt is measured.
std::optional<Numbers> mean_numbers(const ViewContext& c) {
  const auto means = c.run && c.prompts ? c.ask(attribution_on_list(c)) : nullptr;
  auto parts = means ? mean_parts(*means, c.run->run->config) : nullptr;
  if (!parts) return std::nullopt;
  Numbers n = attribution_numbers(std::move(parts), c.options[kList], {}, c.run->tokens);
  n.means = means;
  return n;
}

/// Nullopt until there is an answer.
std::optional<Numbers> numbers_of(const ViewContext& c) {
  if (c.options[kMeanOverList]) return mean_numbers(c);
  const auto question = question_of(c);
  auto of = c.run && question ? c.ask(*question) : nullptr;
  if (!of) return std::nullopt;
  const Selection& at = c.selection;
  const AttributionList list = c.options[kList];
  AttributionSplit split;
  if (list == AttributionList::sources)
    split.sources = c.ask(SourcesOf{at.layer, at.head, at.query, of->token, of->against});
  if (list == AttributionList::neurons)
    split.neurons = c.ask(NeuronsOf{at.layer, at.query, of->token, of->against});
  return attribution_numbers(std::move(of), list, std::move(split), c.run->tokens);
}

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

// ---- the list ----

std::string heading_of(const ViewContext& c) {
  const AttributionList list = c.options[kList];
  if (list == AttributionList::sources) return head_name(c.selection.layer, c.selection.head) + " from";
  if (list == AttributionList::neurons) return "L" + std::to_string(c.selection.layer) + " neuron";
  return list == AttributionList::layers ? "layer" : "part";
}

/// Whether source tokens that only the baseline has contributed.
bool shows_unmatched(const ViewContext& c, const Numbers& n) {
  return c.side == Side::difference && compares_different_inputs(*c.run) && n.split.sources &&
         n.split.sources->unmatched != 0;
}

/// Whether the selected head and layer are marked: a figure of means is about none in particular.
bool marks_selection(const ViewContext& c, const Numbers& n) {
  return c.in_pane || !n.means;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "rows", .keys = ListKeys::pages};

List list_of(const ViewContext& c, const Numbers& n) {
  const viz::Theme& theme = *c.theme;
  const AttributionList listed = c.options[kList];
  const bool sources = listed == AttributionList::sources, neurons = listed == AttributionList::neurons;
  const auto& [of_sources, of_neurons] = n.split;
  List list(c, kRows, static_cast<int>(n.names.size()));
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
  if (n.means) {
    const auto mean = [&](int row) { return mean_of_listed(n, listed, row); };
    list.number("±", 7, [mean](int row) { return mean(row)->standard_error(); },
                {.color = theme.text_muted, .digits = 4, .scientific = 1e-4, .blank = [mean](int row) {
                   return mean(row) == nullptr || mean(row)->count() < 2;
                 }});
  }
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
    if (neurons || !marks_selection(c, n)) return false;
    if (sources) return id == c.selection.key;
    if (listed == AttributionList::layers) return id == c.selection.layer;
    const Contribution& part = n.parts[id];
    return part.layer == c.selection.layer && part.col == c.selection.head;
  });
  if (marked != n.ids.end()) list.table.marked = static_cast<int>(marked - n.ids.begin());
  if (sources) list.table.mark = theme.key;
  return list;
}

// ---- the drawing ----

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
  const bool marks = marks_selection(c, n);
  map.rows = selectable_axis(c, n.layer_names, "layer", marks ? c.selection.layer : -1);
  map.cols = selectable_axis(c, n.column_names, "head", marks ? c.selection.head : -1);
  map.centered = !c.trimmed;
  map.role = kCell;
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
        viz::Region::grid(kCell, 0, {left.x, grid.rect.y, left.w * static_cast<float>(count), grid.rect.h},
                          values.rows, count),
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
  const int framed = c.options[kList] == AttributionList::neurons ? mlp : c.selection.head;
  if (marks)
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
    picture.regions.push_back({.role = kEnd, .id = end, .rect = cell});
    x += width + gap;
  }
  return true;
}

/// The picture if there is nothing to ask.
std::optional<Picture> unasked(const ViewContext& c) {
  if (c.options[kMeanOverList]) {
    if (auto words = waiting_for_list(c)) return words;
    const std::string why = refuse_mean_list(c.options[kList]);
    return why.empty() ? waiting_for_first_prompt(c, attribution_on_list(c)) : message(c, why);
  }
  const auto question = question_of(c);
  if (!c.run) {
    static_cast<void>(c.ask(*question));
    return waiting(c);
  }
  if (c.side == Side::difference && compared_query(c) < 0) return no_counterpart(c);
  return question ? std::nullopt : std::optional(message(c, kComputing));
}

Picture build(const ViewContext& c) {
  if (auto words = unasked(c)) return *words;
  const auto n = numbers_of(c);
  if (!n) return *waiting(c, *question_of(c), false);
  const bool is_difference = c.side == Side::difference;
  const viz::Style style = style_of(c);
  // Height of the row of parts outside the layers.
  const float ends_h = 2 * (style.line(style.small()) + style.unit()), scales_h = ends_h;
  const model::Config& config = c.run->run->config;
  const float shape = static_cast<float>(config.n_layer) / static_cast<float>(config.n_head + 2);
  ChartAndList l = lay_out_with_list(c, 36, n->means ? 0.56F : 0.6F, 32,
                                     2 * ends_h + scales_h + style.line(style.small()), shape);
  List list = list_of(c, *n);
  list.lay_out(l.list);
  const bool lists = l.list.w > 0 && list.layout().places.size() > 1;
  if (!lists) l.chart.w = below_title(c).w;
  if (l.chart.w < 12 * c.font_size || l.chart.h < 6 * c.font_size) return too_small(c, "for the parts");
  Picture picture = blank(c);
  const std::string after = "after " + token_name(c.run->tokens, c.selection.query);
  if (n->means) {
    paint_title(picture, c, mean_attribution_title(*n->means), mean_attribution_subtitle(c, *n->means));
  } else if (is_difference) {
    paint_title(picture, c, "Logit of " + target_of(c, *n->of) + difference_suffix(c),
                after + ": " + query_difference_words(c) + ", each with its own ln_f scale");
  } else {
    paint_title(picture, c, "Logit of " + target_of(c, *n->of),
                after + ": what each part of the model adds, with the ln_f scale fixed at " +
                    viz::number(n->of->scale, 4));
  }
  const viz::Region grid = paint_grid(picture, c, *n, l.chart);
  float y = std::min(l.chart.bottom(), grid.rect.bottom() + 2 * style.unit()) + style.unit();
  y += paint_scales(picture, c, *n, l.chart.x, y, l.chart.w) + style.unit();
  const bool ends = paint_ends(picture, c, *n, {l.chart.x, y, l.chart.w, ends_h});
  const float words_y = y + (ends ? ends_h + 2 * style.unit() : 0);
  const bool of_one_logit = is_difference && n->of->against < 0;
  const std::string progress = n->means ? progress_words(c, *n->means) : "";
  const std::string words = (progress.empty() ? "" : progress + "; so far ") + sum_words(*n) +
                            (of_one_logit ? "; the probability depends on all logits, so it may move the "
                                            "other way"
                                          : "") +
                            (lists       ? list.note("; listed: ")
                             : c.in_pane ? "; a wider pane has a list"
                                         : "; not shown: the numbers of all parts");
  paint_small_lines(picture, c, viz::wrap(style, words, style.small(), viz::FontStyle::regular, l.chart.w),
                    {l.chart.x, words_y}, l.chart.w);
  if (lists) list.paint(picture);
  // The list of parts may be missing: the grid shows them, too.
  picture.whole = picture.whole && ends && (lists || c.in_pane || c.options[kList] == AttributionList::parts);
  return picture;
}

// ---- the mouse ----

/// What a region refers to: a part of the model, a layer, a source, or a neuron.
struct Target {
  int part = -1;  ///< index into the parts
  int layer = -1;
  int source = -1;
  int neuron = -1;
  bool operator==(const Target&) const = default;
};

Target target_of(const ViewContext& c, const Numbers& n, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto part_at = [&](int layer, int col) -> Target {
    const auto found = std::ranges::find_if(
        n.parts, [&](const Contribution& part) { return part.layer == layer && part.col == col; });
    return {.part = found != n.parts.end() ? static_cast<int>(found - n.parts.begin()) : -1};
  };
  if (region.role == kCell) return part_at(hit.row, hit.col);
  if (region.role == kEnd) return part_at(-1, region.id);
  if (region.id >= std::ssize(n.ids)) return {};
  const int id = n.ids[region.id];
  const AttributionList list = c.options[kList];
  if (list == AttributionList::parts) return {.part = id};
  if (list == AttributionList::sources) return {.source = id};
  if (list == AttributionList::neurons) return {.neuron = id};
  return id < 0 ? part_at(-1, -1 - id) : Target{.layer = id};
}

std::string percent_of_sum(const Attribution& a, double value) {
  return a.sum() != 0 ? viz::fixed_number(100 * value / a.sum(), 1) + " % of the sum" : "";
}

/// "L5 H1" and its contribution.
std::pair<std::string, double> name_and_value(const ViewContext& c, const Numbers& n, const Target& at) {
  if (at.part >= 0) return {n.parts[at.part].name, n.parts[at.part].value};
  if (at.layer >= 0) return {"layer " + std::to_string(at.layer), n.of->layer(at.layer)};
  if (at.neuron >= 0) return {neuron_name(c.selection.layer, at.neuron), n.split.neurons->parts[at.neuron]};
  return {token_name(c.run->tokens, at.source) + " through " + head_name(c.selection.layer, c.selection.head),
          n.split.sources->parts[at.source]};
}

/// The head of a part; none for other parts.
std::optional<SelectHead> head_of(const Numbers& n, int index) {
  if (index < 0) return std::nullopt;
  const Contribution& part = n.parts[index];
  if (part.layer < 0 || part.col >= n.of->n_head()) return std::nullopt;
  return SelectHead{part.layer, part.col};
}

/// Lists the neurons of a part that is an MLP; nothing for other parts, and for means.
ViewActions neurons_shown(const ViewContext& c, const Numbers& n, int index) {
  if (index < 0 || n.means) return {};
  const Contribution& part = n.parts[index];
  if (part.layer < 0 || part.col != n.of->n_head() + 1) return {};
  return {SelectHead{part.layer, c.selection.head},
          SetOption{&kList, static_cast<int>(AttributionList::neurons)}};
}

std::optional<ViewActions> on_key(const ViewContext&, const TableRows&, const Gesture& gesture) {
  if (gesture.key == Key::up) return ViewActions{MoveHead{-1, 0}};
  if (gesture.key == Key::down) return ViewActions{MoveHead{1, 0}};
  if (gesture.modifiers.shift || (gesture.key != Key::left && gesture.key != Key::right)) return std::nullopt;
  return ViewActions{MoveHead{0, gesture.key == Key::left ? -1 : 1}};
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto n = numbers_of(c);
  if (!n) return {};
  const Target at = target_of(c, *n, picture, hit);
  if (at.source >= 0) return {clicked_key(c, at.source)};
  const auto head = head_of(*n, at.part);
  if (!head) return neurons_shown(c, *n, at.part);
  ViewActions actions{*head};
  // The list keeps to what was clicked: a head has no neurons.
  if (c.options[kList] == AttributionList::neurons)
    actions.emplace_back(SetOption{&kList, static_cast<int>(AttributionList::sources)});
  return actions;
}

/// Frames everything that refers to `at`: in the grid, next to it and in the list.
void frame_all(viz::Scene& overlay, const ViewContext& c, const Numbers& n, const Picture& picture,
               const Target& at) {
  const auto frame = [&](const viz::Rect& rect) {
    overlay.add(viz::StrokeRect{rect, c.theme->text, 1.5F, 1});
  };
  for (int i = 0; i < std::ssize(picture.regions); ++i) {
    const viz::Region& region = picture.regions[i];
    if (region.role != kCell) {
      if (target_of(c, n, picture, {i, 0, 0}) == at) frame(region.rect.inset(0.5F));
    } else if (at.part >= 0 && n.parts[at.part].layer >= 0) {
      frame(region.cell_rect(n.parts[at.part].layer, n.parts[at.part].col).inset(-0.5F));
    }
  }
}

/// Whether edits of the output of a head or an MLP come after what is listed of it.
bool is_before_edits(const Numbers& n, const Target& at) {
  return at.source >= 0 ? n.split.sources->edited : at.neuron >= 0 && n.split.neurons->edited;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  const Target at = n ? target_of(c, *n, picture, hit) : Target{};
  if (at == Target{}) return facts;
  frame_all(facts.overlay, c, *n, picture, at);
  const auto [name, value] = name_and_value(c, *n, at);
  const std::string what = n->of->against < 0 ? "logit" : "difference";
  const bool is_difference = c.side == Side::difference;
  facts.say(name);
  if (const SampleMean* mean = mean_of_row(*n, at.part, at.layer)) {
    say_mean(facts, "contribution to the " + what, *mean, 1, false);
    if (const auto head = head_of(*n, at.part)) facts.commands.push_back({"Show " + name, {*head}});
    return facts;
  }
  facts.say(is_difference ? difference_prefix(c) + what + " through it " + exact(value)
                          : "adds " + exact(value) + " to the " + what +
                                (is_before_edits(*n, at) ? ", before the edits of its output" : ""));
  facts.number("contribution", value, Fact::Location::menu);
  if (at.source >= 0) {
    facts.number(is_difference ? difference_prefix(c) + std::string("weight") : "weight",
                 n->split.sources->weights[at.source]);
    add_choice_of_key(facts.commands, c, at.source, c.selection.query);
    facts.commands.push_back(choose_query(c, at.source));
  } else if (at.neuron >= 0) {
    facts.number(difference_prefix(c) + std::string("activation"), n->split.neurons->activations[at.neuron]);
    add_neuron_edit(facts.commands, c, c.selection.layer, at.neuron);
  } else {
    facts.say(percent_of_sum(*n->of, value));
  }
  if (const auto head = head_of(*n, at.part)) facts.commands.push_back({"Show " + name, {*head}});
  if (ViewActions neurons = neurons_shown(c, *n, at.part); !neurons.empty())
    facts.commands.push_back({"Show neurons of " + name, std::move(neurons)});
  return facts;
}

// ---- the table ----

/// A row for each part, their sum, and if listed the sources of the selected head or the neurons of the
/// selected layer.
Table table(const ViewContext& c) {
  Table result;
  const auto n = numbers_of(c);
  if (!n) return result;
  if (n->means) return table_of(n->means->means);
  const Attribution& a = *n->of;
  const std::string what = difference_column_prefix(c);
  const auto& [sources, neurons] = n->split;
  if (neurons)
    result.header = {"part", "layer", "head", "neuron", what + "activation", what + "logit"};
  else
    result.header = {"part", "layer", "head", "source", "source token", what + "weight", what + "logit"};
  const auto add = [&](const std::string& name, double value, std::optional<int> layer = {},
                       std::optional<int> head = {}) {
    add_row(result, name, layer, head);
    result.rows.back().back() = in_file(value);
  };
  for (const Contribution& part : n->parts) {
    if (part.layer < 0) {
      add(part.name, part.value);
    } else {
      add(part.name, part.value, part.layer, part.col < a.n_head() ? std::optional(part.col) : std::nullopt);
    }
  }
  add("sum", a.sum());
  add("rounding error", a.rounding_error());
  add("logit of " + target_of(c, a), a.logit);
  if (c.side != Side::difference) add("ln_f scale", a.scale);  // each side has its own
  if (c.options[kList] == AttributionList::layers)
    for (int layer = 0; layer < a.layers; ++layer) add("all of layer", a.layer(layer), layer);
  const auto [layer, head, query, chosen] = c.selection;
  if (sources) {
    if (shows_unmatched(c, *n)) add("sources of the " + second_name(*c.run) + " alone", sources->unmatched);
    if (sources->edited) add("edits of its output", sources->edits, layer, head);
    for (int key = 0; key < std::ssize(sources->parts); ++key)
      add_row(result, head_name(layer, head), layer, head, key, c.run->tokens.labels[key],
              sources->weights[key], sources->parts[key]);
  }
  if (neurons) {
    const std::string name = "L" + std::to_string(layer) + " MLP";
    add("output bias of " + name, neurons->bias, layer);
    if (neurons->edited) add("edits of its output", neurons->edits, layer);
    for (int neuron = 0; neuron < std::ssize(neurons->parts); ++neuron)
      add_row(result, name, layer, "", neuron, neurons->activations[neuron], neurons->parts[neuron]);
  }
  return result;
}

std::string refuse(const ViewContext& c) {
  if (std::string words = refuse_token_id(c, {&kLogitId, &kLogitOtherId}); !words.empty()) return words;
  const std::string why = c.options[kMeanOverList] ? refuse_mean_list(c.options[kList]) : "";
  return why.empty() ? why : why + "; see --" + std::string(kList.flag_name());
}

viz::Point figure_size(const ViewContext& c) {
  const float layers = c.run ? static_cast<float>(c.run->run->config.n_layer) : 1;
  return {70 * c.font_size, std::max(26 * c.font_size, (layers + 9) * 2.2F * c.font_size)};
}

}  // namespace

View attribution_view() {
  View view = make_view(Group::output, "attribution", "Attribution",
                        "what each head, MLP, bias and embedding adds to a logit or logit difference", build,
                        facts, table);
  view.options = {&kMeanOverList, &kLogitRank, &kAgainstRank, &kList, &kFirstRow, &kLogitId, &kLogitOtherId};
  view.tokens = logit_token_options();
  view.refuse = refuse;
  add_means(view);
  view.commands = query_steps_of_prompt("Previous query", "Next query");
  add_list<kRows, click, on_key>(view);
  view.shows_difference = true;
  view.needs = Capability::weights | Capability::mlp;
  view.figure_size = figure_size;
  view.caption = {true, true, true};
  view.landmarks = {
      landmark<kCell>("grid"),
      {"head", [](const ViewContext& c,
                  const Picture& p) { return around_cells(p, kCell, c.selection.layer, c.selection.head); }},
      landmark<kRow>("list")};
  return view;
}

}  // namespace headscope::app
