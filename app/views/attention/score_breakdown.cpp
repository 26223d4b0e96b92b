#include "app/views/attention/query_rows.h"
#include "app/views/attention/score_terms.h"
#include "app/views/parts/parts.h"
#include "viz/charts/number_axis.h"

namespace headscope::app {
namespace score_breakdown {

/// Roles of regions. component: id: a Vector, with a column for each component; step: id: index of a step;
/// key: a column for each key of the query's row.
enum Role { kComponent, kStep, kKey };
enum Vector { kQuery, kKeyVector, kProduct };

constexpr const char* kNote = "= exact, ≈ rounded so that each line adds up";
constexpr const char* kMore = "; hover for all digits";

/// Heights of the parts: vectors, bars and their numbers, steps, the row, the note.
struct Heights {
  float strip = 0, bars = 0, numbers = 0, step = 0, steps = 0, keys = 0, note = 0, gap = 0;
  float around_bars() const { return 2 * strip + gap / 2 + gap + numbers; }
};

/// In ems: narrower strips have their colour scale on a line of its own, under the numbers' title.
constexpr float kScaleBesideTitle = 32;

/// `vectors_w`: width of the vectors.
Heights heights_of(const ViewContext& c, float vectors_w) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small());
  Heights h;
  h.gap = 3 * style.unit();
  h.strip = std::round(1.5F * style.font_size);
  h.bars = std::round(6 * style.font_size);
  h.numbers = viz::column_numbers_height(style);
  if (vectors_w < kScaleBesideTitle * style.font_size) h.numbers += line;
  h.step = std::round(1.65F * style.font_size);
  h.steps = static_cast<float>(step_count(c)) * h.step;
  h.note = line;
  h.keys = h.note + style.unit() + h.strip;
  return h;
}

std::string name_of(const ViewContext& c, Vector which) {
  const std::string prefix = delta(c);
  if (which == kProduct) return prefix.empty() ? "q × k" : prefix + "(q × k)";
  return prefix + (which == kQuery ? "query q" : "key k");
}

struct Layout {
  viz::Rect area;
  viz::Rect q, k, bars;  ///< areas of the vectors; height 0: no room
  viz::Rect steps;
  viz::Rect keys;    ///< strip of the row
  float line = 0;    ///< height of a step
  float note_y = 0;  ///< middle of the note
  bool fits = true;
};

/// Width of the vectors' names, with the numbers of the bars' axis after the products' own.
float names_width(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const auto width = [&](Vector which) {
    return style.width(name_of(c, which), style.font_size, viz::FontStyle::medium);
  };
  const float numbers = style.width("−0.00", style.small()) + style.unit();
  return std::ceil(std::max({width(kQuery), width(kKeyVector), width(kProduct) + numbers})) +
         3 * style.unit();
}

/// Places the vectors in `area`, the bars up to their largest useful height.
void place_vectors(Layout& layout, const Heights& h, float names, float bars, viz::Rect area) {
  const float x = area.x + names, w = area.w - names;
  layout.q = {x, area.y, w, h.strip};
  layout.k = {x, layout.q.bottom(), w, h.strip};
  layout.bars = {x, layout.k.bottom() + h.gap / 2, w, bars};
}

