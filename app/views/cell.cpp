#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/run/softmax_row.h"
#include "app/run/vectors.h"
#include "app/views/common.h"
#include "model/plan.h"
#include "viz/bars.h"
#include "viz/vector_strip.h"

namespace headscope::app {
namespace {

/// Of regions. component: id: a Vector, a column for each; step: id: index of a line; key: a column for each
/// key of the query's row.
enum Role { kComponent, kStep, kKey };
enum Vector { kQuery, kKeyVector, kProduct };

/// All numbers of one query and one of its keys.
struct Cell {
  int layer = 0, head = 0, query = 0, key = 0;
  std::span<const float> q;
  std::vector<float> k;
  std::vector<double> products;       ///< exact: two float32 have a product that double holds
  double positive = 0, negative = 0;  ///< sums of those above and below zero
  double q_norm = 0, k_norm = 0;
  std::shared_ptr<const SoftmaxRow> row;

  float of_key(const std::vector<float>& values) const { return values[static_cast<std::size_t>(key)]; }
  float score() const { return of_key(row->scores); }
  float scaled() const { return of_key(row->scaled); }
  float masked() const { return of_key(row->masked); }
  float shifted() const { return masked() - row->largest; }
  float power() const { return of_key(row->powers); }
  float weight() const { return of_key(row->weights); }
  /// What softmax gives; edits may put another weight in its place.
  float softmax() const { return power() * (1 / row->sum); }
  double other_powers() const { return static_cast<double>(row->sum) - static_cast<double>(power()); }
  double cosine() const { return static_cast<double>(score()) / (q_norm * k_norm); }
};

SoftmaxRowOf row_question(const ViewContext& c) {
  return {c.selection.layer, c.selection.head, c.selection.query};
}

std::shared_ptr<const SoftmaxRow> current_row(const ViewContext& c) {
  return c.run ? c.ask(row_question(c)) : nullptr;
}

/// Of the chosen key, or else the strongest.
Cell cell_of(const ViewContext& c, std::shared_ptr<const SoftmaxRow> row) {
  const model::Run& run = *c.run->run;
  Cell cell;
  cell.layer = c.selection.layer, cell.head = c.selection.head, cell.query = c.selection.query;
  cell.key = c.selection.key >= 0
                 ? c.selection.key
                 : static_cast<int>(std::ranges::max_element(row->weights) - row->weights.begin());
  cell.q = run.q(cell.layer, cell.head, cell.query);
  cell.k = run.k(cell.layer, cell.head, cell.key);
  for (std::size_t i = 0; i < cell.k.size(); ++i) {
    const double product = static_cast<double>(cell.q[i]) * static_cast<double>(cell.k[i]);
    cell.products.push_back(product);
    (product < 0 ? cell.negative : cell.positive) += product;
  }
  cell.q_norm = norm_of(cell.q);
  cell.k_norm = norm_of(cell.k);
  cell.row = std::move(row);
  return cell;
}

// ---- the steps in words ----

constexpr int kFewest = 4, kMostDecimals = 7;

/// So few decimals that a and b, rounded, add up to the rounded sum.
int decimals_that_add_up(double a, double b, double sum) {
  for (int decimals = kFewest; decimals <= kMostDecimals; ++decimals) {
    const double unit = std::pow(10, decimals);
    if (std::abs(a * unit) > 1e15 || !std::isfinite(a + b + sum)) return kFewest;
    if (std::llround(a * unit) + std::llround(b * unit) == std::llround(sum * unit)) return decimals;
  }
  return kFewest;
}

/// So small a number in its own digits, all others with so many decimals.
std::string written(double value, int decimals) {
  if (value != 0 && std::abs(value) < 10 * std::pow(10, -decimals)) return viz::number(value, 4);
  return viz::fixed_number(value, decimals);
}

/// "− 9.8765", "+ 1.2": what follows a first term.
std::string added(double value, int decimals) {
  return (value < 0 ? " − " : " + ") + written(std::abs(value), decimals);
}
std::string in_brackets(double value, int decimals) {
  return value < 0 ? "(" + written(value, decimals) + ")" : written(value, decimals);
}

/// One line of the arithmetic.
struct Step {
  std::string name;
  std::string brief;       ///< of the name, where the rest has no room
  std::string expression;  ///< left of the sign; may be empty
  std::string result;
  bool rounded = true;             ///< the result is written with fewer digits than it has
  std::vector<std::string> exact;  ///< lines under the mouse
  double value = 0;
};

/// Whether a text reads as the number itself.
bool says_all(const std::string& text, double value) {
  if (std::isinf(value)) return true;
  std::string ascii;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "−") == 0) {
      ascii += '-', i += 2;
    } else {
      ascii += text[i];
    }
  }
  return std::strtod(ascii.c_str(), nullptr) == value;
}

