// How a flow's figures are read: which scales two of them share, and that their numbers are the logit.
#include "app/run/analyses/logit_flow.h"
#include "app/run/analyses/predictions.h"
#include "app/views/parts/names.h"
#include "model/pass/statistics.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::flow_figure_test {
namespace {

constexpr const char* kMary = "When Mary and John went to the store, John gave a drink to";

/// The legend's width sample: thickness in the picture, for a logit of 1.
double scale_of_legend(const viz::Scene& scene) {
  double part = 0;
  for (const std::string& text : texts(scene))
    if (text.starts_with("this thick: ")) part = std::stod(text.substr(12));
  for (const viz::Polyline& line : items_of<viz::Polyline>(scene))
    if (line.color == light().bar && part > 0) return static_cast<double>(line.width) / part;
  return 0;
}

/// Length of the guesses' bars for a probability of 1.
double scale_of_bars(const ViewContext& c, const viz::Scene& scene) {
  const auto next = c.ask(NextAfter{c.selection.query});
  const double best = model::largest_logits(next->logits, 1).front().logit - model::log_sum_exp(next->logits);
  float longest = 0;
  for (const viz::FillRect& rect : items_of<viz::FillRect>(scene))
    if (rect.radius == 1) longest = std::max(longest, rect.rect.w);
  return static_cast<double>(longest) / std::exp(best);
}

TEST(FlowFigure, BothSidesOfAComparisonHaveOneScale) {
  const View& view = *find_view("flow");
  const Scenario compared = edited("L5.mlp_out*=3", {2, 1, -1}, kMary), alone(kMary);
  std::vector<double> bars;
  const auto scene = [&](Side side, const Scenario& s) {
    const ViewContext c = on_side(side, view, s.context(1191, 842));
    viz::Scene drawn = view.build(c).scene;
    bars.push_back(scale_of_bars(c, drawn));
    return drawn;
  };
  const viz::Scene run = scene(Side::run, compared), baseline = scene(Side::baseline, compared);
  const double common = scale_of_legend(run);
  EXPECT_GT(bars[0], 0);
  EXPECT_NEAR(bars[0], bars[1], 1e-3 * bars[0]);
  EXPECT_GT(common, 0);
  EXPECT_NEAR(common, scale_of_legend(baseline), 1e-3 * common);
  EXPECT_LE(common, scale_of_legend(scene(Side::run, alone)) * 1.001);
}

/// "−0.37" or "+0.37"; NaN: it is no such number.
double signed_number(std::string text) {
  constexpr std::string_view kMinus = "−";
  if (text.starts_with(kMinus)) text = "-" + text.substr(kMinus.size());
  if (!text.starts_with('+') && !text.starts_with('-')) return NAN;
  return text.find_first_not_of("+-.0123456789") == text.npos ? std::stod(text) : NAN;
}

/// "+0.37" at the end of a text that begins so; 0: there is none.
double number_after(const viz::Scene& scene, std::string_view words) {
  for (const std::string& text : texts(scene))
    if (text.starts_with(words))
      if (const double number = signed_number(text.substr(words.size())); !std::isnan(number)) return number;
  return 0;
}

TEST(FlowFigure, NumbersBelowTheTokensAndTheRestAreTheLogit) {
  constexpr const char* kLong =
      "Once upon a time there was a king who had a golden crown. Once upon a time there was a queen who had "
      "a golden";
  int with_others = 0;
  for (const char* prompt : {kMary, kLong, "The"}) {
    const Scenario s(prompt);
    const double logit = s.ask(LogitFlowOf{logit_at(s.length() - 1)})->logit;
    for (const auto& [width, height] : {std::pair{1191.F, 842.F}, {468.F, 560.F}, {3840.F, 2160.F}}) {
      SCOPED_TRACE(std::string(prompt) + ", " + std::to_string(width));
      const ViewFixture shown("flow", s, width, height, {{"flow-edges", "24"}});
      if (!shown.picture().readable) continue;
      int numbers = 0;
      double sum = 0;
      float row = 0;  // numbers further up are those of MLPs
      const auto runs = items_of<viz::GlyphRun>(shown.scene());
      for (const viz::GlyphRun& run : runs)
        if (run.text.starts_with("rest ")) row = run.origin.y;
      for (const viz::GlyphRun& run : runs)
        if (const double part = signed_number(run.text); !std::isnan(part) && run.origin.y > row)
          sum += part, ++numbers;
      for (const char* words : {"rest ", "others ", "tokens "}) {
        const double part = number_after(shown.scene(), words);
        sum += part;
        with_others += part != 0 && std::string_view(words) != "rest " ? 1 : 0;
      }
      EXPECT_NEAR(sum, logit, 0.006 * (numbers + 2));
    }
  }
  EXPECT_GT(with_others, 0);
}

}  // namespace
}  // namespace headscope::app::flow_figure_test