Layout lay_out(const ViewContext& c) {
  const viz::Style style = style_of(c);
  Layout layout;
  layout.area = below_title(c);
  const viz::Rect& area = layout.area;
  const float em = style.font_size, widest = 90 * em, names = names_width(c);
  const float wide = std::min(area.w, widest + names);
  Heights h = heights_of(c, wide - names);
  layout.line = h.step;
  // The products are what the steps begin with: in a low area they are next to these if it is wide; else they
  // get shorter, then replace the row.
  const float least = std::round(2.5F * em), most = h.bars + 6 * em;
  const float under = h.keys + h.gap + h.note;
  const float between = 3 * em, full_steps = 38 * em, brief_steps = 29 * em;
  const float steps_w = area.w >= full_steps + between + names + 32 * em ? full_steps : brief_steps;
  const float beside_w = area.w - steps_w - between;
  float room = area.h - h.around_bars() - h.gap - h.steps - h.gap - under;
  float y = area.y;
  if (const Heights beside = heights_of(c, beside_w - names);
      room < h.bars && beside_w >= names + 20 * em && area.h >= beside.steps + beside.gap + under) {
    h = beside;
    room = std::min(area.h - under - h.gap - h.around_bars(), most);
    place_vectors(layout, h, names, room, {area.x, y, std::min(beside_w, widest + names), 0});
    layout.steps = {area.right() - steps_w, y, steps_w, h.steps};
    y = std::max(layout.bars.bottom() + h.gap + h.numbers, layout.steps.bottom()) + h.gap;
    layout.keys.w = area.w;
  } else {
    if (room < least) room += h.keys + h.gap;
    if (room >= least) {
      place_vectors(layout, h, names, std::min(room, most), {area.x, y, wide, 0});
      y = layout.bars.bottom() + h.gap + h.numbers + h.gap;
    }
    layout.steps = {area.x, y, wide, h.steps};
    y = layout.steps.bottom() + h.gap;
    layout.keys.w = wide;
  }
  if (y + under <= area.bottom() + 0.5F) {
    layout.keys = {area.x, y, layout.keys.w, h.keys};
    y += h.keys + h.gap;
  }
  layout.note_y = y + h.note / 2;
  layout.fits = layout.steps.bottom() <= area.bottom() + 0.5F && area.w >= 15 * em;
  return layout;
}

viz::Color signed_color(const ViewContext& c, bool positive) {
  constexpr double kStrong = 0.75;
  return viz::diverging(*c.theme, positive ? kStrong : -kStrong);
}

void paint_products(Picture& picture, const ViewContext& c, const std::vector<double>& products,
                    const viz::Rect& area) {
  const viz::Style style = style_of(c);
  double largest = 0;
  for (const double p : products)
    if (std::isfinite(p)) largest = std::max(largest, std::abs(p));
  const double limit = viz::round_limit(largest);
  constexpr int kTicks = 5;
  viz::PlotFrame axes{area, {}, {-limit, limit}};
  const double step = viz::upright_tick_count(area.h, kTicks, style) == kTicks ? limit / 2 : limit;
  for (double value = -limit; value <= limit; value += step)
    axes.y.ticks.push_back({value, viz::tick_label(value, step)});
  viz::paint_y_numbers(picture.scene, axes, style);
  const float width = area.w / static_cast<float>(products.size()), zero = axes.y_of(0);
  const float thin = std::max(1.F, std::floor(0.7F * width));
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (!std::isfinite(products[i])) continue;
    const float end = axes.y_of(products[i]), h = std::abs(end - zero);
    const float x = area.x + (static_cast<float>(i) + 0.5F) * width - thin / 2;
    if (h > 0)
      picture.scene.add(viz::FillRect{{x, std::min(zero, end), thin, h}, signed_color(c, products[i] >= 0)});
  }
  picture.scene.add(viz::Segments{{{area.x, zero}, {area.right(), zero}}, c.theme->text_muted, 1});
  viz::Region region;
  region.role = kComponent;
  region.id = kProduct;
  region.rect = area;
  region.cols = region.col_count = static_cast<int>(products.size());
  viz::paint_column_numbers(picture.scene, region, "component", style);
  picture.regions.push_back(region);
}