/// The name is brief up to its first colon.
Step make_step(const std::string& name, std::string expression, double value, int decimals,
               std::vector<std::string> lines) {
  Step step{name,
            name.substr(0, name.find(':')),
            std::move(expression),
            written(value, decimals),
            true,
            std::move(lines),
            value};
  step.rounded = !says_all(step.result, value);
  return step;
}

/// What the mask, or an edit in its place, makes of the scaled score.
Step mask_step(const Cell& cell, int decimals) {
  const std::string key = "key " + std::to_string(cell.key), query = "query " + std::to_string(cell.query);
  Step step{"mask", "mask", key + " ≤ " + query, "seen", false, {}, static_cast<double>(cell.masked())};
  if (cell.masked() == cell.scaled()) {
    step.exact = {"a key after the query would become −∞ here, its weight exactly 0"};
    if (cell.key > cell.query) {
      step.expression = key + " > " + query + ", mask lifted";
      step.exact = {"without edits this key would become −∞ here, its weight exactly 0"};
    }
    return step;
  }
  step.result = written(step.value, decimals);
  step.rounded = !says_all(step.result, step.value);
  const bool hidden = std::isinf(cell.masked());
  step.name = hidden ? "mask" : "edited: in place of the scaled score";
  step.brief = hidden ? "mask" : "edited";
  step.expression = hidden ? query + " may not see " + key : "by an edit";
  step.exact = {"masked " + exact(cell.masked()), "scaled " + exact(cell.scaled())};
  return step;
}

Step weight_step(const ViewContext& c, const Cell& cell, int decimals) {
  const auto power = static_cast<double>(cell.power()), sum = static_cast<double>(cell.row->sum);
  const std::string quotient = written(power, decimals) + " / " + written(sum, decimals);
  const auto weight = static_cast<double>(cell.weight());
  const model::Plan* plan = c.run->run->plan.get();
  if (plan == nullptr || !plan->edits({model::Site::pattern, cell.layer}) || cell.weight() == cell.softmax())
    return make_step("weight", quotient, weight, kFewest, {"weight " + exact(cell.weight())});
  return make_step("weight: edited, in place of softmax", "edited, not " + quotient, weight, kFewest,
                   {"weight " + exact(cell.weight()), "softmax gives " + exact(cell.softmax())});
}

