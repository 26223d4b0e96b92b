#include <array>
#include <ranges>

#include "app/run/analyses/geometry.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"
#include "viz/charts/curves.h"

namespace headscope::app {
namespace position_shift {

enum Role { kErrors };  // its region has a column for each k

/// One method of the chart.
struct Method {
  const char* name;   ///< label of its curve
  const char* words;  ///< in the table, and under the chart
  const std::vector<float> PositionShift::*errors;
};
constexpr std::array<Method, 4> kMethods{{
    {"sinusoidal", "sinusoidal, T exact", &PositionShift::sinusoidal},
    {"learned", "learned, T fitted to all t", &PositionShift::learned},
    {"unseen", "learned at odd t, T fitted to even t", &PositionShift::unseen},
    {"no map", "learned, T = identity", &PositionShift::stay},
}};

constexpr double kMaxShown = 2;  // larger errors are clipped: a guess twice as long as e itself is useless

/// Whether the fitted map can be exact, so that its error is rounding at every k.
bool fits_exactly(const ViewContext& c, const PositionShift& shift) {
  return shift.pairs <= c.run->run->config.n_embd;
}

double most_of(const PositionShift& shift) {
  double most = 0;
  for (const Method& method : kMethods)
    for (const float e : shift.*method.errors)
      if (std::isfinite(e)) most = std::max(most, static_cast<double>(e));
  return most;
}

viz::CurveChart chart_of(const ViewContext& c, const PositionShift& shift) {
  viz::CurveChart chart;
  chart.count = shift.steps + 1;
  chart.role = kErrors;
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    const std::vector<float>& errors = shift.*kMethods[i].errors;
    const bool rounds = kMethods[i].errors == &PositionShift::learned && fits_exactly(c, shift) &&
                        !(c.printed && is_column_wide(c));  // where the caption alone says it
    chart.curves.push_back({viz::Matrix::row(errors),
                            std::string(kMethods[i].name) + (rounds ? ": rounding" : ""),
                            viz::categorical(*c.theme, static_cast<int>(i)), static_cast<int>(i)});
  }
  chart.high = std::min(kMaxShown, 1.08 * std::max(most_of(shift), 1e-6));
  chart.low = -0.03 * chart.high;  // a curve along 0 is seen above the frame
  return chart;
}

/// The lines about the two maps.
std::vector<std::string> words_of(const ViewContext& c, const PositionShift& shift) {
  const int d = c.run->run->config.n_embd;
  std::vector<std::string> words{
      sinusoid_formula(d),
      "Sinusoids: T turns each pair (2i, 2i+1) by 1 / 10000" + viz::superscript("2i/" + std::to_string(d)) +
          ", so e(t+k) = T" + viz::superscript("k") +
          " e(t) for every t; the remaining error is float32 rounding.",
      "Learned: T is the " + std::to_string(d) + " × " + std::to_string(d) +
          " least-squares map from e(t) to e(t+1), fitted to " + std::to_string(shift.pairs) + " pairs."};
  if (fits_exactly(c, shift))
    words.back() +=
        " So few can be fitted exactly: what grows with k is rounding, which every step multiplies. "
        "Unseen positions are the real test.";
  return words;
}

/// "k = 1: sinusoidal 3.1e−8, learned 0.21, …"
std::string errors_at(const PositionShift& shift, std::size_t k) {
  std::string words = "k = " + std::to_string(k) + ":";
  for (const Method& method : kMethods) {
    const std::vector<float>& errors = shift.*method.errors;
    if (k < errors.size())
      words += (method.errors == kMethods[0].errors ? " " : ", ") + std::string(method.name) + " " +
               viz::number(static_cast<double>(errors[k]), 3);
  }
  return words;
}

Picture build(const ViewContext& c) {
  const auto shift = c.ask(ShiftOfPositions{});
  if (auto words = waiting(c, ShiftOfPositions{}, shift != nullptr)) return *words;
  if (shift->steps < 1) return message(c, "a single position has no next one");
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  Picture picture = blank(c);
  const auto done = static_cast<int>(shift->learned.size()) - 1;
  viz::Rect area = paint_title(
      picture, c, "From e(t) to e(t+k) by one map T",
      done < shift->steps ? "computing… k up to " + std::to_string(done)
                          : "error of T" + viz::superscript("k") + " e(t), k up to " + std::to_string(done));
  const auto say = [&](const std::string& words, viz::Color color) {
    for (const std::string& text : viz::wrap(style, words, style.small(), viz::FontStyle::regular, area.w)) {
      viz::add_label(picture.scene, style, text, {area.x, area.y + line / 2}, style.small(), color);
      area.y += line, area.h -= line;
    }
  };
  const std::vector<std::string> words = words_of(c, *shift);
  // In a paper, the text around the figure explains it.
  if (area.h > 26 * style.font_size && !c.printed)
    for (std::size_t i = 0; i < words.size(); ++i)
      say(words[i], i == 0 ? c.theme->text : c.theme->text_muted);
  say(errors_at(*shift, 1), c.theme->text_muted);

  const viz::CurveChart chart = chart_of(c, *shift);
  const float left = style.width("0.00", style.small()) + 3 * u,
              right = viz::curve_labels_width(chart, style);
  const float top = line + 4 * u, bottom = viz::column_numbers_height(style);
  const viz::Rect plot{style.snapped(area.x + left), style.snapped(area.y + top),
                       std::floor(area.w - left - right), std::floor(area.h - top - bottom)};
  if (plot.h < 4 * style.font_size || plot.w < 6 * style.font_size) return too_small(c);
  const viz::Region region = viz::paint_curves(picture, chart, plot, style);
  viz::paint_column_numbers(picture.scene, region, "k, positions ahead", style);
  if (static_cast<float>(chart.curves.size()) * line > plot.h) picture.whole = false;  // names had no room
  const std::string error = "√(Σ |T" + viz::superscript("k") + " e(t) − e(t+k)|² / Σ |e(t+k)|²)",
                    off = chart.high < most_of(*shift) ? "; arrow: beyond " + viz::number(chart.high, 2) : "";
  const viz::Point above{plot.x, plot.y - 2 * u - line / 2};
  if (!viz::add_whole_label(picture.scene, style, error + off, above, plot.w + right, c.theme->text_muted))
    viz::add_muted(picture.scene, style, error, above, viz::Align::left, plot.w + right);
  return picture;
}

/// The errors of all methods, a row for each k.
Table table(const ViewContext& c) {
  const auto shift = c.run ? c.ask(ShiftOfPositions{}) : nullptr;
  if (!shift) return {};
  Table result{key_column("k")};
  for (const Method& method : kMethods) result.columns.emplace_back(method.words);
  for (std::size_t k = 0; k < shift->learned.size(); ++k)
    add_row(result, k, kMethods | std::views::transform([&](const Method& method) {
                         return ((*shift).*method.errors)[k];
                       }));
  return result;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto shift = c.run ? c.ask(ShiftOfPositions{}) : nullptr;
  if (!shift || hit.col >= std::ssize(shift->learned)) return facts;
  const viz::Region& region = region_of(picture, hit);
  const float x = region.cell_rect(0, hit.col).center().x;
  facts.overlay.add(viz::Segments{{{x, region.rect.y}, {x, region.rect.bottom()}}, c.theme->text_muted, 1});
  facts.say(std::to_string(hit.col) + (hit.col == 1 ? " position" : " positions") + " ahead");
  for (const Method& method : kMethods) {
    const float error = (shift.get()->*method.errors)[hit.col];
    facts.number(std::string(method.words) + ":", error, Fact::Location::tooltip);
    facts.said.back().copied.clear();
    facts.number(std::string(method.name), error, Fact::Location::status);
  }
  return facts;
}

}  // namespace position_shift

View position_shift_view() {
  using namespace position_shift;
  View view =
      make_view(Group::input, "shift", "Shift",
                "whether one linear map takes every position to the next: exact for the sinusoids, and how "
                "large the error is for the learned embeddings",
                build, facts, table);
  view.print_shape = [](const ViewContext& c) { return is_column_wide(c) ? 1.3F : 0.65F; };
  view.needs = Capability::weights | Capability::positions_table;
  view.caption = {
      .prompt = false,
      .note =
          "relative error of predicting the position vector e(t+k) from e(t) by applying a linear "
          "map T k times; sinusoidal: T is exact; learned: T fitted to all positions t, exactly if "
          "there are no more steps than dimensions, so that what grows is rounding; unseen: "
          "T fitted to even t, tested at odd t; no map: T is the identity"};
  view.landmarks = {landmark("errors", kErrors)};
  return view;
}

}  // namespace headscope::app