void paint_vectors(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& layout) {
  const viz::Style style = style_of(c);
  const auto name = [&](Vector which, viz::Color color, float y) {
    viz::add_label(picture.scene, style, name_of(c, which), {layout.area.x, y}, style.font_size, color,
                   viz::FontStyle::medium);
  };
  float largest = 0;
  for (std::size_t i = 0; i < n.k.size(); ++i)
    largest = std::max({largest, std::abs(n.q[i]), std::abs(n.k[i])});
  const viz::ColorScale scale = viz::diverging_scale(largest);
  const std::string scale_title = difference_prefix(c) + std::string("q, k");
  const auto strip = [&](std::span<const float> values, Vector which, viz::Rect rect) {
    viz::paint_vector_strip(picture, {values, scale, kComponent, which, 0}, rect, style);
  };
  name(kQuery, c.theme->query, layout.q.center().y);
  name(kKeyVector, c.theme->key, layout.k.center().y);
  name(kProduct, c.theme->text, layout.bars.center().y);
  strip(n.q, kQuery, layout.q);
  strip(n.k, kKeyVector, layout.k);
  paint_products(picture, c, n.products, layout.bars);
  // After the numbers' title or, in narrow pictures, under it.
  const float line = style.line(style.small());
  const bool beside = layout.bars.w >= kScaleBesideTitle * style.font_size;
  const float y = layout.bars.bottom() + 1.5F * style.unit() + (beside ? 1.5F : 2.5F) * line;
  viz::Scene measured;
  const float w = viz::paint_color_scale_line(measured, scale, scale_title, {0, 0}, style);
  const float title = beside ? style.width("component", style.small()) / 2 + 3 * style.unit() : 0;
  if (w <= (beside ? layout.bars.w / 2 : layout.bars.w) - title)
    viz::paint_color_scale_line(picture.scene, scale, scale_title, {layout.bars.right() - w, y}, style);
  else
    picture.whole = false;
}

/// The colour of a result: differences by their sign, else the weight is highlighted.
viz::Color color_of(const ViewContext& c, const Step& step, bool last) {
  if (step.difference > 0) return signed_color(c, true);
  if (step.difference < 0) return signed_color(c, false);
  return last && c.side != Side::difference ? c.theme->key : c.theme->text;
}

void paint_steps(Picture& picture, const ViewContext& c, const std::vector<Step>& steps,
                 const Layout& layout) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), size = style.font_size;
  viz::Scene& scene = picture.scene;
  // Results are aligned with each other, expressions end at the sign.
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
  std::string Step::*const said = in_full ? &Step::name : &Step::brief;
  const float names = widest(said);
  const bool all = names + numbers <= layout.steps.w;
  const float sign_x = all ? layout.steps.x + names + 4 * u + expressions + sign / 2
                           : layout.steps.right() - results - sign / 2 - u;
  picture.whole &= all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const viz::Rect rect{layout.steps.x, layout.steps.y + static_cast<float>(i) * layout.line, layout.steps.w,
                         layout.line};
    const float y = rect.center().y;
    paint_note(picture, c, step.*said, {rect.x, y},
               all ? names + 1 : std::max(0.F, sign_x - sign / 2 - 2 * u - rect.x));
    // Without room for all expressions, those that fit beside their own step's name.
    const float name = rect.x + style.width(step.*said, style.small()) + 4 * u;
    if (all || name + style.width(step.expression, size) <= sign_x - sign / 2) {
      viz::add_label(scene, style, step.expression, {sign_x - sign / 2, y}, size, c.theme->text,
                     viz::FontStyle::regular, viz::Align::right);
      viz::add_label(scene, style, step.sign, {sign_x, y}, size, c.theme->text_muted, viz::FontStyle::regular,
                     viz::Align::center);
    }
    viz::add_label(scene, style, step.result, {sign_x + sign / 2, y}, size,
                   color_of(c, step, i + 1 == steps.size()), viz::FontStyle::medium);
    viz::Region region;
    region.role = kStep;
    region.id = static_cast<int>(i);
    region.rect = rect;
    picture.regions.push_back(region);
  }
}

/// Symmetric about zero for differences.
viz::ColorScale scale_of_keys(const Numbers& n) {
  if (!n.before) return viz::linear_scale(1);
  return scale_of_differences(static_cast<double>(viz::value_range(viz::Matrix::row(n.of_keys)).magnitude()));
}