std::vector<Step> steps_of(const ViewContext& c, const Cell& cell) {
  const model::Config& config = c.run->run->config;
  const auto wide = [](float v) { return static_cast<double>(v); };
  const double score = wide(cell.score()), scaled = wide(cell.scaled()), shifted = wide(cell.shifted()),
               power = wide(cell.power()), sum = wide(cell.row->sum), largest = wide(cell.row->largest);
  const int of_score = decimals_that_add_up(cell.positive, cell.negative, score);
  const double masked = wide(cell.masked());
  const int of_shift = decimals_that_add_up(masked, -largest, shifted);
  const int of_sum = decimals_that_add_up(power, cell.other_powers(), sum);
  const std::string factor = scale_factor(config, cell.layer);
  const std::string keys = std::to_string(cell.row->scores.size());
  const std::string largest_name = "key " + token_name(c.run->tokens, cell.row->largest_key);
  std::vector<Step> steps;
  steps.push_back(
      make_step("score q·k: positive and negative products",
                written(cell.positive, of_score) + added(cell.negative, of_score), score, of_score,
                {"score " + exact(cell.score()), "the model adds the products one after another",
                 "positive products " + exact(cell.positive), "negative products " + exact(cell.negative)}));
  steps.push_back(make_step("cosine: over both norms",
                            written(score, of_score) + " / (" + written(cell.q_norm, kFewest) + " × " +
                                written(cell.k_norm, kFewest) + ")",
                            cell.cosine(), kFewest,
                            {"cosine of q and k " + exact(cell.cosine()), "norm of q " + exact(cell.q_norm),
                             "norm of k " + exact(cell.k_norm), "for the eye: the model does not use it"}));
  steps.push_back(
      make_step("scaled: × " + factor, written(score, of_score) + " × " + factor, scaled, of_shift,
                {"scaled " + exact(cell.scaled()),
                 "score " + exact(cell.score()) + " × " + exact(config.attention_scale(cell.layer))}));
  steps.push_back(mask_step(cell, of_shift));
  steps.push_back(make_step(
      "less the largest: of the row",
      written(masked, of_shift) + (largest < 0 ? " + " : " − ") + written(std::abs(largest), of_shift),
      shifted, of_shift,
      {"difference " + exact(cell.shifted()), "largest " + exact(cell.row->largest) + ", of " + largest_name,
       "changes no weight, but keeps e^x in range"}));
  steps.push_back(make_step("exponential", "e^" + in_brackets(shifted, of_shift), power, of_sum,
                            {"exponential " + exact(cell.power())}));
  steps.push_back(
      make_step("row sum: this key and the others of " + keys,
                written(power, of_sum) + added(cell.other_powers(), of_sum), sum, of_sum,
                {"row sum " + exact(cell.row->sum), "of the other keys " + exact(cell.other_powers())}));
  steps.push_back(weight_step(c, cell, of_sum));
  return steps;
}

// ---- the figure ----

constexpr const char* kNote = "= exact, ≈ rounded here to add up";
constexpr const char* kMore = "; every digit is under the mouse";

struct Layout {
  viz::Rect area;
  float label = 0;       ///< width of the names beside vectors
  viz::Rect q, k, bars;  ///< of the vectors; no height: no room
  viz::Rect steps;
  viz::Rect keys;    ///< strip of the row
  float line = 0;    ///< height of a step
  float note_y = 0;  ///< middle of the note
  bool fits = true;
};

constexpr int kSteps = 8;

/// Heights from above: vectors, bars and their numbers, steps, the row, the note.
struct Heights {
  float strip = 0, bars = 0, numbers = 0, step = 0, keys = 0, note = 0, gap = 0;
  float vectors() const { return 2 * strip + gap / 2 + bars + gap + numbers + gap; }
  float rest() const { return kSteps * step + gap + keys + gap + note; }
};

Heights heights_of(const viz::Style& style) {
  Heights h;
  const float u = style.unit(), line = style.line(style.small());
  h.gap = 3 * u;
  h.strip = std::round(1.5F * style.font_size);
  h.bars = std::round(6 * style.font_size);
  h.numbers = viz::column_numbers_height(style);
  h.step = std::round(1.65F * style.font_size);
  h.keys = line + u + h.strip;
  h.note = line;
  return h;
}

Layout lay_out(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const Heights h = heights_of(style);
  Layout layout;
  layout.area = below_title(c);
  const viz::Rect& area = layout.area;
  layout.line = h.step;
  layout.label =
      std::ceil(style.width("query q", style.font_size, viz::FontStyle::medium)) + 3 * style.unit();
  const float rest = h.rest();
  float y = area.y;
  if (area.h >= rest + h.vectors()) {
    const float spare = area.h - rest - h.vectors();
    const float x = area.x + layout.label, w = std::min(area.w - layout.label, 90 * style.font_size);
    layout.q = {x, y, w, h.strip};
    layout.k = {x, layout.q.bottom(), w, h.strip};
    layout.bars = {x, layout.k.bottom() + h.gap / 2, w, h.bars + std::min(spare, 6 * style.font_size)};
    y = layout.bars.bottom() + h.gap + h.numbers + h.gap;
  }
  layout.steps = {area.x, y, std::min(area.w, 90 * style.font_size + layout.label), kSteps * h.step};
  y = layout.steps.bottom() + h.gap;
  if (y + h.keys + h.gap + h.note <= area.bottom() + 0.5F) {
    layout.keys = {area.x, y, layout.steps.w, h.keys};
    y += h.keys + h.gap;
  }
  layout.note_y = y + h.note / 2;
  layout.fits = layout.steps.bottom() <= area.bottom() + 0.5F && area.w >= 15 * style.font_size;
  return layout;
}

