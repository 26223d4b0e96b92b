// Lines between queries and keys: read from the picture, compared with the pattern; and pinned tokens.

#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::lines_test {
namespace {

constexpr int kQueries = 0, kKeys = 1;

TEST(Lines, TheTableHasAllWeightsFromTheThresholdOnOfEachHead) {
  const Scenario s(kRobot);
  const auto rows =
      text_rows(ViewFixture("lines", s, 900, 700,
                            {{"line-heads", "2.1, 0.3"}, {"threshold", "0.05"}, {"all-queries", "yes"}})
                    .table());
  std::vector<std::vector<std::string>> expected;
  for (const auto& [layer, head] : {std::pair{2, 1}, {0, 3}}) {
    const auto pattern = s.ask(PatternOf{layer, head});
    for (int query = 0; query < s.length(); ++query)
      for (int key = 0; key <= query; ++key)
        if (const float weight = pattern->matrix().at(query, key); weight >= 0.05F)
          expected.push_back({head_name(layer, head), std::to_string(query), s.run->tokens.labels[query],
                              std::to_string(key), s.run->tokens.labels[key], plain(weight)});
  }
  EXPECT_THAT(rows, ::testing::UnorderedElementsAreArray(expected));
}

TEST(Lines, EveryWeightOfTheTableIsDrawnAndNamedByItsHead) {
  const Scenario s(kRobot);
  const NamedOptions options{{"line-heads", "2.1,0.3"}, {"all-queries", "yes"}};
  const ViewFixture shown("lines", s, 900, 700, options);
  const std::size_t weights = shown.table().rows();
  const viz::Region& queries = shown.region(shown.find(kQueries));
  std::size_t lines = 0;
  for (const viz::Segments& item : items_of<viz::Segments>(shown.scene()))
    for (std::size_t i = 0; i + 1 < item.points.size(); i += 2)
      lines += item.points[i + 1].x - item.points[i].x > 100 && item.points[i].x < queries.rect.right();
  EXPECT_EQ(lines, weights);
  const auto written = texts(shown.scene());
  for (const char* name : {"L2 H1", "L0 H3"}) EXPECT_EQ(std::ranges::count(written, name), 1) << name;
  EXPECT_EQ(std::ranges::count(written, std::to_string(weights) + " weights of at least 0.02"), 1);

  const ViewFixture arcs("lines", s, 900, 700,
                         {{"arrangement", "arcs"}, {"threshold", "0.2"}, {"all-queries", "yes"}});
  const auto is_curve = [](const viz::Polyline& line) { return line.points.size() > 2; };
  EXPECT_EQ(std::ranges::count_if(items_of<viz::Polyline>(arcs.scene()), is_curve),
            static_cast<std::ptrdiff_t>(arcs.table().rows()));
}

/// A prompt of that length, with a model of ten heads.
const Scenario& many_heads(int length) {
  static const Scenario all = [length] {
    const TemporaryFolder folder;
    write_other_model(folder,
                      {.layers = 2, .heads = 5, .width = 20, .positions = length, .vocabulary = 4096});
    std::vector<int> ids(length);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i * 37 % 4000);
    return Scenario(Prompt{"", ids, false}, {0, 0, -1}, load_model(folder.path(), {}));
  }();
  return all;
}

TEST(Lines, TheTableIsBoundedAndSaysSo) {
  const Scenario& s = many_heads(1024);
  const Table table = ViewFixture("lines", s, 900, 700, {{"threshold", "0"}, {"all-queries", "yes"}}).table();
  ASSERT_EQ(table.rows(), 100'000U);
  EXPECT_EQ(fact_of(table, "weights"), 524'800);
  EXPECT_TRUE(std::ranges::is_sorted(numbers_of(table, "weight"), std::greater{})) << "the strongest first";
}

TEST(Lines, NoMoreHeadsAreDrawnThanMemoryHoldsAndItSaysSo) {
  const ViewFixture shown("lines", many_heads(1024), 900, 700,
                          {{"line-heads", "0.0,0.1,0.2,0.3,0.4,1.0,1.1,1.2"}, {"threshold", "0.5"}});
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("the first 6 of 8 heads; ")));
  EXPECT_THAT(texts(shown.scene()), Contains("Attention of 6 heads"));
  EXPECT_EQ(in_words(find_view("lines")->commands[0].act(shown.context(), 0)),
            "line-heads 0.1,0.2,0.3,0.4,1.0,1.1,1.2");
}

TEST(Lines, ClicksSelectAndTakeBack) {
  Scenario s(kRobot, {1, 2, 6, 3});
  const ViewFixture shown("lines", s, 900, 700, {{"threshold", "0"}});
  EXPECT_THAT(shown.picture().subtitle, AllOf(HasSubstr("from query 6 “"), HasSubstr(" and to key 3 “")));
  const int queries = shown.find(kQueries), keys = shown.find(kKeys);
  EXPECT_EQ(in_words(shown.click(queries, 4)), "query 4, all-queries no");
  EXPECT_EQ(in_words(shown.click(keys, 2)), "key 2, all-queries no");
  EXPECT_EQ(in_words(shown.click(keys, 7)),
            "query " + std::to_string(s.length() - 1) + ", key 7, all-queries no");
  EXPECT_EQ(in_words(shown.click(queries, 6)), "all-queries yes") << "the selected one";
  EXPECT_EQ(in_words(shown.click(keys, 3)), "key -1");
  // The lines from query 6 to its 7 keys, and to key 3 from all other queries that see it.
  std::set<std::pair<std::string, std::string>> lines;
  for (const auto& row : text_rows(shown.table())) {
    EXPECT_TRUE(row[1] == "6" || row[3] == "3");
    EXPECT_TRUE(lines.emplace(row[1], row[3]).second) << "twice";
  }
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(7 + s.length() - 3 - 1));
}

TEST(Lines, CommandsGatherHeads) {
  const Scenario s(kRobot);
  const View& view = *find_view("lines");
  ViewContext c = s.context(900, 700);
  EXPECT_EQ(in_words(view.commands[0].act(c, 0)), "line-heads 2.1");
  set(c, "line-heads", "0.0,2.1");
  EXPECT_EQ(in_words(view.commands[0].act(c, 0)), "line-heads 0.0");
  const std::string layer = in_words(view.commands[1].act(c, 0));
  EXPECT_THAT(layer, HasSubstr("line-heads 2.0,2.1,2.2"));
  set(c, "line-heads", layer.substr(layer.find(' ') + 1));
  EXPECT_EQ(in_words(view.commands[1].act(c, 0)), "line-heads chosen");
}

}  // namespace
}  // namespace headscope::app::lines_test