/// Draws the terms of the row sum, or the differences of the weights, one cell per key; a click selects
/// another key.
void paint_row(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small()), u = style.unit();
  const viz::ColorScale scale = scale_of_keys(n);
  const std::string words =
      n.before ? difference_prefix(c) + std::string("weight for each key of this query: ") +
                     viz::number(scale.low, 3) + " to " + viz::number(scale.high, 3)
      : std::ranges::all_of(n.of_keys, [](float value) { return std::isnan(value); })
          ? "no exponentials: this query sees no key"
          : "exponentials of all keys of this query, 0 to 1; they add up to the row sum";
  std::vector<std::uint8_t> absent;
  for (const float value : n.of_keys) absent.push_back(std::isnan(value) ? 1 : 0);
  paint_note(picture, c, words + (c.in_pane ? "; click one for its breakdown" : ""),
             {area.x, area.y + line / 2}, area.w);
  const viz::Rect strip{area.x, area.y + line + u, area.w, area.h - line - u};
  const viz::Region region =
      viz::paint_vector_strip(picture, {n.of_keys, scale, kKey, n.now.query, 0, absent}, strip, style);
  viz::Rect chosen = region.cell_rect(0, n.key());
  const float widest = std::max(chosen.w, 2 * u);
  chosen.x = std::clamp(chosen.center().x - widest / 2, strip.x, strip.right() - widest);
  chosen.w = widest;
  picture.scene.add(viz::StrokeRect{chosen.inset(0.5F), c.theme->key, 2, 1});
}

std::string subtitle_of(const ViewContext& c, const Numbers& n) {
  const std::string head = head_title(c, n.now.layer, n.now.head);
  const bool chosen = c.selection.key >= 0;
  if (!n.before) return head + ": attention to " + (chosen ? "the chosen key" : "the strongest key");
  return query_difference_words(c) + (unchanged(n) ? kNoDifference : "") + "; " + head +
         (chosen         ? ", the chosen key"
          : unchanged(n) ? ""
                         : ", the key that differs most");
}

Picture build(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (auto words = score_breakdown::waiting_for(c, n.has_value())) return *words;
  const Layout layout = lay_out(c);
  if (!layout.fits) return too_small(c, "for the breakdown");
  Picture picture = blank(c);
  paint_title(picture, c,
              token_name(c.run->tokens, n->now.query) + " → " + token_name(c.run->tokens, n->key()) +
                  (n->before ? difference_suffix(c) : ""),
              subtitle_of(c, *n));
  picture.whole &= layout.bars.h > 0 && layout.keys.h > 0;
  if (layout.bars.h > 0) paint_vectors(picture, c, *n, layout);
  paint_steps(picture, c, steps_of(c, *n), layout);
  if (layout.keys.h > 0) {
    paint_row(picture, c, *n, layout.keys);
    paint_note(picture, c, std::string(kNote) + (c.in_pane ? kMore : ""), {layout.area.x, layout.note_y},
               layout.area.w);
  }
  return picture;
}

/// A component's numbers, on the difference side those of both sides.
std::vector<std::string> component_lines(const ViewContext& c, const Numbers& n, int i) {
  const std::string at = "[" + std::to_string(i) + "]";
  const auto sides = names_of_sides(c);
  std::vector<std::string> lines;
  const auto add = [&](const std::string& name, auto shown, auto now, const auto& before) {
    lines.push_back(difference_prefix(c) + name + (n.before ? " " : " = ") + exact(shown));
    if (n.before)
      lines.back() += std::string(": ") + sides.first + " " + exact(now) + ", " + sides.second + " " +
                      exact(before(*n.before));
  };
  add("q" + at, n.q[i], n.now.q[i], [i](const ScoreTerms& terms) { return terms.q[i]; });
  add("k" + at, n.k[i], n.now.k[i], [i](const ScoreTerms& terms) { return terms.k[i]; });
  add("q" + at + " × k" + at, n.products[i], n.now.products[i],
      [i](const ScoreTerms& terms) { return terms.products[i]; });
  return lines;
}