void paint_products(Picture& picture, const ViewContext& c, const Cell& cell, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  double largest = 0;
  for (const double p : cell.products)
    if (std::isfinite(p)) largest = std::max(largest, std::abs(p));
  const double limit = viz::round_limit(largest);
  const float width = area.w / static_cast<float>(cell.products.size()), zero = area.y + area.h / 2;
  const float thin = std::max(1.F, std::floor(0.7F * width));
  for (std::size_t i = 0; i < cell.products.size(); ++i) {
    if (!std::isfinite(cell.products[i])) continue;
    const float h = static_cast<float>(std::abs(cell.products[i]) / limit) * area.h / 2;
    const float x = area.x + (static_cast<float>(i) + 0.5F) * width - thin / 2;
    const bool up = cell.products[i] >= 0;
    if (h > 0)
      picture.scene.add(
          viz::FillRect{{x, up ? zero - h : zero, thin, h}, viz::diverging(*c.theme, up ? 0.75 : -0.75)});
  }
  picture.scene.add(viz::Segments{{{area.x, zero}, {area.right(), zero}}, c.theme->text_muted, 1});
  const auto number = [&](double value, float y) {
    viz::add_label(picture.scene, style, (value > 0 ? "+" : "") + viz::tick_label(value, value),
                   {area.x - 2 * style.unit(), y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::right);
  };
  const float half = style.line(style.small()) / 2;
  number(limit, area.y + half);
  number(-limit, area.bottom() - half);
  viz::Region region;
  region.role = kComponent;
  region.id = kProduct;
  region.rect = area;
  region.cols = region.col_count = static_cast<int>(cell.products.size());
  viz::paint_column_numbers(picture.scene, region, "component", style);
  picture.regions.push_back(region);
}

void paint_vectors(Picture& picture, const ViewContext& c, const Cell& cell, const Layout& layout) {
  const viz::Style style = style_of(c);
  const auto name = [&](const char* words, viz::Color color, float y) {
    viz::add_label(picture.scene, style, words, {layout.area.x, y}, style.font_size, color,
                   viz::FontStyle::medium);
  };
  float largest = 0;
  for (std::size_t i = 0; i < cell.k.size(); ++i)
    largest = std::max({largest, std::abs(cell.q[i]), std::abs(cell.k[i])});
  const viz::ColorScale scale = viz::diverging_scale(static_cast<double>(largest));
  const auto strip = [&](std::span<const float> values, Vector which, viz::Rect rect) {
    viz::paint_vector_strip(picture, {values, scale, kComponent, which, 0}, rect, style);
  };
  name("query q", c.theme->query, layout.q.center().y);
  name("key k", c.theme->key, layout.k.center().y);
  name("q × k", c.theme->text, layout.bars.center().y);
  strip(cell.q, kQuery, layout.q);
  strip(cell.k, kKeyVector, layout.k);
  paint_products(picture, c, cell, layout.bars);
  // Between the numbers' title and the edge, where there is room.
  viz::Scene measured;
  const float y = layout.bars.bottom() + 1.5F * style.unit() + 1.5F * style.line(style.small());
  const float w = viz::paint_color_scale_line(measured, scale, "q, k", {0, 0}, style);
  const float room = layout.bars.w / 2 - style.width("component", style.small()) / 2 - 3 * style.unit();
  if (w <= room)
    viz::paint_color_scale_line(picture.scene, scale, "q, k", {layout.bars.right() - w, y}, style);
}

void paint_steps(Picture& picture, const ViewContext& c, const std::vector<Step>& steps,
                 const Layout& layout) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), size = style.font_size;
  viz::Scene& scene = picture.scene;
  // Results stand below each other, expressions end at the sign.
  float results = 0, expressions = 0;
  for (const Step& step : steps) {
    results = std::max(results, style.width(step.result, size, viz::FontStyle::medium));
    expressions = std::max(expressions, style.width(step.expression, size));
  }
  const auto widest = [&](std::string Step::*name) {
    float most = 0;
    for (const Step& step : steps) most = std::max(most, style.width(step.*name, style.small()));
    return most;
  };
  const float sign = style.width("≈", size) + 4 * u, numbers = 4 * u + expressions + sign + results + u;
  const bool in_full = widest(&Step::name) + numbers <= layout.steps.w;
  std::string Step::*const name_of = in_full ? &Step::name : &Step::brief;
  const float names = widest(name_of);
  const bool all = names + numbers <= layout.steps.w;
  const float sign_x = all ? layout.steps.x + names + 4 * u + expressions + sign / 2
                           : layout.steps.right() - results - sign / 2 - u;
  picture.whole &= all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const viz::Rect rect{layout.steps.x, layout.steps.y + static_cast<float>(i) * layout.line, layout.steps.w,
                         layout.line};
    const float y = rect.center().y;
    const bool last = i + 1 == steps.size();
    viz::add_label(scene, style, step.*name_of, {rect.x, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left,
                   all ? names + 1 : std::max(0.F, sign_x - sign / 2 - 2 * u - rect.x));
    if (all) {
      viz::add_label(scene, style, step.expression, {sign_x - sign / 2, y}, size, c.theme->text,
                     viz::FontStyle::regular, viz::Align::right);
    }
    viz::add_label(scene, style,
                   step.result == "seen" ? "→"
                   : step.rounded        ? "≈"
                                         : "=",
                   {sign_x, y}, size, c.theme->text_muted, viz::FontStyle::regular, viz::Align::center);
    viz::add_label(scene, style, step.result, {sign_x + sign / 2, y}, size,
                   last ? c.theme->key : c.theme->text, viz::FontStyle::medium);
    viz::Region region;
    region.role = kStep;
    region.id = static_cast<int>(i);
    region.rect = rect;
    picture.regions.push_back(region);
  }
}

