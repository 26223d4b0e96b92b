#include <array>
#include <numeric>

#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/run/analyses/vocabulary.h"
#include "app/views/parts/parts.h"
#include "model/kernels/kernels.h"
#include "viz/charts/function_plot.h"

namespace headscope::app {
namespace mlp {

/// Roles of regions. strip: id and row: a Vector, col: component. neuron: id: its index among the strongest.
/// curve: col: see viz::x_of_column.
enum Role { kStrip, kNeuron, kCurve };
const auto kNeurons = make_option<int>(
    "neurons", "Neurons", "number of neurons listed, strongest first",
    {.phrase = "{strongest neuron}", .default_value = 16, .low = 1, .high = 200, .keys = "wW"});
const auto kFirstNeuron = first_row_option("first-neuron", true);

constexpr std::size_t kTokens = 3;  // in each direction, in the table

enum Vector { kInput, kBefore, kAfter, kOutput };
constexpr std::size_t kVectors = 4;

struct Numbers {
  std::shared_ptr<const BlockPass> block;
  std::array<std::span<const float>, kVectors> vectors;
  std::array<viz::ColorScale, kVectors> scales;
  std::vector<int> order;  ///< the strongest neurons, by descending magnitude of their output
};

/// `listed`: how many neurons to list, at most all; those of output 0 are left out, but for the first.
Numbers numbers_of(std::shared_ptr<const BlockPass> block, int listed) {
  Numbers n;
  n.vectors = {block->ln_2, block->mlp_pre, block->mlp_post, block->mlp_out};
  for (std::size_t i = 0; i < kVectors; ++i) n.scales[i] = vector_scale(n.vectors[i]);
  const auto post = n.vectors[kAfter];
  n.order.resize(post.size());
  std::iota(n.order.begin(), n.order.end(), 0);
  const auto strength = [&](int neuron) {
    const float v = std::abs(post[neuron]);
    return std::isnan(v) ? std::numeric_limits<float>::infinity() : v;
  };
  const auto stronger = [&](int a, int b) { return std::pair(-strength(a), a) < std::pair(-strength(b), b); };
  std::ranges::partial_sort(n.order, n.order.begin() + listed, stronger);
  n.order.resize(listed);
  // Edits of some neurons leave all others as they were: those are not listed in the order of their numbers.
  while (n.order.size() > 1 && strength(n.order.back()) == 0) n.order.pop_back();
  n.block = std::move(block);
  return n;
}

float value_of(const Numbers& n, Vector vector, int neuron) {
  return n.vectors[vector][neuron];
}

/// "GELU", as the configuration has it.
std::string activation_name(const model::Config& config) {
  return std::string(model::function_of(config.activation).shown);
}

viz::PlotPoint point_of(const Numbers& n, int neuron) {
  return {static_cast<double>(value_of(n, kBefore, neuron)),
          static_cast<double>(value_of(n, kAfter, neuron))};
}

/// The curve of the nonlinearity with all neurons on it, and dots for those in `shown`, indices into the
/// order.
viz::FunctionPlot plot_of(const model::Config& config, const Numbers& n, std::span<const int> shown,
                          const viz::Theme& theme) {
  viz::FunctionPlot plot;
  const viz::ValueRange x = viz::value_range(viz::Matrix::row(n.vectors[kBefore])),
                        y = viz::value_range(viz::Matrix::row(n.vectors[kAfter]));
  const double margin_x = 0.04 * std::max(1e-6, static_cast<double>(x.high) - static_cast<double>(x.low));
  plot.x.low = std::min(-1.0, static_cast<double>(x.low) - margin_x);
  plot.x.high = std::max(1.0, static_cast<double>(x.high) + margin_x);
  constexpr int kCurvePoints = 200;
  std::vector<float> at(kCurvePoints + 1);
  for (int i = 0; i <= kCurvePoints; ++i)
    at[i] = static_cast<float>(plot.x.low + (plot.x.high - plot.x.low) * i / kCurvePoints);
  std::vector<float> of = at;
  model::activate(model::fastest_kernels().rows, config.activation, of);
  for (std::size_t i = 0; i < at.size(); ++i)
    plot.curve.push_back({static_cast<double>(at[i]), static_cast<double>(of[i])});
  const viz::ValueRange drawn = viz::united(y, viz::value_range(viz::Matrix::row(of)));
  const double margin_y = 0.05 * (static_cast<double>(drawn.high) - static_cast<double>(drawn.low));
  plot.y.low = static_cast<double>(drawn.low) - margin_y;
  plot.y.high = static_cast<double>(drawn.high) + margin_y;
  plot.curve_color = theme.text_muted;
  plot.dot_color = theme.bar;
  plot.point_color = theme.text_muted.with_alpha(150);
  for (int i = 0; i < std::ssize(n.vectors[kBefore]); ++i) plot.points.push_back(point_of(n, i));
  for (const int row : shown) plot.dots.push_back(point_of(n, n.order[row]));
  plot.x_title = "before";
  plot.y_title = activation_name(config) + ": after" + (shown.empty() ? "" : "; dots: listed");
  return plot;
}

/// The selected layer's block on one side; null while pending.
std::shared_ptr<const BlockPass> block_of(const ViewContext& c, Side side, int position) {
  const auto pass = c.ask_on(side, PassOfToken{position});
  const int layer = c.selection.layer;
  return c.run && pass && layer < std::ssize(pass->blocks) ? pass->blocks[layer] : nullptr;
}

std::shared_ptr<const BlockPass> block_of(const ViewContext& c) {
  return block_of(c, c.side, c.chosen_query);
}

/// Whether this is the difference of two models, whose weights differ.
bool is_between_models(const ViewContext& c) {
  return c.side == Side::difference && compares_models(*c.run);
}

/// How a neuron moves tokens' logits here: the answer times `times`.
struct LogitEffect {
  std::shared_ptr<const NeuronTokens> tokens = nullptr;  ///< null: not known
  float times = 0;
  std::string failure = "";  ///< why not

