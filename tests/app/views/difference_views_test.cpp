// Views of numbers on the difference side: each number is the run's minus the baseline's.

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/analyses/token_pass.h"
#include "app/run/edits/edit_text.h"
#include "model/pass/statistics.h"
#include "model/tokens/sampling.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::difference_views_test {
namespace {

Scenario edited(const char* edits = "L2H1.z=0") {
  return testing::edited(edits);
}

TEST(ViewDifference, PredictionsComparesOnlyWhereTheSameTokenFollows) {
  const Table table = table_of(Side::difference, "predictions", of_two());
  std::vector<bool> compared;
  double sum = 0;
  for (const double difference : numbers_of(table, "difference of loss")) {
    compared.push_back(!is_no_number(difference));
    if (compared.back()) sum += difference;
  }
  EXPECT_NEAR(fact_of(table, "mean difference of loss"), sum / 2, 1e-9);
  // "The" is followed by " old" in one prompt and by " very" in the other, " had" by " a" and " daughter".
  EXPECT_EQ(compared, (std::vector<bool>{false, true, true, false, false, false}));
}

TEST(ViewDifference, TheLensFollowsTheBaselinesAnswerUpTheStream) {
  const Scenario scenario = edited(), clean(kRobot);
  const auto difference = scenario.ask_difference(LensOf{0});
  const auto lens = clean.ask(LensOf{0});
  const int end = difference->places - 1;
  for (int position = 0; position < scenario.length(); ++position) {
    SCOPED_TRACE(position);
    ASSERT_TRUE(difference->compares(position));
    EXPECT_EQ(difference->answer(position), lens->answer(position));
    for (int place = 0; place <= end; ++place) {
      const auto& before = difference->before_at(position, place).guesses;
      EXPECT_EQ(before.next_probability, lens->at(position, place).guesses.next_probability);
      if (lens_place(place).layer <= 2 && place <= 4) {
        EXPECT_EQ(difference->at(position, place).guesses.next_probability, before.next_probability)
            << "before the edit";
      }
    }
    std::vector<double> probabilities(scenario.config().vocab_size);
    model::softmax(scenario.ask(NextAfter{position})->logits, 1, probabilities);
    EXPECT_NEAR(difference->at(position, end).guesses.next_probability, probabilities[lens->answer(position)],
                1e-7);
  }
}

TEST(ViewDifference, AttributionAddsUpToTheDifferenceOfTheLogit) {
  const Scenario scenario = edited(), clean(kRobot);
  const Table table = table_of(Side::difference, "attribution", scenario);
  const int best = model::largest_logits(clean.ask(NextAfter{8})->logits, 1).front().id;
  const auto logit = [&](const Scenario& of) {
    return static_cast<double>(of.ask(NextAfter{8})->logits[best]);
  };
  const auto parts = numbers_of(table, "difference of logit");
  const double difference = logit(scenario) - logit(clean);
  EXPECT_GT(std::abs(difference), 1e-3);
  EXPECT_NEAR(fact_of(table, "value"), difference, 1e-6);
  EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), difference, 1e-4);
  // The ablated head contributes nothing: its whole contribution is the difference.
  const auto gave = clean.ask(AttributionOf{logit_at(8, TokenRef::of(best))});
  const auto names = texts_of(table, "part");
  const auto head = std::ranges::find(names, "L2 H1") - names.begin();
  ASSERT_LT(head, std::ssize(names));
  EXPECT_NEAR(parts[static_cast<std::size_t>(head)], -gave->head(2, 1), 1e-9);
}

TEST(ViewDifference, ARankMeansTheSameTokenOnAllSides) {
  // Without attention and MLPs the model has another first guess.
  const Scenario scenario = edited("L0.attn_out=0; L1.mlp_out=0; L2.attn_out=0; L3.mlp_out=0");
  const auto token_in = [](const Table& table) { return fact_of(table, "token id"); };
  std::vector<double> tokens;
  for (const Side side : {Side::run, Side::baseline, Side::difference})
    tokens.push_back(token_in(table_of(side, "attribution", scenario)));
  EXPECT_THAT(tokens, Each(tokens.front()));
  const Scenario alone(
      Prompt{kRobot,
             {},
             false,
             parse_edits("L0.attn_out=0; L1.mlp_out=0; L2.attn_out=0; L3.mlp_out=0", *bundled())});
  EXPECT_NE(token_in(table_of(Side::run, "attribution", alone)), tokens.front()) << "else this says nothing";
}