/// What the row sum is made of, a cell a key; also the way to another key.
void paint_row(Picture& picture, const ViewContext& c, const Cell& cell, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small()), u = style.unit();
  viz::add_label(picture.scene, style,
                 std::string("exponentials of all keys of the query: 0 to 1, what the row sum adds up") +
                     (c.in_pane ? "; click one for its arithmetic" : ""),
                 {area.x, area.y + line / 2}, style.small(), c.theme->text_muted, viz::FontStyle::regular,
                 viz::Align::left, area.w);
  const viz::Rect strip{area.x, area.y + line + u, area.w, area.h - line - u};
  const viz::Region region = viz::paint_vector_strip(
      picture, {cell.row->powers, viz::linear_scale(1), kKey, cell.query, 0}, strip, style);
  viz::Rect chosen = region.cell_rect(0, cell.key);
  const float widest = std::max(chosen.w, 2 * u);
  chosen.x = std::clamp(chosen.center().x - widest / 2, strip.x, strip.right() - widest);
  chosen.w = widest;
  picture.scene.add(viz::StrokeRect{chosen.inset(0.5F), c.theme->key, 2, 1});
}

Picture build(const ViewContext& c) {
  if (!c.run) {
    static_cast<void>(c.ask(SoftmaxRowOf{c.selection.layer, c.selection.head, 0}));
    return *waiting(c);
  }
  const auto row = current_row(c);
  if (auto words = waiting(c, row_question(c), row != nullptr)) return *words;
  const Cell cell = cell_of(c, row);
  const Layout layout = lay_out(c);
  if (!layout.fits) return message(c, "too small for the arithmetic");
  const viz::Style style = style_of(c);
  Picture picture = blank(c);
  paint_title(picture, c, token_name(c.run->tokens, cell.query) + " → " + token_name(c.run->tokens, cell.key),
              head_name(cell.layer, cell.head) + ": how the query weighs " +
                  (c.selection.key >= 0 ? "the chosen key" : "its strongest key"));
  picture.whole &= layout.bars.h > 0 && layout.keys.h > 0;
  if (layout.bars.h > 0) paint_vectors(picture, c, cell, layout);
  paint_steps(picture, c, steps_of(c, cell), layout);
  if (layout.keys.h > 0) {
    paint_row(picture, c, cell, layout.keys);
    viz::add_label(picture.scene, style, std::string(kNote) + (c.in_pane ? kMore : ""),
                   {layout.area.x, layout.note_y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left, layout.area.w);
  }
  return picture;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Hover result;
  const auto row = current_row(c);
  if (!row) return result;
  const Cell cell = cell_of(c, row);
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  const auto i = static_cast<std::size_t>(hit.col);
  if (region.role == kComponent && i < cell.k.size()) {
    for (const viz::Region& other : picture.regions) {
      if (other.role == kComponent)
        result.overlay.add(viz::StrokeRect{other.cell_rect(0, hit.col).inset(-0.5F), c.theme->text, 1});
    }
    const std::string at = "[" + std::to_string(i) + "]";
    result.lines = {"q" + at + " = " + exact(cell.q[i]), "k" + at + " = " + exact(cell.k[i]),
                    "q" + at + " × k" + at + " = " + exact(cell.products[i])};
  } else if (region.role == kStep) {
    result.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->line, 1, 2});
    result.lines = steps_of(c, cell)[static_cast<std::size_t>(region.id)].exact;
  } else if (region.role == kKey && i < row->powers.size()) {
    result.overlay.add(viz::StrokeRect{region.cell_rect(0, hit.col).inset(-0.5F), c.theme->text, 1});
    result.lines = {"key " + token_name(c.run->tokens, hit.col), "exponential " + exact(row->powers[i]),
                    "weight " + exact(row->weights[i])};
  }
  for (const std::string& line : result.lines) result.status += (result.status.empty() ? "" : "   ") + line;
  return result;
}