  /// The tokens whose logits it raises or lowers most, in descending order; none while pending.
  std::span<const TokenPush> pushed(bool up) const {
    if (!tokens) return {};
    return (times >= 0) == up ? tokens->up : tokens->down;
  }
  /// The neuron's direct contribution to a token's logit, without the final layer norm.
  double push(const TokenPush& token) const {
    return static_cast<double>(times) * static_cast<double>(token.logit);
  }
};

template <class Q>
LogitEffect logit_effect(const ViewContext& c, const Q& question, float times) {
  const auto tokens = c.ask(question);
  return {tokens, times, tokens ? "" : c.failure(question)};
}

LogitEffect logit_effect_of(const ViewContext& c, const Numbers& n, int neuron) {
  const int layer = c.selection.layer;
  if (!is_between_models(c))
    return logit_effect(c, TokensOfNeuron{layer, neuron}, value_of(n, kAfter, neuron));
  const auto after = block_of(c, Side::run, c.chosen_query),
             before = block_of(c, Side::baseline, compared_query(c));
  if (!after || !before) return {};
  return logit_effect(c, TokensOfNeuron{layer, neuron, after->mlp_post[neuron], before->mlp_post[neuron]}, 1);
}

int listed(const ViewContext& c) {
  return std::min(c.options[kNeurons], c.run->run->config.n_inner);
}

const ListRows kRows{.role = kNeuron, .first = kFirstNeuron, .names = "strongest neurons"};

std::string signed_number(double value) {
  return (value > 0 ? "+" : "") + viz::number(value, 2);
}

/// Per listed neuron: how it moves tokens' logits.
using LogitEffects = std::vector<LogitEffect>;

/// Asks for the visible neurons from the top; the others are unknown.
LogitEffects logit_effects_of(const ViewContext& c, const Numbers& n, std::span<const int> rows) {
  LogitEffects result(n.order.size());
  for (const int row : rows) result[row] = logit_effect_of(c, n, n.order[row]);
  return result;
}

/// `waiting`: the row that says why the tokens of a neuron are missing; -1: none.
List list_of(const ViewContext& c, const Numbers& n, const LogitEffects& effects, int waiting = -1) {
  const std::string prefix = delta(c), file_prefix = difference_column_prefix(c);
  const auto value = [&n](Vector vector) {
    return [&n, vector](int row) { return value_of(n, vector, n.order[row]); };
  };
  List list(c, kRows, static_cast<int>(n.order.size()));
  list.file(note_column("rank"), [](int row) { return row + 1; });
  list.number("neuron", 10, n.order, {.file = key_column("neuron"), .digits = 0});
  list.number(prefix + "before", 5, value(kBefore), {.file = file_prefix + "before"});
  list.bar(prefix + "after", 9, value(kAfter),
           {.file = file_prefix + "after", .axis = true, .is_signed = true});
  const float width = 3.6F * c.font_size;
  list.number("adds", 1, [](int) { return 0; }, {.least = width, .most = width}).text = [&effects](int row) {
    const LogitEffect& of = effects[row];
    if (!of.tokens) return std::string();
    return viz::number(std::abs(static_cast<double>(of.times)) * static_cast<double>(of.tokens->norm), 3);
  };
  for (std::size_t i = 0; i < 2 * kTokens; ++i) {
    const bool up = i < kTokens;
    const std::size_t place = i % kTokens;
    const auto cell = [&effects, up, place](const auto& words) {
      return [&effects, up, place, words](int row) {
        const auto tokens = effects[row].pushed(up);
        return place < tokens.size() ? std::optional(words(effects[row], tokens[place])) : std::nullopt;
      };
    };
    const auto text = [&cell](const auto& words) {
      return [of = cell(words)](int row) { return of(row).value_or(""); };
    };
    const auto label =
        text([&c](const LogitEffect&, const TokenPush& token) { return label_of(c, token.id); });
    const std::string file = (up ? "up " : "down ") + std::to_string(place + 1) + " ";
    list.file(note_column(file + "id"),
              cell([](const LogitEffect&, const TokenPush& token) { return token.id; }));
    // A fixed width, because the texts arrive one after the other.
    const std::string heading = place > 0 ? "" : up ? "pushes up" : "pushes down";
    ListColumn& column =
        list.text(heading, (up ? 8 : 7) - 2 * static_cast<int>(place), label,
                  {.file = note_column(file + "token"), .least = 2 * width, .most = 2 * width});
    column.detail =
        text([](const LogitEffect& of, const TokenPush& token) { return signed_number(of.push(token)); });
    if (i == 0 && waiting >= 0)
      column.text = [&effects, label, waiting](int row) {
        const std::string& failure = effects[row].failure;
        return row == waiting ? failure.empty() ? kComputing : failure : label(row);
      };
    list.file(note_column(file + "push"), cell([](const LogitEffect& of, const TokenPush& token) {
                return static_cast<float>(of.push(token));
              }));
  }
  if (c.side == Side::difference) list.table.row_names = "neurons that differ most";
  return list;
}

// In ems.
constexpr float kStripHeight = 1.6F;
constexpr float kPlotBeside = 44;  // minimum width for the plot to be next to the table

constexpr float kPlotShape = 0.8F;  // height divided by width, if it is above the table

struct Layout {
  std::array<viz::Rect, kVectors> strips;
  float labels = 0, shapes = 0;  ///< x of these words; 0: no room
  float scales = 0;              ///< x of the ends of their colours; 0: no room
  float norms = 0;               ///< right end; 0: no room
  float legend = 0;              ///< middle of its line; 0: no room
  viz::Rect plot;                ///< the frame; w is 0: no room
  viz::Rect note;                ///< the line about the tokens; h is 0: no room
  viz::Rect neurons;
};

std::array<std::string, kVectors> names_of(const ViewContext& c) {
  const std::string f = activation_name(c.run->run->config);
  std::array<std::string, kVectors> names{"ln_2, normalized", "before " + f, "after " + f, "mlp_out"};
  using model::Site;
  constexpr std::array<Site, kVectors> kSites{Site::ln2_normalized, Site::mlp_pre, Site::mlp_post,
                                              Site::mlp_out};
  for (std::size_t i = 0; i < kVectors; ++i) {
    names[i].insert(0, delta(c));
    if (is_edited_at(c, {kSites[i], c.selection.layer}, c.selection.query)) names[i] += ", edited";
  }
  return names;
}

viz::FunctionPlot curve_of(const ViewContext& c, const Numbers& n, std::span<const int> shown) {
  viz::FunctionPlot plot = plot_of(c.run->run->config, n, shown, *c.theme);
  plot.role = kCurve;
  return plot;
}

Layout lay_out(const ViewContext& c, const Numbers& n) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit(), line = style.line(style.small());
  const viz::Rect area = below_title(c);
  Layout l;
  const float strip_h = std::round((area.h >= 30 * em ? kStripHeight : 1.1F) * em), pitch = strip_h + u;
  float left = area.x, right = area.right();
  const auto take_left = [&](float& x, float width) {
    if (right - left - width < 9 * em) return;
    x = left + 0.01F;
    left += width;
  };
  float names = 0, shapes = 0;
  for (const std::string& name : names_of(c))
    names = std::max(names, style.width(name, style.small(), viz::FontStyle::medium));
  for (const auto& vector : n.vectors)
    shapes = std::max(shapes, style.width(grouped(std::ssize(vector)), style.small()));
  take_left(l.labels, std::ceil(names) + 3 * u);
  take_left(l.shapes, std::ceil(shapes) + 3 * u);
  const float norm = std::ceil(style.width("norm 0000.0", style.small())) + 3 * u;
  if (right - left - norm >= 20 * em) {
    l.norms = right;
    right -= norm;
  }
  const float ends = std::ceil(style.width("±0.0e−00", style.small())) + 2 * u;
  if (right - left - ends >= 9 * em) {
    right -= ends;
    l.scales = right + 2 * u;
  }
  float y = area.y;
  for (viz::Rect& strip : l.strips) {
    strip = {left, y, right - left, strip_h};
    y += pitch;
  }
  if (l.scales > 0 && (area.h >= 24 * em || c.printed)) {
    l.legend = y + line / 2;
    y += line;
  }
  y += 2 * u;
  viz::Rect rest{area.x, y, area.w, std::max(0.F, area.bottom() - y)};
  const auto plot_in = [&](viz::Rect place) { return viz::plot_frame(curve_of(c, n, {}), place, style); };
  if (c.side == Side::difference) {
    // Differences are not on a curve.
  } else if (area.w >= kPlotBeside * em && rest.h >= 9 * em) {
    const float w = std::clamp(0.3F * area.w, 16 * em, 34 * em);
    l.plot = plot_in({rest.x, rest.y, w, std::min(rest.h, 1.1F * w)});
    rest.x += w + 3 * em;
    rest.w -= w + 3 * em;
  } else if (rest.h >= 22 * em) {
    const float h = std::min(0.42F * rest.h, (c.printed ? 0.55F : kPlotShape) * rest.w);
    l.plot = plot_in({rest.x, rest.y, rest.w, h});
    rest.y += h + u;
    rest.h -= h + u;
  }
  if (rest.h >= 12 * em) {
    viz::Table rows;
    rows.rows = static_cast<int>(n.order.size());
    rest.h = std::min(rest.h - line - u, viz::table_height(rows, style) + 1);
    l.note = {rest.x, rest.bottom() + u, rest.w, line};
  }
  l.neurons = rest;
  return l;
}

void paint_strips(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& l) {
  const viz::Style style = style_of(c);
  const auto names = names_of(c);
  for (std::size_t i = 0; i < kVectors; ++i) {
    const viz::Rect& rect = l.strips[i];
    const float middle = rect.center().y;
    const auto word = [&](std::string_view words, float x, viz::Color color, viz::FontStyle face,
                          viz::Align align) {
      if (x > 0) viz::add_label(picture.scene, style, words, {x, middle}, style.small(), color, face, align);
    };
    word(names[i], l.labels, c.theme->text, viz::FontStyle::medium, viz::Align::left);
    word(grouped(std::ssize(n.vectors[i])), l.shapes, c.theme->text_muted, viz::FontStyle::regular,
         viz::Align::left);
    word("±" + viz::number(n.scales[i].high, 2), l.scales, c.theme->text_muted, viz::FontStyle::regular,
         viz::Align::left);
    word("norm " + viz::number(norm_of(n.vectors[i]), 4), l.norms, c.theme->text_muted,
         viz::FontStyle::regular, viz::Align::right);
    const int index = static_cast<int>(i);
    viz::paint_vector_strip(picture, {n.vectors[i], n.scales[i], kStrip, index, index}, rect, style);
  }
}

/// Every strip has its own limits, at its right: the colours go from minus the limit to the limit.
void paint_legend(Picture& picture, const ViewContext& c, const Layout& l) {
  if (l.legend <= 0) return;
  const viz::Style style = style_of(c);
  viz::Scene legend;
  const viz::ColorScale parts = viz::diverging_scale(1);
  const float room = l.scales + style.width("±0.0e−00", style.small()) - l.strips[0].x;
  for (const char* high :
       {"+limit; the limit of each strip is at its right", "+limit, at the right (±)", "+limit"}) {
    legend.items.clear();
    if (viz::paint_color_ramp(legend, parts, "−limit", high, {0, 0}, style) <= room) break;
  }
  viz::append(picture.scene, legend, {l.strips[0].x, l.legend});
}

std::string push_formula(const ViewContext& c) {
  if (is_between_models(c)) return "Δ(after × W_out[neuron] · W_U[token]), each with its own model's weights";
  return std::string(delta(c)) + "after × W_out[neuron] · W_U[token]";
}

void paint_note(Picture& picture, const ViewContext& c, const Layout& l) {
  if (l.note.h <= 0) return;
  const viz::Style style = style_of(c);
  const std::string formula = push_formula(c);
  for (const std::string& words :
       {"pushes: a neuron's direct contribution to a token's logit, " + formula + ", without ln_f",
        "pushes: " + formula + ", without ln_f", std::string("pushes on logits, without ln_f")}) {
    if (style.width(words, style.small()) > l.note.w) continue;
    paint_small_lines(picture, c, {words}, {l.note.x, l.note.y});
    return;
  }
}

Picture build(const ViewContext& c) {
  const auto block = block_of(c);
  if (auto words = waiting_for(c, PassOfToken{c.chosen_query}, block != nullptr)) return *words;
  const Numbers n = numbers_of(block, listed(c));
  const Layout l = lay_out(c, n);
  // The visible rows do not depend on their contents, and only their neurons are asked about.
  LogitEffects effects(n.order.size());
  List places = list_of(c, n, effects);
  if (!places.lay_out(l.neurons) || l.strips[0].w < 4 * c.font_size) return too_small(c, "for the MLP");
  effects = logit_effects_of(c, n, places.layout().rows);
  const auto unknown =
      std::ranges::find_if(places.layout().rows, [&](int row) { return !effects[row].tokens; });
  List list = list_of(c, n, effects, unknown == places.layout().rows.end() ? -1 : *unknown);
  const viz::Style style = style_of(c);
  Picture picture = blank(c);
  const model::Config& config = c.run->run->config;
  const std::string steps =
      grouped(config.n_embd) + " → " + grouped(config.n_inner) + " → " + grouped(config.n_embd);
  const bool is_difference = c.side == Side::difference;
  const std::string title = "MLP of layer " + std::to_string(c.selection.layer) + " at " +
                            token_name(c.run->tokens, c.selection.query) + difference_suffix(c);
  const std::string first =
      is_difference ? difference_subtitle(c, {n.vectors.begin(), n.vectors.end()}) : steps;
  std::string subtitle = first + places.note("; ") + places.left_out("; ");
  const float room =
      c.width - 2 * margin(c) - 3 * style.unit() - style.width(title, style.title(), viz::FontStyle::medium);
  if (c.titled && style.width(subtitle, style.small()) > room) subtitle = first;
  paint_title(picture, c, title, subtitle);
  // Parts left out for lack of room do not make the picture incomplete.
  const bool whole = picture.whole;
  paint_strips(picture, c, n, l);
  paint_legend(picture, c, l);
  if (l.plot.w > 0 && l.plot.h > 0)
    viz::paint_function_plot(picture, curve_of(c, n, places.layout().rows), l.plot, style);
  list.lay_out(l.neurons);
  list.paint(picture);
  paint_note(picture, c, l);
  picture.whole = whole;
  return picture;
}

std::vector<std::string> neuron_words(const ViewContext& c, const Numbers& n, int neuron, bool ask) {
  const std::string prefix = difference_prefix(c);
  std::vector<std::string> lines{"neuron " + std::to_string(neuron),
                                 prefix + "before " + exact(value_of(n, kBefore, neuron)),
                                 prefix + "after " + exact(value_of(n, kAfter, neuron))};
  if (!ask) return lines;
  const LogitEffect of = logit_effect_of(c, n, neuron);
  if (!of.tokens) return lines;
  for (const bool up : {true, false}) {
    std::string words;
    for (const TokenPush& token : of.pushed(up))
      words += (words.empty() ? "“" : ", “") + label_of(c, token.id) + "” " + signed_number(of.push(token));
    lines.push_back((up ? "pushes up " : "pushes down ") + words);
  }
  lines.emplace_back("directly: " + push_formula(c) + ", without ln_f");
  return lines;
}

/// Frames a neuron in the strips, on the curve and in the table.
void frame_neuron(viz::Scene& overlay, const ViewContext& c, const Picture& picture, const Numbers& n,
                  int neuron) {
  const auto frame = [&](const viz::Rect& rect, float width, float radius) {
    overlay.add(viz::StrokeRect{rect, c.theme->text, width, radius});
  };
  for (const viz::Region& region : picture.regions) {
    if (region.role == kCurve) {
      const viz::Point at = viz::place_in_plot(curve_of(c, n, {}), region.rect, point_of(n, neuron));
      const float r = viz::plot_dot_radius(style_of(c));
      frame({at.x - r, at.y - r, 2 * r, 2 * r}, 2, r);
    } else if (region.role == kNeuron) {
      if (n.order[region.id] == neuron) frame(region.rect, 1, 2);
    } else if (region.id == kBefore || region.id == kAfter) {
      frame(region.cell_rect(region.id, neuron).inset(-0.75F), 1.5F, 0);
    }
  }
}

/// The neuron of a hit, on the curve the nearest visible one; -1: none.
int neuron_at(const ViewContext& c, const Picture& picture, const Numbers& n, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const bool is_listed = region.role == kNeuron && region.id < std::ssize(n.order);
  if (region.role == kNeuron) return is_listed ? n.order[region.id] : -1;
  if (region.role == kStrip) {
    const bool is_neuron = region.id == kBefore || region.id == kAfter;
    return is_neuron && hit.col < std::ssize(n.vectors[kBefore]) ? hit.col : -1;
  }
  const double x = viz::x_of_column(curve_of(c, n, {}), hit.col);
  const auto distance = [&](int neuron) {
    return std::abs(static_cast<double>(value_of(n, kBefore, neuron)) - x);
  };
  int nearest = -1;
  for (const viz::Region& row : picture.regions) {
    if (row.role != kNeuron || row.id >= std::ssize(n.order)) continue;
    const int neuron = n.order[row.id];
    if (nearest < 0 || distance(neuron) < distance(nearest)) nearest = neuron;
  }
  return nearest;
}

/// A row for each listed neuron, the strongest first.
Table table(const ViewContext& c) {
  const auto block = block_of(c);
  if (!block) return {};
  const Numbers n = numbers_of(block, listed(c));
  LogitEffects effects;
  for (const int neuron : n.order) effects.push_back(logit_effect_of(c, n, neuron));
  Table result = list_of(c, n, effects).exported();
  result.ranked_by = difference_column_prefix(c) + "after";
  result.about("layer", c.selection.layer);
  add_query_facts(result, c);
  result.fact("norm of all neurons before", norm_of(n.vectors[kBefore]));
  result.fact("norm of all neurons after", norm_of(n.vectors[kAfter]));
  result.fact("norm of the input", norm_of(n.vectors[kInput]));
  result.fact("norm of the output", norm_of(n.vectors[kOutput]));
  return result;
}

/// The tokens whose logits a neuron moves most, with the amounts; empty while not known.
std::string pushes_as_text(const ViewContext& c, const Numbers& n, int neuron) {
  const LogitEffect of = logit_effect_of(c, n, neuron);
  std::string words;
  for (const bool up : {true, false})
    for (const TokenPush& token : of.pushed(up))
      words += label_of(c, token.id) + "\t" + plain(static_cast<float>(of.push(token))) + "\n";
  return words;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  Facts facts;
  const auto block = block_of(c);
  if (!block) return facts;
  const Numbers n = numbers_of(block, listed(c));
  const int neuron = neuron_at(c, picture, n, hit);
  if (neuron >= 0) {
    const std::string number = std::to_string(neuron);
    frame_neuron(facts.overlay, c, picture, n, neuron);
    facts.say(neuron_words(c, n, neuron, region.role != kStrip), 3);
    facts.number("before", value_of(n, kBefore, neuron), Fact::Location::menu);
    facts.number("after", value_of(n, kAfter, neuron), Fact::Location::menu);
    facts.value("neuron", number, Fact::Location::menu);
    add_neuron_edit(facts.commands, c, c.selection.layer, neuron);
    if (region.role != kStrip) facts.copy("its tokens and pushes", pushes_as_text(c, n, neuron));
  } else if (region.role == kStrip && hit.col < std::ssize(n.vectors[region.id])) {
    facts.overlay.add(
        viz::StrokeRect{region.cell_rect(region.id, hit.col).inset(-0.75F), c.theme->text, 1.5F});
    const auto vector = static_cast<std::size_t>(region.id);
    facts.say("dimension " + std::to_string(hit.col));
    facts.number(names_of(c)[vector], n.vectors[vector][hit.col]);
  }
  return facts;
}

float whole_height(const ViewContext& c) {
  if (!c.run) return c.height;
  const viz::Style style = style_of(c);
  const float em = style.font_size, line = style.line(style.small());
  const viz::Rect area = below_title(c);
  viz::Table rows;
  rows.rows = listed(c);
  const float strips = kVectors * (kStripHeight * em + style.unit()) + line + 2 * style.unit();
  const float plot =
      area.w >= kPlotBeside * em || c.side == Side::difference ? 0 : kPlotShape * area.w + style.unit();
  const float all = strips + plot + viz::table_height(rows, style) + line + style.unit();
  return area.y + std::max(all, 30 * em) + margin(c) + 1;
}

}  // namespace mlp

View mlp_view() {
  using namespace mlp;
  View view = make_view(Group::block, "mlp", "MLP",
                        "the strongest neurons of a layer's MLP at one token, before and after GELU, and the "
                        "tokens they push up or down",
                        build, facts, table);
  view.part = Part::mlp;
  view.options = {&kNeurons, &kFirstNeuron};
  add_list(view, kRows);
  view.whole_height = whole_height;
  view.needs = Capability::weights | Capability::mlp;
  view.caption = {true, false, true};
  view.shows_difference = true;
  view.landmarks = {landmark("neurons", kNeuron), landmark("vectors", kStrip)};
  return view;
}

}  // namespace headscope::app
