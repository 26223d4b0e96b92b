#include "app/run/analyses/parameters.h"
#include "app/views/parts/parts.h"
#include "model/pass/transformer.h"
#include "viz/charts/function_plot.h"

namespace headscope::app::parameters {

/// Roles of regions. row: id: its index in the table. map: rows and columns of the pooled values. bins: see
/// viz::x_of_column. size: id: its index in the chart of sizes.
enum Role { kRow, kMap, kBins, kSize };

const auto kTensor = make_option<int>(
    "tensor", "Tensor", "the tensor whose values are shown (block tensors: of the chosen layer)",
    {.default_value = 4,
     .choices = {{"wte.weight", "wte", "Token embedding"},
                 {"wpe.weight", "wpe", "Position embedding"},
                 {"ln_1.weight", "ln_1.weight", "Gain before attention"},
                 {"ln_1.bias", "ln_1.bias", "Bias before attention"},
                 {"attn.c_attn.weight", "c_attn.weight", "Computes q, k and v of all heads"},
                 {"attn.c_attn.bias", "c_attn.bias", "Added to q, k and v"},
                 {"attn.c_proj.weight", "attn c_proj.weight",
                  "Maps the heads' outputs to the residual stream"},
                 {"attn.c_proj.bias", "attn c_proj.bias", "Added to the attention output"},
                 {"ln_2.weight", "ln_2.weight", "Gain before the MLP"},
                 {"ln_2.bias", "ln_2.bias", "Bias before the MLP"},
                 {"mlp.c_fc.weight", "c_fc.weight", "Maps the residual stream to the MLP neurons"},
                 {"mlp.c_fc.bias", "c_fc.bias", "Added to the neurons' inputs"},
                 {"mlp.c_proj.weight", "mlp c_proj.weight", "Maps the neurons to the residual stream"},
                 {"mlp.c_proj.bias", "mlp c_proj.bias", "Added to the MLP output"},
                 {"ln_f.weight", "ln_f.weight", "Gain before the unembedding"},
                 {"ln_f.bias", "ln_f.bias", "Bias before the unembedding"},
                 {"lm_head.weight", "lm_head", "Unembedding, if not tied to wte"}},
     .control = Control::none});

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
  for (const model::Parameter& parameter : c.run->model->transformer->report().parameters) {
    const int layer = layer_of(parameter.name);
    if (layer >= 0 && layer != block) {
      block = layer;
      of_block = lines.size();
      lines.push_back({"h." + std::to_string(layer), "block", 0, nullptr, layer});
    }
    if (layer >= 0) lines[of_block].count += parameter.count();
    if (layer >= 0 && layer != c.selection.layer) continue;
    const std::string name = (layer < 0 ? "" : "  ") + std::string(name_in_block(parameter));
    lines.push_back({name, shape_of(parameter), parameter.count(), &parameter, layer});
  }
  return lines;
}

/// The parameter that the option selects; a tied unembedding is the embedding.
int tensor_of(const ViewContext& c) {
  const auto& parameters = c.run->model->transformer->report().parameters;
  const std::string name(kTensor.choices[c.options[kTensor]].name);
  const std::string in_block = "h." + std::to_string(c.selection.layer) + "." + name;
  const auto found = std::ranges::find_if(
      parameters, [&](const model::Parameter& p) { return p.name == name || p.name == in_block; });
  return found == parameters.end() ? 0 : static_cast<int>(found - parameters.begin());
}