/// The components, then each number of the way from the score to the weight.
Table table(const ViewContext& c) {
  Table result;
  const auto row = current_row(c);
  if (!row) return result;
  result.header = {"quantity", "index", "value"};
  const Cell cell = cell_of(c, row);
  const auto add = [&](const char* name, const std::string& index, const std::string& value) {
    result.rows.push_back({name, index, value});
  };
  for (std::size_t i = 0; i < cell.k.size(); ++i) add("q", std::to_string(i), plain(cell.q[i]));
  for (std::size_t i = 0; i < cell.k.size(); ++i) add("k", std::to_string(i), plain(cell.k[i]));
  for (std::size_t i = 0; i < cell.k.size(); ++i) add("q*k", std::to_string(i), plain(cell.products[i]));
  add("position of the query", "", std::to_string(cell.query));
  add("position of the key", "", std::to_string(cell.key));
  add("norm of q", "", plain(cell.q_norm));
  add("norm of k", "", plain(cell.k_norm));
  add("cosine", "", plain(cell.cosine()));
  add("score", "", plain(cell.score()));
  add("scaled", "", plain(cell.scaled()));
  if (cell.masked() != cell.scaled()) add("masked", "", plain(cell.masked()));
  add("largest", "", plain(row->largest));
  add("difference", "", plain(cell.shifted()));
  add("exponential", "", plain(cell.power()));
  add("row sum", "", plain(row->sum));
  add("weight", "", plain(cell.weight()));
  return result;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  if (gesture.kind == Gesture::Kind::key) return keys_along_prompt(c, gesture);
  if (gesture.kind != Gesture::Kind::click || !hit) return {};
  const bool key = picture.regions[static_cast<std::size_t>(hit->region)].role == kKey;
  if (!key || !may_see(c, c.selection.query, hit->col)) return {};
  return {clicked_key(c, hit->col)};
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  std::vector<MenuLine> lines;
  const auto row = current_row(c);
  if (!row || !hit) return lines;
  const Cell cell = cell_of(c, row);
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit->region)];
  if (region.role == kKey)
    add_choice_of_key(lines, c, hit->col, c.selection.query);
  if (region.role == kComponent && hit->col < std::ssize(cell.k)) {
    const auto i = static_cast<std::size_t>(hit->col);
    lines.push_back(copy_value(cell.q[i], "q"));
    lines.push_back(copy_value(cell.k[i], "k"));
  }
  if (region.role == kStep) {
    lines.push_back(copy_value(cell.score(), "score"));
    lines.push_back(copy_value(cell.weight(), "weight"));
  }
  return lines;
}

float whole_height(const ViewContext& c) {
  const Heights h = heights_of(style_of(c));
  return below_title(c).y + h.vectors() + h.rest() + margin(c) + 2 * c.font_size;
}

}  // namespace

View cell_view() {
  View view;
  view.id = "cell";
  view.title = "Arithmetic";
  view.help = "one query and one key: from the products of their components to the weight, number by number";
  view.on = on;
  view.menu = menu;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