std::vector<std::string> key_lines(const ViewContext& c, const Numbers& n, int key) {
  const std::string name = "key " + token_name(c.run->tokens, key);
  const float weight = n.now.row->weights[key];
  if (!n.before) return {name, "exponential " + exact(n.now.row->powers[key]), "weight " + exact(weight)};
  if (std::isnan(n.of_keys[key])) return {name, no_counterpart_words(c)};
  return {name, difference_prefix(c) + ("weight " + exact(n.of_keys[key])),
          std::string(names_of_sides(c).first) + " " + exact(weight)};
}

/// The components; facts are each number from the score to the weight that is not missing on one side.
Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return {};
  const std::string prefix = difference_column_prefix(c);
  Table result{key_column("component"), prefix + "q", prefix + "k", prefix + "q*k"};
  for (std::size_t i = 0; i < n->q.size(); ++i) add_row(result, i, n->q[i], n->k[i], n->products[i]);
  add_head_facts(result, c);
  const auto positions = [&](const PromptRun& run, const ScoreTerms& terms, const std::string& compared) {
    add_token_facts(result, run.tokens, compared + "query", terms.query);
    add_token_facts(result, run.tokens, compared + "key", terms.key);
  };
  positions(*c.run, n->now, "");
  if (n->before) {
    positions(*c.run->baseline, *n->before, "compared ");
    result.fact(prefix + "score through q", n->through_q);
    result.fact(prefix + "score through k", n->through_k);
  }
  visit_quantities(*n, [&](const char* name, auto value) {
    if (!n->before || !std::isnan(value)) result.fact(prefix + name, value);
  });
  return result;
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  if (region_of(picture, hit).role != kKey || !may_see(c, c.selection.query, hit.col)) return {};
  return {clicked_key(c, hit.col)};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  if (!n) return facts;
  const std::string prefix = difference_prefix(c);
  const viz::Region& region = region_of(picture, hit);
  const int i = hit.col;
  const auto frame_cell = [&](const viz::Region& of) {
    facts.overlay.add(viz::StrokeRect{of.cell_rect(0, i).inset(-0.5F), c.theme->text, 1});
  };
  if (region.role == kComponent && i < std::ssize(n->k)) {
    for (const viz::Region& other : picture.regions)
      if (other.role == kComponent) frame_cell(other);
    facts.say(component_lines(c, *n, i));
    facts.number(prefix + "q", n->q[i], Fact::Location::menu);
    facts.number(prefix + "k", n->k[i], Fact::Location::menu);
  } else if (region.role == kStep) {
    facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->line, 1, 2});
    facts.say(steps_of(c, *n)[region.id].exact);
    const auto of = [&](float now, float before) { return n->before ? difference(now, before) : now; };
    const ScoreTerms& before = n->before ? *n->before : n->now;
    facts.number(prefix + "score", of(n->now.score(), before.score()), Fact::Location::menu);
    facts.number(prefix + "weight", of(n->now.weight(), before.weight()), Fact::Location::menu);
  } else if (region.role == kKey && i < std::ssize(n->of_keys)) {
    frame_cell(region);
    facts.say(key_lines(c, *n, i));
    add_choice_of_key(facts.commands, c, i, c.selection.query);
  }
  return facts;
}

float whole_height(const ViewContext& c) {
  const viz::Rect area = below_title(c);
  const Heights h = heights_of(c, area.w - names_width(c));
  return area.y + h.around_bars() + h.bars + 3 * h.gap + h.steps + h.keys + h.note + margin(c) +
         2 * c.font_size;
}

}  // namespace score_breakdown

View score_view() {
  using namespace score_breakdown;
  View view = make_view(Group::attention, "score", "Score breakdown",
                        "one query and one key, step by step: products, score, scaling, softmax, weight",
                        build, facts, table);
  add_gestures(view, click);
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  view.shows_difference = true;
  view.landmarks = {landmark("products", kComponent, kProduct), landmark("vectors", kComponent),
                    landmark("steps", kStep), landmark("score", kStep, 0), landmark("keys", kKey)};
  return view;
}

}  // namespace headscope::app
