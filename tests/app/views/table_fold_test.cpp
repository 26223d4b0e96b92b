// Means of tables over prompts, compared with plain float64 means.
#include "app/views/table_fold.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <span>

#include "tests/app/view_fixture.h"
#include "tests/support/naive_mean.h"
#include "tests/support/sentences.h"

namespace headscope::app::table_fold_test {
namespace {

const double kNan = std::nan("");

Table prompt(const std::vector<std::vector<double>>& rows) {
  Table table{key_column("layer"), note_column("token"), Column("loss", "bits")};
  table.ranked_by = "loss";
  for (const std::vector<double>& row : rows) add_row(table, row[0], std::to_string(row[1]), row[1]);
  return table;
}

TableFold fold_of(std::span<const Table> tables) {
  TableFold fold;
  for (const Table& table : tables) fold.add(TableFold(table, ""), "");
  return fold;
}

/// 20 prompts' tables with numbers around a mean that is much larger than their spread.
std::vector<Table> twenty() {
  std::mt19937 random(3);
  std::vector<Table> tables;
  for (int i = 0; i < 20; ++i) {
    const auto number = [&] { return 100 + std::ldexp(static_cast<double>(random()), -30); };
    tables.push_back(prompt({{0, number()}, {1, number()}}));
    tables.back().fact("value", number(), "bits");
  }
  return tables;
}

TEST(TableFold, HasTheMeanErrorAndCountOfEachNumber) {
  const std::vector<Table> tables = twenty();
  const Table means = fold_of(tables).means();
  EXPECT_THAT(headings(means), ElementsAre("layer", "loss mean", "loss standard error", "loss count"));
  EXPECT_EQ(means.ranked_by, "loss mean");
  for (std::size_t row = 0; row < 2; ++row) {
    std::vector<double> numbers;
    for (const Table& table : tables) numbers.push_back(numbers_of(table, "loss")[row]);
    const auto [mean, error] = testing::mean_and_error(numbers);
    EXPECT_NEAR(numbers_of(means, "loss mean")[row], mean, 1e-9);
    EXPECT_NEAR(numbers_of(means, "loss standard error")[row], error, 1e-9);
    EXPECT_EQ(numbers_of(means, "loss count")[row], 20);
  }
  EXPECT_EQ(fact_of(means, "prompts"), 20);
  EXPECT_EQ(fact_of(means, "value count"), 20);
  EXPECT_TRUE(std::isnan(numbers_of(fold_of(std::span(tables).first(1)).means(), "loss standard error")[0]));
}

TEST(TableFold, OfPartsMergesToTheWhole) {
  const std::vector<Table> tables = twenty();
  TableFold merged;
  for (std::size_t first = 0; first < 20; first += 5) {
    const Table part = fold_of(std::span(tables).subspan(first, 5)).means();
    merged.add(TableFold::of_means(table_from(table_json(part)), "part"), "part");
  }
  const Table whole = fold_of(tables).means(), again = merged.means();
  EXPECT_EQ(headings(again), headings(whole));
  for (const char* column : {"loss mean", "loss standard error", "loss count"})
    for (std::size_t row = 0; row < 2; ++row)
      EXPECT_NEAR(numbers_of(again, column)[row] / numbers_of(whole, column)[row], 1, 1e-12) << column;
  for (const char* fact : {"prompts", "value mean", "value standard error", "value count"})
    EXPECT_NEAR(fact_of(again, fact) / fact_of(whole, fact), 1, 1e-12) << fact;
}

TEST(TableFold, MatchesRowsByTheirKeysWhateverTheirOrder) {
  const std::vector tables{prompt({{0, 1}, {1, 10}}), prompt({{1, 20}, {2, 5}, {0, kNan}})};
  const Table means = fold_of(tables).means();
  EXPECT_THAT(numbers_of(means, "layer"), ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers_of(means, "loss mean"), ElementsAre(1, 15, 5));
  EXPECT_THAT(numbers_of(means, "loss count"), ElementsAre(1, 2, 1)) << "of prompts that have the number";
}

TEST(TableFold, KeepsWordsThatAllPromptsSay) {
  std::vector tables{prompt({{0, 1}}), prompt({{0, 2}})};
  for (Table& table : tables) table.fact("metric", "logit");
  tables[0].fact("token", "it");
  tables[1].fact("token", "that");
  const Table means = fold_of(tables).means();
  EXPECT_EQ(std::ranges::count(means.facts, "metric", &TableFact::name), 1);
  EXPECT_EQ(std::ranges::count(means.facts, "token", &TableFact::name), 0);
}

TEST(TableFold, RefusesTablesThatDoNotFitTogether) {
  const auto failure = [](const std::vector<Table>& tables) {
    return testing::message_of<std::runtime_error>([&] {
      TableFold fold;
      for (const Table& table : tables) fold.add(TableFold(table, "it: "), "it: ");
    });
  };
  Table other{key_column("layer"), "probability"};
  add_row(other, 0, 0.5);
  Table words{"name"};
  add_row(words, "x");
  EXPECT_THAT(failure({prompt({{0, 1}}), other}), StartsWith("it: its table has other columns"));
  EXPECT_THAT(failure({prompt({{0, 1}, {0, 2}})}), StartsWith("it: rows of its table have the same names"));
  EXPECT_THAT(failure({words}), StartsWith("it: its table has no numbers"));
}

TEST(TableFold, ReadsNothingButMeans) {
  const Table means = fold_of(twenty()).means();
  const auto broken = [&](const auto& change) {
    nlohmann::ordered_json json = table_json(means);
    change(json);
    EXPECT_THROW(TableFold::of_means(table_from(json), "x: "), std::exception) << json.dump();
  };
  broken([](auto& json) { json["facts"].erase("prompts"); });
  broken([](auto& json) { json["facts"]["prompts"] = 0; });
  broken([](auto& json) { json["ranked_by"] = "nothing mean"; });
  broken([](auto& json) { json["columns"]["layer"][1] = 0; });
  broken([](auto& json) { json["columns"]["loss count"][0] = -1; });
  broken([](auto& json) { json["columns"].erase("loss count"); });
  EXPECT_THROW(TableFold::of_means(prompt({{0, 1}}), "x: "), std::runtime_error);
}

}  // namespace
}  // namespace headscope::app::table_fold_test