TEST(ViewDifference, ThePassIsTheDifferenceOfEachVector) {
  const Scenario scenario = edited(), clean(kRobot);
  const Table table = table_of(Side::difference, "pass", scenario);
  const auto after = scenario.ask(PassOfToken{-1}), before = clean.ask(PassOfToken{-1});
  const std::vector<double> norms = numbers_of(table, "norm of the difference");
  const std::size_t first = table.at("[0]");
  const auto rows = text_rows(table);
  ASSERT_EQ(rows.size(), 1 + 4 * after->blocks.size());
  for (std::size_t row = 0; row < 1 + 4 * 2; ++row)
    EXPECT_EQ(norms[row], 0) << "before the edit of layer 2, row " << row;
  for (std::size_t layer = 2; layer < after->blocks.size(); ++layer) {
    const auto &end = after->blocks[layer]->resid_post, &was = before->blocks[layer]->resid_post;
    double squares = 0;
    for (std::size_t i = 0; i < end.size(); ++i) {
      const double difference = static_cast<double>(end[i] - was[i]);
      squares += difference * difference;
      EXPECT_NEAR(std::stod(rows[4 + 4 * layer][first + i]), difference, 1e-5);
    }
    EXPECT_NEAR(norms[4 + 4 * layer], std::sqrt(squares), 1e-4);
    EXPECT_GT(norms[1 + 4 * layer], 0) << "attn_out of layer " << layer;
  }
}

/// By the cells of the key columns, as text: the row that has them.
std::map<std::vector<std::string>, std::size_t> rows_by_key(const Table& table,
                                                            const std::vector<std::string>& keys) {
  std::map<std::vector<std::string>, std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) {
      const Column& column = table.columns[table.at(key)];
      cells.push_back(column.has_texts() ? std::get<1>(column.cells)[row]
                                         : number_text(std::get<0>(column.cells)[row]));
    }
    rows[cells] = row;
  }
  return rows;
}

/// "score" of "difference of score" and "Δ score"; empty: it is no difference.
std::string compared_name(const std::string& name) {
  for (const std::string prefix : {"difference of ", "Δ "})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return "";
}

TEST(ViewDifference, IsTheRunsNumberLessTheBaselinesInEveryTable) {
  Scenario scenario = edited("L0.attn_out=0");
  scenario.select({3, 2, 5, 2});
  const auto expect_difference = [](double shown, double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return 0;
    EXPECT_NEAR(shown, a - b, 1e-5 * std::max({1.0, std::abs(a), std::abs(b)}));
    return 1;
  };
  int views_compared = 0;
  for (const View& view : views()) {
    if (!view.shows_difference || view.id == "score_sources") continue;  // has tests of its own
    const auto table = [&](Side side) {
      ViewContext c = on(side, view.id, scenario);
      if (view.id == "query") set(c, "strips", "breakdown");
      if (view.id == "mlp") set(c, "neurons", "200");
      return view.table(c);
    };
    const Table now = table(Side::run), before = table(Side::baseline), difference = table(Side::difference);
    std::vector<std::string> keys;
    for (const Column& column : difference.columns)
      if (column.used_as() == Column::Use::key && std::ranges::count(headings(now), column.name) > 0)
        keys.push_back(column.name);
    const auto now_rows = rows_by_key(now, keys), before_rows = rows_by_key(before, keys);
    int compared = 0;
    for (const Column& column : difference.columns) {
      const std::string of = compared_name(column.name);
      SCOPED_TRACE(std::string(view.id) + " " + of);
      if (std::ranges::count(headings(now), of) == 0 || now_rows.size() != now.rows()) continue;
      for (const auto& [cells, row] : rows_by_key(difference, keys))
        if (now_rows.contains(cells) && before_rows.contains(cells))
          compared +=
              expect_difference(std::get<0>(column.cells)[row], numbers_of(now, of)[now_rows.at(cells)],
                                numbers_of(before, of)[before_rows.at(cells)]);
    }
    for (const TableFact& fact : difference.facts) {
      const std::string of = compared_name(fact.name);
      SCOPED_TRACE(std::string(view.id) + " " + of);
      if (std::ranges::count(now.facts, of, &TableFact::name) > 0)
        compared += expect_difference(fact_of(difference, fact.name), fact_of(now, of), fact_of(before, of));
    }
    views_compared += compared > 0;
  }
  EXPECT_GE(views_compared, 13);
}

TEST(ViewDifference, EveryViewThatHasOneIsDrawnForTwoPromptsOfAnyLengths) {
  for (const auto& [second, by] :
       {std::pair{"The", Alignment::position},
        {"The very old king had daughter", Alignment::subsequence},
        {"A robot must obey the orders given it by human beings", Alignment::position}}) {
    Scenario scenario(Prompt{"The old king had a daughter", {}, false});
    scenario.compare(Prompt{second, {}, false}, by);
    for (const int query : {-1, 0, 4}) {
      scenario.select({2, 1, query});
      for (const View& view : views()) {
        if (!view.shows_difference) continue;
        SCOPED_TRACE(std::string(view.id) + " " + second);
        const ViewContext c = on_side(Side::difference, view, scenario.context(700, 500));
        const viz::Picture picture = view.build(c);
        EXPECT_FALSE(picture.scene.items.empty());
        static_cast<void>(view.table(c));
        for (int region = 0; region < std::ssize(picture.regions); ++region)
          static_cast<void>(view.facts(c, picture, {region, 0, 0}));
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app::difference_views_test
