#include "app/views/output/lens_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "app/run/analyses/measured_cells.h"
#include "app/views/output/lens_blocks.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/list.h"
#include "app/views/parts/names.h"
#include "app/views/parts/prompt_list_words.h"
#include "viz/charts/table.h"
#include "viz/scene/colormap.h"

namespace headscope::app {

const Option<int> kFirstPlace =
    first_row_option("first-place", "First place", "first place shown in the list of means");

namespace lens_means {

const ListRows kRows{.role = kLensRow, .first = kFirstPlace, .names = "places", .runs_on = true};

LensOnList question_of(const ViewContext& c) {
  return {over_list(c), lens_token(c)};
}

/// A number of each place.
struct Quantity {
  std::string name;
  int digits = 4;
  double scientific = 0;  ///< smaller numbers are written so

  std::string written(double value) const {
    return value != 0 && std::abs(value) < scientific ? viz::number(value, 2)
                                                      : viz::fixed_number(value, digits);
  }
};
/// In the order of the cells, which is that of the colourings.
const std::array<Quantity, kLensNumbers>& quantities() {
  static const std::array<Quantity, kLensNumbers> all{Quantity{"probability", 4, 1e-4}, Quantity{"rank", 1},
                                                      Quantity{"KL, bits"}};
  return all;
}

/// The means, with the places that are shown, the end of the stream first.
struct Means {
  std::shared_ptr<const MeansOnList> answer;
  std::vector<int> places;
  std::vector<std::string> names;
  const SampleMean& at(int row, std::size_t quantity) const {
    return answer->means.mean(static_cast<std::size_t>(places[row]) * kLensNumbers + quantity);
  }
  double mean(int row, std::size_t quantity) const { return at(row, quantity).mean(); }
};

/// Nothing while no prompt is measured.
std::optional<Means> means_of(const ViewContext& c) {
  if (!c.run || !c.prompts) return std::nullopt;
  Means means{c.ask(question_of(c)), shown_places(c), {}};
  if (!means.answer || means.answer->means.empty()) return std::nullopt;
  for (const int place : means.places) means.names.push_back(place_name(c, place));
  return means;
}

std::size_t chosen(const ViewContext& c) {
  return static_cast<std::size_t>(c.options[kLensColor]);
}

/// The chosen number as bars, then the others.
List list_of(const ViewContext& c, const Means& means) {
  List list(c, kRows, static_cast<int>(means.places.size()));
  const std::size_t first = chosen(c);
  const Quantity& of_bars = quantities()[first];
  const auto mean_of = [&](std::size_t quantity) {
    return [&means, quantity](int row) { return means.mean(row, quantity); };
  };
  const auto with_fewer = [&](std::size_t quantity, int prompts) {
    return [&means, quantity, prompts](int row) { return means.at(row, quantity).count() < prompts; };
  };
  list.text("place", 9, means.names);
  list.bar("mean " + of_bars.name, 8, mean_of(first),
           {.digits = of_bars.digits,
            .scientific = of_bars.scientific,
            .rounds = true,
            .axis = true,
            .most = 24 * c.font_size,
            .is_signed = false,
            .blank = with_fewer(first, 1)});
  list.number("±", 7, [&means, first](int row) { return means.at(row, first).standard_error(); },
              {.color = c.theme->text_muted,
               .digits = of_bars.digits,
               .scientific = of_bars.scientific,
               .blank = with_fewer(first, 2)});
  for (std::size_t other = 0; other < kLensNumbers; ++other) {
    if (other == first) continue;
    // One column each, so that no number loses its error where there is little room.
    list.number(quantities()[other].name, 6 - static_cast<int>(other), mean_of(other),
                {.color = c.theme->text_muted, .blank = with_fewer(other, 1)})
        .text = [&means, other](int row) {
      const Quantity& quantity = quantities()[other];
      const SampleMean& mean = means.at(row, other);
      return quantity.written(mean.mean()) +
             (mean.count() < 2 ? "" : " ± " + quantity.written(mean.standard_error()));
    };
  }
  return list;
}

/// Whose probability and rank the means are of.
std::string target_words(const ViewContext& c) {
  const auto has_token = [](const ListedPrompt& line) { return !line.token.empty(); };
  if (std::ranges::none_of(c.prompts->prompts, has_token)) return lens_target(c);
  const bool all = std::ranges::all_of(c.prompts->prompts, has_token);
  return "the token that the prompt's line names" + (all ? "" : ", else " + lens_target(c));
}

Picture build(const ViewContext& c) {
  if (auto words = waiting_for_list(c)) return *words;
  const auto question = question_of(c);
  if (auto words = waiting_for_first_prompt(c, question, c.ask(question).get())) return *words;
  const auto means = means_of(c);
  List list = list_of(c, *means);
  if (!list.lay_out(below_title(c))) return too_small(c, "for the lens");
  Picture picture = blank(c);
  paint_title(picture, c, "Logit lens",
              means_words(c, *means->answer) +
                  "; after the prompt's last or named position: the prediction from each place in the "
                  "residual stream, with probability and rank of " +
                  target_words(c));
  list.paint(picture);
  return picture;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto means = means_of(c);
  const viz::Region& region = region_of(picture, hit);
  if (!means || region.role != kLensRow || region.id >= std::ssize(means->places)) return {};
  Facts facts = facts_of_row(c, region.rect);
  const int place = means->places[region.id];
  facts.say(place_name(c, place) + ": " + place_words(c, place));
  const std::size_t quantity = chosen(c);
  say_mean(facts, quantities()[quantity].name, means->at(region.id, quantity), false);
  for (std::size_t other = 0; other < kLensNumbers; ++other)
    if (other != quantity)
      facts.say("mean " + quantities()[other].name + " " + mean_text(means->at(region.id, other), false),
                Fact::Location::tooltip);
  return facts;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  return list_gesture(kRows, nullptr, nullptr, c, picture, hit, gesture);
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return list_scrolls(kRows, c, picture);
}

Table table(const ViewContext& c) {
  const auto means = means_of(c);
  return means ? table_of(means->answer->means) : Table{};
}

viz::Point figure_size(const ViewContext& c) {
  if (!c.run) return {56 * c.font_size, 40 * c.font_size};
  viz::Table table;
  table.rows = static_cast<int>(shown_places(c).size());
  table.max_rows = c.max_rows;
  return {56 * c.font_size, viz::table_height(table, style_of(c)) + 9 * c.font_size};
}

}  // namespace lens_means

const MeansForm kLensMeans{.build = lens_means::build,
                           .facts = lens_means::facts,
                           .table = lens_means::table,
                           .on = lens_means::on,
                           .scrolls = lens_means::scrolls,
                           .figure_size = lens_means::figure_size};

}  // namespace headscope::app
