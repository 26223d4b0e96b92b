#include <tuple>

#include "app/run/analyses/parameters.h"
#include "app/views/parts/parts.h"
#include "model/pass/transformer.h"
#include "viz/charts/number_axis.h"

namespace headscope::app {
namespace parameters {

/// Roles of regions. row: id: its index in the table. map: rows and columns of the pooled values. bins: a
/// column for each bin. size: id: its index in the chart of sizes.
enum Role { kRow, kMap, kBins, kSize };

const auto kTensor = make_option<int>(
    "tensor", "Tensor", "the tensor whose values are shown (block tensors: of the chosen layer)",
    {.default_value = 4,
     .choices = {{"wte.weight", "wte", "Token embedding", "token embeddings"},
                 {"wpe.weight", "wpe", "Position embedding", "position embeddings"},
                 {"ln_1.weight", "ln_1.weight", "Gain before attention", "the first LayerNorm's gain"},
                 {"ln_1.bias", "ln_1.bias", "Bias before attention", "the first LayerNorm's bias"},
                 {"attn.c_attn.weight", "c_attn.weight", "Computes q, k and v of all heads"},
                 {"attn.c_attn.bias", "c_attn.bias", "Added to q, k and v", "bias of q, k and v"},
                 {"attn.c_proj.weight", "attn c_proj.weight",
                  "Maps the heads' outputs to the residual stream", "attention's output weights"},
                 {"attn.c_proj.bias", "attn c_proj.bias", "Added to the attention output",
                  "attention's output bias"},
                 {"ln_2.weight", "ln_2.weight", "Gain before the MLP", "the second LayerNorm's gain"},
                 {"ln_2.bias", "ln_2.bias", "Bias before the MLP", "the second LayerNorm's bias"},
                 {"mlp.c_fc.weight", "c_fc.weight", "Maps the residual stream to the MLP neurons",
                  "the MLP's input weights"},
                 {"mlp.c_fc.bias", "c_fc.bias", "Added to the neurons' inputs", "the MLP's input bias"},
                 {"mlp.c_proj.weight", "mlp c_proj.weight", "Maps the neurons to the residual stream",
                  "the MLP's output weights"},
                 {"mlp.c_proj.bias", "mlp c_proj.bias", "Added to the MLP output", "the MLP's output bias"},
                 {"ln_f.weight", "ln_f.weight", "Gain before the unembedding", "the final LayerNorm's gain"},
                 {"ln_f.bias", "ln_f.bias", "Bias before the unembedding", "the final LayerNorm's bias"},
                 {"lm_head.weight", "lm_head", "Unembedding, if not tied to wte", "unembedding"}},
     .control = Control::none});

const auto kFirstTensor = first_row_option("first-tensor");

// ---- the tensors ----

/// A line of the table: a tensor, or a whole block.
struct Line {
  std::string name;
  std::string shape;
  std::int64_t count = 0;
  const model::Parameter* tensor = nullptr;  ///< null: a block
  int layer = -1;                            ///< -1: outside the blocks
};

/// "256 × 1,024", or with another separator and without commas.
std::string shape_of(const model::Parameter& parameter, const char* between = " × ", bool commas = true) {
  std::string text;
  for (const std::int64_t extent : parameter.shape)
    text += (text.empty() ? "" : between) + (commas ? grouped(extent) : std::to_string(extent));
  return text;
}

/// The block of "h.3.ln_1.weight"; -1: none.
int layer_of(const std::string& name) {
  return name.starts_with("h.") ? std::stoi(name.substr(2)) : -1;
}

/// "ln_1.weight" for "h.3.ln_1.weight"; outside the blocks the whole name.
std::string_view name_in_block(const model::Parameter& parameter) {
  const std::string_view name = parameter.name;
  return layer_of(parameter.name) < 0 ? name : name.substr(name.find('.', 2) + 1);
}

/// All tensors; blocks other than the chosen one take one line each.
std::vector<Line> lines_of(const ViewContext& c) {
  std::vector<Line> lines;
  int block = -1;
  std::size_t of_block = 0;
  for (const model::Parameter& parameter : c.run->model->transformer->parameters()) {
    const int layer = layer_of(parameter.name);
    if (layer >= 0 && layer != block) {
      block = layer;
      of_block = lines.size();
      lines.push_back({"h." + std::to_string(layer), "block", 0, nullptr, layer});
    }
    if (layer >= 0) lines[of_block].count += model::value_count(parameter);
    if (layer >= 0 && layer != c.selection.layer) continue;
    const std::string name = (layer < 0 ? "" : "  ") + std::string(name_in_block(parameter));
    lines.push_back({name, shape_of(parameter), model::value_count(parameter), &parameter, layer});
  }
  return lines;
}

/// The parameter that the option selects; a tied unembedding is the embedding.
int tensor_of(const ViewContext& c) {
  const auto& parameters = c.run->model->transformer->parameters();
  const std::string name(kTensor.choices[c.options[kTensor]].name);
  const std::string in_block = "h." + std::to_string(c.selection.layer) + "." + name;
  const auto found = std::ranges::find_if(
      parameters, [&](const model::Parameter& p) { return p.name == name || p.name == in_block; });
  return found == parameters.end() ? 0 : static_cast<int>(found - parameters.begin());
}

const model::Parameter& parameter_of(const ViewContext& c) {
  return c.run->model->transformer->parameters()[tensor_of(c)];
}

/// The option's value for a parameter.
int choice_of(const model::Parameter& parameter) {
  const auto& choices = kTensor.choices;
  return static_cast<int>(std::ranges::find(choices, name_in_block(parameter), &Choice::name) -
                          choices.begin());
}

// ---- the chart of sizes ----

/// The size of a model, for comparison with others.
struct ModelSize {
  std::string name;
  int layers = 0;
  int width = 0;           ///< d_model
  std::int64_t count = 0;  ///< number of values of the parameters; tied ones count once
  bool loaded = false;     ///< whether it is the model that is shown
};

ModelSize size_of(const std::string& name, const model::Config& config) {
  ModelSize size{name, config.n_layer, config.n_embd};
  for (const model::Parameter& parameter : model::parameters_of(config)) size.count += value_count(parameter);
  return size;
}

/// The four sizes of GPT-2 (Radford et al. 2019) from small to large, counted from their configurations, and
/// the shown model if it is none of them.
std::vector<ModelSize> sizes_of(const ViewContext& c) {
  std::vector<ModelSize> sizes;
  for (const auto& [name, layers, width] : {std::tuple{"GPT-2 small", 12, 768},
                                            {"GPT-2 medium", 24, 1024},
                                            {"GPT-2 large", 36, 1280},
                                            {"GPT-2 XL", 48, 1600}}) {
    model::Config config;
    config.n_layer = layers, config.n_embd = width, config.n_inner = 4 * width;
    config.n_ctx = 1024, config.vocab_size = 50257;
    sizes.push_back(size_of(name, config));
  }
  ModelSize own = size_of(c.run->model->name, c.run->run->config);
  own.loaded = true;
  const auto place = std::ranges::lower_bound(sizes, own.count, {}, &ModelSize::count);
  const bool is_known = place != sizes.end() && place->count == own.count && place->layers == own.layers;
  if (is_known)
    place->loaded = true;
  else
    sizes.insert(place, own);
  return sizes;
}

/// A number often quoted for GPT-2 small instead of its own; empty for other models.
std::string other_count(const ModelSize& size) {
  if (size.count != 124'439'808) return "";
  return "The often quoted 124,410,624 counts 768 biases per c_fc instead of 3,072 and omits ln_f.";
}

/// The same as lines under the chart, if GPT-2 small is loaded.
std::vector<std::string> ladder_note(const ViewContext& c, float width) {
  const viz::Style style = style_of(c);
  for (const ModelSize& size : sizes_of(c)) {
    const std::string words = size.loaded ? other_count(size) : "";
    if (!words.empty()) return viz::wrap(style, words, style.small(), viz::FontStyle::regular, width);
  }
  return {};
}

viz::BarChart ladder_of(const ViewContext& c) {
  viz::BarChart chart;
  chart.role = kSize;
  chart.longest = 2000;
  chart.unit = " M";
  chart.number_title = "values";
  chart.detail_title = "blocks × width";
  chart.marks = true;
  int id = 0;
  for (const ModelSize& size : sizes_of(c)) {
    viz::Bar bar;
    bar.label = size.name;
    bar.value = static_cast<double>(size.count) / 1e6;
    bar.number = grouped(size.count);
    bar.detail = std::to_string(size.layers) + " × " + grouped(size.width);
    bar.marked = size.loaded;
    bar.color = size.loaded ? c.theme->accent : c.theme->bar;
    bar.label_color = size.loaded ? c.theme->accent : c.theme->text;
    bar.id = id++;
    chart.longest = std::max(chart.longest, viz::round_limit(bar.value));
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

const ListRows kRows{.role = kRow, .first = kFirstTensor, .names = "rows"};

List list_of(const ViewContext& c, const std::vector<Line>& lines) {
  const std::int64_t total = c.run->model->transformer->parameter_count();
  const std::string sum = grouped(total);
  const auto line = [&lines](int row) -> const Line& { return lines[row]; };
  const auto share = [=](int row) {
    return static_cast<float>(100 * static_cast<double>(line(row).count) / static_cast<double>(total));
  };
  float largest = 0;
  for (int row = 0; row < std::ssize(lines); ++row) largest = std::max(largest, share(row));
  List list(c, kRows, static_cast<int>(lines.size()));
  list.text("tensor", 3, [=](int row) { return line(row).name; }, {.least = 10 * c.font_size});
  list.text("shape", 0, [=](int row) { return line(row).shape; }, {.color = c.theme->text_muted});
  const viz::Style style = style_of(c);
  const float sum_width = std::ceil(style.width(sum, style.small(), viz::FontStyle::medium)) + 1;
  list.number("values", 2, [=](int row) { return line(row).count; }, {.least = sum_width}).text =
      [=](int row) { return grouped(line(row).count); };
  list.bar("share, %", 1, share,
           {.digits = 2, .high = viz::round_limit(static_cast<double>(largest)), .axis = true});
  list.table.strength = list.last();
  list.table.strongest = "largest";
  list.table.footer = {
      {list.cell(0, c.run->run->config.tie_word_embeddings ? "total, tied counted once" : "total"),
       list.cell(2, sum), list.cell(3, "100.00")}};
  const auto marked = std::ranges::find(lines, &parameter_of(c), &Line::tensor);
  list.table.marked = marked == lines.end() ? -1 : static_cast<int>(marked - lines.begin());
  return list;
}

/// The table next to the chosen tensor and the chart of sizes; in a narrow area below each other.
struct Layout {
  viz::Rect table, tensor, ladder;  ///< h is 0: no room
  float notes_h = 0;                ///< height of the chart's note at the bottom
};

Layout lay_out(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, gap = 1.6F * em;
  const viz::Rect area = below_title(c);
  Layout l;
  l.table = area;
  if (area.w >= 44 * em && area.h >= 12 * em) {
    l.table.w = std::clamp(0.46F * area.w, 25 * em, 42 * em);
    const float x = l.table.right() + gap;
    l.tensor = {x, area.y, area.right() - x, area.h};
    const auto notes = static_cast<float>(ladder_note(c, l.tensor.w).size());
    l.notes_h = notes > 0 ? notes * style.line(style.small()) + style.unit() : 0;
    const float ladder_h = viz::bar_chart_height(sizes_of(c).size(), true, style) +
                           style.line(style.font_size) + style.unit() + l.notes_h;
    if (area.h >= ladder_h + 15 * em) {
      l.tensor.h -= ladder_h + gap;
      l.ladder = {x, l.tensor.bottom() + gap, l.tensor.w, ladder_h};
    }
  } else if (area.h >= 28 * em && area.w >= 16 * em) {
    l.tensor = {area.x, area.y + 0.5F * area.h, area.w, 0.5F * area.h};
    l.table.h = l.tensor.y - area.y - gap;
  }
  return l;
}

/// Draws a title, and a subtitle as far as it fits; returns the area below.
viz::Rect paint_heading(Picture& picture, const ViewContext& c, std::string_view title,
                        std::string_view words, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.font_size), middle = area.y + line / 2;
  viz::add_label(picture.scene, style, title, {area.x, middle}, style.font_size, c.theme->text,
                 viz::FontStyle::medium, viz::Align::left, area.w);
  const float used = style.width(title, style.font_size, viz::FontStyle::medium) + 2 * style.unit();
  if (used + style.width(words, style.small()) <= area.w)
    viz::add_label(picture.scene, style, words, {area.x + used, middle}, style.small(), c.theme->text_muted);
  const float top = line + style.unit();
  return {area.x, area.y + top, area.w, std::max(0.F, area.h - top)};
}

std::string statistics_of(const TensorPicture& p) {
  return "mean " + viz::number(p.mean, 3) + ", std. dev. " + viz::number(p.deviation, 3) + ", range " +
         viz::number(static_cast<double>(p.low), 3) + " to " + viz::number(static_cast<double>(p.high), 3);
}

constexpr double kOutliers = 0.005;  // fraction of cells allowed beyond the colours

/// Columns for the counts of values in equal bins, on numbered axes. Numbers and titles that do not fit are
/// left out.
void paint_histogram(Picture& picture, const ViewContext& c, const TensorPicture& p, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small()), u = style.unit();
  const bool titled = area.h >= 6 * line;  // with little room the columns are more important
  const float above = titled ? line + u : 0, below = (titled ? 2 : 1) * line + 1.5F * u;
  const viz::Rect plot{area.x, area.y + above, area.w, std::max(0.F, area.h - above - below)};
  const auto count = static_cast<int>(p.bins.size());
  const std::int64_t most = p.bins.empty() ? 0 : *std::ranges::max_element(p.bins);
  const viz::Region region = viz::Region::grid(kBins, 0, plot, 1, std::max(1, count));
  viz::PlotFrame axes{
      plot, {p.bins_low, p.bins_high}, {0, static_cast<double>(std::max<std::int64_t>(1, most))}};
  const viz::Color muted = c.theme->text_muted;
  if (titled) {
    axes.y.ticks = viz::labelled_ticks(0, axes.y.high, viz::upright_tick_count(plot.h, 3, style));
    viz::paint_y_numbers(picture.scene, axes, style);
    const std::string beyond = p.beyond > 0 ? "; " + grouped(p.beyond) + " beyond" : "";
    viz::add_whole_label(picture.scene, style, "number of values" + beyond, {plot.x, area.y + line / 2},
                         plot.w, muted);
  }
  for (int i = 0; i < count && most > 0; ++i) {
    const viz::Rect cell = region.cell_rect(0, i);
    const auto part = static_cast<float>(static_cast<double>(p.bins[i]) / static_cast<double>(most));
    const float left = style.snapped(cell.x), right = style.snapped(cell.right()), h = part * plot.h;
    if (part > 0) picture.scene.add(viz::FillRect{{left, plot.bottom() - h, right - left, h}, c.theme->bar});
  }
  picture.scene.add_line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, muted);
  const float y = plot.bottom() + 1.5F * u + line / 2;
  const int across = std::max(3, static_cast<int>(plot.w / (5 * style.font_size)));
  if (axes.x.high > axes.x.low) axes.x.ticks = viz::labelled_ticks(axes.x.low, axes.x.high, across, 0);
  // The last number may reach half beyond the plot, where a colour scale is elsewhere.
  viz::paint_x_numbers(picture.scene, axes,
                       {plot.bottom(), plot.bottom() + u, muted, y, plot.x, plot.right() + 2 * u}, style);
  if (titled)
    viz::add_whole_label(picture.scene, style, "value", {plot.center().x, y + line}, plot.w, muted,
                         viz::FontStyle::regular, viz::Align::center);
  picture.regions.push_back(region);
}

void paint_tensor(Picture& picture, const ViewContext& c, const TensorPicture* p, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit(), line = style.line(style.small());
  const model::Parameter& parameter = parameter_of(c);
  viz::Rect below = paint_heading(picture, c, parameter.name, "[" + shape_of(parameter) + "]", area);
  const bool there = p != nullptr && !p->pooled.empty();
  std::string words = there ? statistics_of(*p) : c.failure(PictureOfTensor{tensor_of(c)});
  if (words.empty()) words = kComputing;
  const std::vector<std::string> lines =
      viz::wrap(style, words, style.small(), viz::FontStyle::regular, below.w);
  paint_small_lines(picture, c, lines, {below.x, below.y}, below.w);
  const float more = line * static_cast<float>(std::ssize(lines) - 1);
  viz::Point note{below.x + style.width(lines.back(), style.small()) + 3 * u, below.y + more + line / 2};
  // The note on pooling gets its own line if the statistics leave no room for it.
  float used = more + line + 2 * u;
  if (below.right() - note.x < 15 * em && below.h >= 20 * em) {
    note = {below.x, note.y + line};
    used += line;
  }
  below.y += used, below.h -= used;
  if (!there || below.h < 4 * em || below.w < 8 * em) return;
  float bins_h = below.h >= 12 * em ? std::min(9 * em, 0.3F * below.h) : 0;
  if (p->rows == 1 && bins_h > 0) bins_h = std::min(16 * em, 0.6F * below.h);
  viz::Rect map = below;
  const viz::ColorScale scale = viz::robust_scale(p->matrix(), kOutliers, {p->low, p->high, 0});
  const float scale_w = viz::color_scale_width(scale, "value", std::nullopt, style);
  const float numbers_w = viz::row_numbers_width(p->rows, style),
              numbers_h = viz::column_numbers_height(style);
  map.h -= bins_h + (bins_h > 0 ? 2 * u : 0);
  const bool numbered = map.h >= 7 * em && map.w >= numbers_w + scale_w + 8 * em;
  if (numbered) {
    map.x += numbers_w, map.w -= numbers_w + scale_w + 4 * u;
    map.h -= numbers_h;
  }
  if (p->rows == 1) map.h = std::min(map.h, 2 * em);
  viz::Region grid;
  grid.role = kMap;
  grid.rect = map;
  grid.rows = grid.row_count = p->pooled_rows;
  grid.cols = grid.col_count = p->pooled_cols;
  viz::HeatmapCells cells;
  cells.matrix = p->matrix();
  cells.scale = scale;
  viz::paint_cells(picture.scene, cells, grid, style);
  picture.regions.push_back(grid);
  viz::PooledCells pooled = viz::pooled_cells(grid, style);
  pooled.rows *= static_cast<double>(p->rows) / p->pooled_rows;
  pooled.cols *= static_cast<double>(p->cols) / p->pooled_cols;
  viz::add_label(picture.scene, style,
                 viz::pooling_words(cells.pooling, pooled, below.right() - note.x, style), note,
                 style.small(), c.theme->text_muted);
  if (numbered) {
    viz::Region axes = grid;
    axes.rows = axes.row_count = p->rows;
    axes.cols = axes.col_count = p->cols;
    viz::paint_column_numbers(picture.scene, axes, p->rows > 1 ? "column" : "component", style);
    if (p->rows > 1) viz::paint_row_numbers(picture.scene, axes, "row", style);
    viz::paint_color_scale(picture.scene, scale, "value", std::nullopt,
                           {map.right() + 4 * u, map.y, scale_w, std::max(map.h, 6 * em)}, style);
  }
  if (bins_h <= 0) return;
  paint_histogram(picture, c, *p, {map.x, below.bottom() - bins_h, map.w, bins_h});
}

Picture build(const ViewContext& c) {
  if (auto words = waiting(c)) return *words;
  const viz::Style style = style_of(c);
  const Layout l = lay_out(c);
  const auto tensor = l.tensor.h > 0 ? c.ask(PictureOfTensor{tensor_of(c)}) : nullptr;
  const std::vector<Line> lines = lines_of(c);
  List list = list_of(c, lines);
  list.lay_out(l.table);
  if (list.layout().rows.empty() || list.layout().places.empty()) return too_small(c, "for the table");
  Picture picture = blank(c);
  const model::Config& config = c.run->run->config;
  paint_title(picture, c, grouped(c.run->model->transformer->parameter_count()) + " parameters",
              std::to_string(config.n_layer) + " blocks, " + std::to_string(config.n_head) +
                  " heads, width " + grouped(config.n_embd) + ", " + grouped(config.vocab_size) +
                  " tokens, " + grouped(config.n_ctx) + " positions" + list.note("; "));
  // Parts left out for lack of room do not make the picture incomplete.
  const bool whole = picture.whole;
  list.paint(picture);
  if (l.tensor.h > 0) paint_tensor(picture, c, tensor.get(), l.tensor);
  if (l.ladder.h > 0) {
    viz::Rect below = paint_heading(picture, c, "The sizes of GPT-2", "from their config files", l.ladder);
    below.h -= l.notes_h;
    viz::paint_bar_chart(picture, ladder_of(c), below, style);
    paint_small_lines(picture, c, ladder_note(c, below.w), {below.x, below.bottom() + style.unit()});
  }
  picture.whole = whole;
  return picture;
}

/// "17", or if several are pooled "16–18".
std::string range_words(int first, int end) {
  const std::string name = std::to_string(first);
  return end - first > 1 ? name + "–" + std::to_string(end - 1) : name;
}

std::vector<std::string> cell_lines(const ViewContext& c, const TensorPicture& p, const viz::Hit& hit) {
  const std::string cols = range_words(p.first_col(hit.col), p.first_col(hit.col + 1)),
                    rows = range_words(p.first_row(hit.row), p.first_row(hit.row + 1));
  const bool one = p.pooled_rows == p.rows && p.pooled_cols == p.cols;
  return {parameter_of(c).name, p.rows > 1 ? "row " + rows + ", column " + cols : "component " + cols,
          (one ? "" : "largest magnitude ") + exact(p.matrix().at(hit.row, hit.col))};
}

std::vector<std::string> bin_lines(const ViewContext& c, const TensorPicture& p, int bin) {
  const double step = (p.bins_high - p.bins_low) / static_cast<double>(p.bins.size());
  const std::int64_t count = p.bins[bin];
  std::vector<std::string> lines{
      parameter_of(c).name,
      viz::number(p.bins_low + bin * step, 3) + " to " + viz::number(p.bins_low + (bin + 1) * step, 3),
      grouped(count) + " values, " +
          percent(static_cast<double>(count) / (static_cast<double>(p.rows) * static_cast<double>(p.cols)))};
  if (p.beyond > 0) lines.push_back(grouped(p.beyond) + " more than four standard deviations from the mean");
  return lines;
}

std::vector<std::string> line_lines(const ViewContext& c, const Line& line) {
  const auto total = static_cast<double>(c.run->model->transformer->parameter_count());
  const std::string values =
      grouped(line.count) + " values, " + percent(static_cast<double>(line.count) / total);
  if (!line.tensor) return {"block " + std::to_string(line.layer), values};
  return {line.tensor->name + " [" + line.shape + "]", values,
          std::string(kTensor.choices[choice_of(*line.tensor)].help)};
}

/// A row for each tensor and each block; facts are all values, and the four published sizes.
Table table(const ViewContext& c) {
  if (!c.run) return {};
  Table result{"tensor", note_column("shape"), "values", "share",
               "mean",   "standard deviation", "lowest", "highest"};
  const auto shown = c.ask(PictureOfTensor{tensor_of(c)});
  const model::Transformer& transformer = *c.run->model->transformer;
  const std::int64_t total = transformer.parameter_count();
  for (const model::Parameter& parameter : transformer.parameters()) {
    const std::int64_t count = model::value_count(parameter);
    TableRow row;
    add_cells(row, parameter.name, shape_of(parameter, " x ", false), count,
              static_cast<double>(count) / static_cast<double>(total));
    if (&parameter == &parameter_of(c) && shown)
      add_cells(row, shown->mean, shown->deviation, shown->low, shown->high);
    result.add(std::move(row));
  }
  for (const Line& line : lines_of(c))
    if (line.tensor == nullptr)
      add_row(result, line.name, line.shape, line.count,
              static_cast<double>(line.count) / static_cast<double>(total));
  result.fact("values", total);
  for (const ModelSize& size : sizes_of(c)) result.fact("values of " + size.name, size.count);
  return result;
}

/// The action of a click on a line: opens its block, or shows its tensor.
ViewActions choose(const ViewContext& c, const Line& line) {
  if (!line.tensor) return {SelectHead{line.layer, c.selection.head}};
  return {SetOption{&kTensor, choice_of(*line.tensor)}};
}

/// Selects the tensor of the row above or below.
ViewActions move_tensor(const ViewContext& c, int by) {
  const std::vector<Line> lines = lines_of(c);
  const auto now = std::ranges::find(lines, &parameter_of(c), &Line::tensor);
  for (auto i = now - lines.begin() + by; i >= 0 && i < std::ssize(lines); i += by)
    if (lines[i].tensor) return choose(c, lines[i]);
  return {};
}

std::optional<ViewActions> on_key(const ViewContext& c, const TableRows& rows, const Gesture& gesture) {
  const bool up = gesture.key == Key::up, down = gesture.key == Key::down;
  if (gesture.modifiers.shift && (up || down)) return move_tensor(c, up ? -1 : 1);
  if (gesture.key == Key::left) return ViewActions{MoveHead{-1, 0}};
  if (gesture.key == Key::right) return ViewActions{MoveHead{1, 0}};
  return rows.by_key(gesture.key).value_or(ViewActions{});
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const std::vector<Line> lines = lines_of(c);
  return region.role == kRow && region.id < std::ssize(lines) ? choose(c, lines[region.id]) : ViewActions{};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  Facts facts;
  if (!c.run) return facts;
  const auto framed = [&](const viz::Rect& frame, std::vector<std::string> lines) {
    facts.overlay.add(viz::StrokeRect{frame.inset(-0.5F), c.theme->text, 1});
    facts.say(std::move(lines));
  };
  if (region.role == kRow) {
    const std::vector<Line> lines = lines_of(c);
    if (region.id >= std::ssize(lines)) return facts;
    const Line& line = lines[region.id];
    const std::string count = std::to_string(line.count);
    framed(region.rect, line_lines(c, line));
    facts.commands.push_back(
        {line.tensor ? "Show values" : "Open block " + std::to_string(line.layer), choose(c, line)});
    facts.copy(count, count);
    return facts;
  }
  if (region.role == kSize) {
    const std::vector<ModelSize> sizes = sizes_of(c);
    if (region.id >= std::ssize(sizes)) return facts;
    const ModelSize& size = sizes[region.id];
    framed(region.rect, {size.name, grouped(size.count) + " values",
                         std::to_string(size.layers) + " blocks of width " + grouped(size.width)});
    facts.say(other_count(size));
    return facts;
  }
  const auto p = c.ask(PictureOfTensor{tensor_of(c)});
  const bool there = p && !p->pooled.empty() && hit.row < p->pooled_rows;
  if (there && region.role == kMap && hit.col < p->pooled_cols) {
    framed(region.cell_rect(hit.row, hit.col), cell_lines(c, *p, hit));
    facts.number("", p->matrix().at(hit.row, hit.col), Fact::Location::menu);
  } else if (there && region.role == kBins && hit.col < std::ssize(p->bins)) {
    framed(region.cell_rect(0, hit.col), bin_lines(c, *p, hit.col));
  } else {
    framed(region.rect, {parameter_of(c).name, kComputing});
  }
  return facts;
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  const TableRows rows = rows_in(kRows, c, picture);
  return rows.bars(rows.place.right() + style_of(c).unit());
}

/// The table without a scroll bar, next to the tensor and the chart of sizes.
viz::Point figure_size(const ViewContext& c) {
  if (!c.run) return {c.width, c.height};
  const std::vector<Line> lines = lines_of(c);
  const float rows = viz::table_height(list_of(c, lines).table, style_of(c));
  return {std::max(c.width, 72 * c.font_size),
          std::max(44 * c.font_size, below_title(c).y + rows + 2 * margin(c))};
}

}  // namespace parameters

View parameters_view() {
  using namespace parameters;
  View view = make_view(Group::model, "parameters", "Parameters",
                        "every tensor of the model with shape, share of the parameters and values; the GPT-2 "
                        "sizes for comparison",
                        build, facts, table);
  view.options = {&kTensor, &kFirstTensor};
  add_list(view, kRows, click, on_key);
  view.scrolls = scrolls;
  view.figure_size = figure_size;
  view.caption = {
      .prompt = false,
      .note = "the model's tensors with their shares of all parameters, and the values of the marked one"};
  view.landmarks = {landmark("tensors", kRow), landmark("values", kMap)};
  return view;
}

}  // namespace headscope::app