const model::Parameter& parameter_of(const ViewContext& c) {
  return c.run->model->transformer->report().parameters[tensor_of(c)];
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

/// The four sizes of GPT-2 (Radford et al. 2019), ascending, with the shown model if it is another.
std::vector<ModelSize> sizes_of(const ViewContext& c) {
  std::vector<ModelSize> sizes{{"GPT-2 small", 12, 768, 124'439'808},
                               {"GPT-2 medium", 24, 1024, 354'823'168},
                               {"GPT-2 large", 36, 1280, 774'030'080},
                               {"GPT-2 XL", 48, 1600, 1'557'611'200}};
  const model::Config& config = c.config();
  const std::int64_t count = c.run->model->transformer->parameter_count();
  const auto place = std::ranges::lower_bound(sizes, count, {}, &ModelSize::count);
  if (place != sizes.end() && place->count == count && place->layers == config.n_layer)
    place->loaded = true;
  else
    sizes.insert(place, ModelSize{c.run->model->name, config.n_layer, config.n_embd, count, true});
  return sizes;
}

/// The sizes as a list, with the shown model marked.
std::unique_ptr<List> ladder_of(const ViewContext& c, const std::vector<ModelSize>& sizes) {
  auto list = std::make_unique<List>(c, kSize, static_cast<int>(sizes.size()));
  list->text("published sizes", 9, [&sizes](int row) { return sizes[row].name; }, {.heading = c.theme->text});
  list->bar("values", 8, [&sizes](int row) { return static_cast<float>(sizes[row].count); },
            {.rounds = true, .axis = true, .tip = false})
      .text = [&sizes](int row) { return grouped(sizes[row].count); };
  list->text(
      "blocks × width", 0,
      [&sizes](int row) { return std::to_string(sizes[row].layers) + " × " + grouped(sizes[row].width); },
      {.color = c.theme->text_muted});
  list->table.marked = static_cast<int>(std::ranges::find(sizes, true, &ModelSize::loaded) - sizes.begin());
  list->row_facts = [&sizes](Facts& facts, int row) {
    const ModelSize& size = sizes[row];
    facts.say(size.name);
    facts.say(grouped(size.count) + " values");
    if (size.name == "GPT-2 small")
      facts.say("The often quoted 124,410,624 counts 768 biases per c_fc instead of 3,072 and omits ln_f.");
  };
  return list;
}

const ListRows kRows{kRow, first_row_option("first-tensor", false, -1), "rows"};

std::unique_ptr<List> list_of(const ViewContext& c, const std::vector<Line>& lines) {
  const std::int64_t total = c.run->model->transformer->parameter_count();
  const std::string sum = grouped(total);
  const auto line = [&lines](int row) -> const Line& { return lines[row]; };
  const auto share = [=](int row) {
    return static_cast<float>(100 * static_cast<double>(line(row).count) / static_cast<double>(total));
  };
  float largest = 0;
  for (int row = 0; row < std::ssize(lines); ++row) largest = std::max(largest, share(row));
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(lines.size()));
  list->text("tensor", 4, [=](int row) { return line(row).name; }, {.least = 9.5F * c.font_size});
  list->text("shape", 1, [=](int row) { return line(row).shape; }, {.color = c.theme->text_muted});
  list->number("values", 3, [=](int row) { return line(row).count; },
               {.least = 0.55F * static_cast<float>(sum.size()) * c.font_size, .tip = false})
      .text = [=](int row) { return grouped(line(row).count); };
  list->bar(
      "share, %", 2, share,
      {.digits = 2, .high = viz::round_limit(static_cast<double>(largest)), .axis = true, .tip = false});
  list->rank_by(share);
  list->table.footer = {{list->cell(0, c.config().tie_word_embeddings ? "total (wte once)" : "total"),
                         list->cell(2, sum), list->cell(3, "100.00")}};
  const auto marked = std::ranges::find(lines, &parameter_of(c), &Line::tensor);
  list->table.marked = list->kept = marked == lines.end() ? -1 : static_cast<int>(marked - lines.begin());
  return list;
}

std::string statistics_of(const TensorPicture& p) {
  return "mean " + viz::number(p.mean, 3) + ", std. dev. " + viz::number(p.deviation, 3) + ", range " +
         viz::number(static_cast<double>(p.low), 3) + " to " + viz::number(static_cast<double>(p.high), 3);
}

constexpr double kOutliers = 0.005;  // fraction of cells allowed beyond the colours

/// The counts of values in equal bins.
void paint_histogram(Picture& picture, const ViewContext& c, const TensorPicture& p, viz::Rect area) {
  viz::FunctionPlot plot;
  plot.x = {p.bins_low, p.bins_high};
  plot.y.low = 0;
  const double step = (p.bins_high - p.bins_low) / TensorPicture::kBins;
  for (std::size_t i = 0; i < p.bins.size(); ++i) {
    const double left = p.bins_low + static_cast<double>(i) * step, count = static_cast<double>(p.bins[i]);
    plot.y.high = std::max(plot.y.high, count);
    plot.curve.insert(plot.curve.end(), {{left, count}, {left + step, count}});
  }
  plot.curve_color = c.theme->text;
  plot.x_title = "value";
  plot.y_title = "number of values" + (p.beyond > 0 ? "; " + grouped(p.beyond) + " beyond" : "");
  plot.role = kBins;
  viz::paint_function_plot(picture, plot, viz::plot_frame(plot, area, style_of(c)), style_of(c));
}

/// The pooled values, with a number for each row and column, and the scale.
void paint_map(Picture& picture, const ViewContext& c, const TensorPicture& p, viz::Rect map) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit(), line = style.line(style.small());
  const viz::ColorScale scale = viz::robust_scale(p.matrix(), kOutliers, {p.low, p.high, 0});
  const float scale_w = viz::color_scale_width(scale, "value", std::nullopt, style),
              numbers_w = viz::row_numbers_width(p.rows, style), below = viz::column_numbers_height(style);
  map.h = std::max(1.F, map.h - line - u - below);  // the line is that of the note on pooling
  map.x += numbers_w, map.w = std::max(1.F, map.w - numbers_w - scale_w - 4 * u);
  if (p.rows == 1) map.h = std::min(map.h, 2 * em);
  const viz::Region grid = viz::Region::grid(kMap, 0, map, p.pooled_rows, p.pooled_cols);
  viz::HeatmapCells cells;
  cells.matrix = p.matrix();
  cells.scale = scale;
  viz::paint_cells(picture.scene, cells, grid, style);
  picture.regions.push_back(grid);
  viz::PooledCells pooled = viz::pooled_cells(grid, style);
  pooled.rows *= static_cast<double>(p.rows) / p.pooled_rows;
  pooled.cols *= static_cast<double>(p.cols) / p.pooled_cols;
  viz::add_muted(picture.scene, style, viz::pooling_words(cells.pooling, pooled, map.w + scale_w, style),
                 {map.x, map.bottom() + below + u + line / 2});
  const viz::Region axes = viz::Region::grid(kMap, 0, map, p.rows, p.cols);
  viz::paint_column_numbers(picture.scene, axes, p.rows > 1 ? "column" : "component", style);
  if (p.rows > 1) viz::paint_row_numbers(picture.scene, axes, "row", style);
  viz::paint_color_scale(picture.scene, scale, "value", std::nullopt,
                         {map.right() + 4 * u, map.y, scale_w, std::max(map.h, 6 * em)}, style);
}

/// The action of a click on a line: opens its block, or shows its tensor.
ViewActions choose(const ViewContext& c, const Line& line) {
  if (!line.tensor) return {SelectHead{line.layer, c.selection.head}};
  return {SetOption{&kTensor, choice_of(*line.tensor)}};
}

void add_cell(Facts& facts, const TensorPicture& p, const viz::Hit& hit) {
  const std::string cols = range_words(p.first_col(hit.col), p.first_col(hit.col + 1)),
                    rows = range_words(p.first_row(hit.row), p.first_row(hit.row + 1));
  const bool one = p.pooled_rows == p.rows && p.pooled_cols == p.cols;
  facts.say(p.rows > 1 ? "row " + rows + ", column " + cols : "component " + cols);
  facts.number(one ? "" : "largest magnitude", p.matrix().at(hit.row, hit.col));
}

void add_bin(Facts& facts, const TensorPicture& p, int bin) {
  const double step = (p.bins_high - p.bins_low) / static_cast<double>(p.bins.size());
  const std::int64_t count = p.bins[bin];
  facts.say(viz::number(p.bins_low + bin * step, 3) + " to " + viz::number(p.bins_low + (bin + 1) * step, 3));
  facts.say(
      grouped(count) + " values, " +
      percent(static_cast<double>(count) / (static_cast<double>(p.rows) * static_cast<double>(p.cols))));
  if (p.beyond > 0) facts.say(grouped(p.beyond) + " more than four standard deviations from the mean");
}

void add_line(Facts& facts, const ViewContext& c, const Line& line) {
  const auto total = static_cast<double>(c.run->model->transformer->parameter_count());
  facts.say(line.tensor ? line.tensor->name + " [" + line.shape + "]"
                        : "block " + std::to_string(line.layer));
  facts.say(grouped(line.count) + " values, " + percent(static_cast<double>(line.count) / total));
  if (line.tensor) facts.say(std::string(kTensor.choices[choice_of(*line.tensor)].help));
  facts.commands.push_back(
      {line.tensor ? "Show values" : "Open block " + std::to_string(line.layer), choose(c, line)});
  facts.copy(std::to_string(line.count), std::to_string(line.count));
}

/// A row for each tensor and each block; facts are all values, and the four published sizes. `shown`: of the
/// chosen tensor; null: not there yet.
Table table(const ViewContext& c, const TensorPicture* shown) {
  Table result{"tensor", note_column("shape"), "values", "share",
               "mean",   "standard deviation", "lowest", "highest"};
  const model::Transformer& transformer = *c.run->model->transformer;
  const std::int64_t total = transformer.parameter_count();
  for (const model::Parameter& parameter : transformer.report().parameters) {
    const std::int64_t count = parameter.count();
    TableRow row;
    add_cells(row, parameter.name, shape_of(parameter, " x ", false), count,
              static_cast<double>(count) / static_cast<double>(total));
    if (&parameter == &parameter_of(c) && shown != nullptr)
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

/// Selects the tensor of the row above or below.
ViewActions move_tensor(const ViewContext& c, int by) {
  const std::vector<Line> lines = lines_of(c);
  const auto now = std::ranges::find(lines, &parameter_of(c), &Line::tensor);
  for (auto i = now - lines.begin() + by; i >= 0 && i < std::ssize(lines); i += by)
    if (lines[i].tensor) return choose(c, lines[i]);
  return {};
}

std::optional<ViewActions> on_key(const ViewContext& c, const Spot*, const Gesture& gesture) {
  const bool up = gesture.key == Key::up, down = gesture.key == Key::down;
  if (gesture.modifiers.shift && (up || down)) return move_tensor(c, up ? -1 : 1);
  if (gesture.key == Key::left) return ViewActions{MoveHead{-1, 0}};
  if (gesture.key == Key::right) return ViewActions{MoveHead{1, 0}};
  return std::nullopt;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (!c.run) return;
  const PictureOfTensor question{tensor_of(c)};
  const auto tensor = c.ask(question);
  const std::vector<Line>& lines = it.keep(lines_of(c));
  const std::vector<ModelSize>& sizes = it.keep(sizes_of(c));
  const model::Config& config = c.config();
  it.title = grouped(c.run->model->transformer->parameter_count()) + " parameters";
  it.subtitle = std::to_string(config.n_layer) + " blocks, " + std::to_string(config.n_head) +
                " heads, width " + grouped(config.n_embd) + ", " + grouped(config.vocab_size) + " tokens, " +
                grouped(config.n_ctx) + " positions";
  it.table = [&c, tensor] { return table(c, tensor.get()); };
  it.on = on_key;
  auto list = list_of(c, lines);
  list->least_width = 26, list->good_width = 36, list->least_rows = 6;
  list->on_click = [&lines](const ViewContext& now, int row) { return choose(now, lines[row]); };
  list->row_facts = [&](Facts& facts, int row) { add_line(facts, c, lines[row]); };
  const std::string name = parameter_of(c).name;
  std::vector<BoxPtr> about = boxes(notes({tensor ? statistics_of(*tensor) : it.why_missing(question)},
                                          name + " [" + shape_of(parameter_of(c)) + "]"));
  if (tensor) {
    it.facts = [&c, name, tensor](Facts& facts, const ViewContext&, const Spot& at) {
      if (at.region.role != kMap && at.region.role != kBins) return;
      facts.overlay.add(viz::StrokeRect{at.cell().inset(-0.5F), c.theme->text, 1});
      facts.say(name);
      at.region.role == kMap ? add_cell(facts, *tensor, at.hit)
                             : add_bin(facts, *tensor, at.hit.col * TensorPicture::kBins / viz::kPlotColumns);
    };
    const auto box = [tensor](Wish height, auto paint) {
      return custom({16, 40}, height,
                    [tensor, paint](Picture& picture, const ViewContext& now, viz::Rect area) {
                      paint(picture, now, *tensor, area);
                    });
    };
    const bool vector = tensor->rows == 1;
    about.push_back(box({8, vector ? 8.F : 16.F, vector ? 8.F : 1e4F}, paint_map));
    if (!is_slide(c)) about.push_back(may_be_left_out(box({7, 9, 16}, paint_histogram), "the histogram"));
  }
  about.push_back(may_be_left_out(BoxPtr(ladder_of(c, sizes)), "the sizes", 2));
  it.body = beside(boxes(BoxPtr(std::move(list)), may_be_left_out(rows(std::move(about)), "the values")));
}

View view() {
  View view = make_view("parameters", "Parameters", declare,
                        "every tensor of the model with shape, share of the parameters and values; the GPT-2 "
                        "sizes for comparison");
  view.options = {&kTensor, &kRows.first};
  view.caption = {
      .prompt = false,
      .note = "the model's tensors with their shares of all parameters, and the values of the marked one"};
  view.landmarks = {{"tensors", kRow}};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::parameters
