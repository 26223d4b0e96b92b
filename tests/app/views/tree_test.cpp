// Texts ahead: the tree of guesses, texts drawn ahead and tried continuations, and the cache of keys and
// values.
#include "app/run/analyses/predictions.h"
#include "model/tokens/sampling.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::tree_test {
namespace {

/// A row of the view's table.
struct Row {
  int parent = -1;
  int position = 0;
  int id = 0;
  std::optional<double> probability;
  std::string from;
};

std::vector<Row> rows_of(const Table& table) {
  std::vector<Row> rows;
  for (const auto& cells : text_rows(table)) {
    Row row{
        cells[1].empty() ? -1 : std::stoi(cells[1]), std::stoi(cells[2]), std::stoi(cells[3]), {}, cells[6]};
    if (!cells[5].empty()) row.probability = std::stod(cells[5]);
    rows.push_back(row);
  }
  return rows;
}

TEST(Tree, HasTheTenBestGuessesWithTheReferencesProbabilities) {
  const Scenario s(kRobot);
  const ViewFixture shown("tree", s, 900, 700, {{"texts", "0"}});
  const std::vector<Row> rows = rows_of(shown.table());
  ASSERT_EQ(rows.size(), 11U);
  const auto p = reference(s).probabilities(s.length() - 1);
  for (int i = 1; i <= 10; ++i) {
    const Row& row = rows[i];
    EXPECT_EQ(row.parent, 0);
    EXPECT_EQ(row.position, s.length());
    EXPECT_EQ(reference(s).rank(s.length() - 1, row.id), i);
    EXPECT_NEAR(row.probability.value(), p.at(static_cast<std::size_t>(row.id)), 1e-6);
    EXPECT_EQ(row.from, "prediction");
  }
}

TEST(Tree, HasEveryTextThatIsDrawnAhead) {
  const Scenario s(kRobot);
  const ViewFixture shown("tree", s, 900, 700, {{"texts", "4"}, {"ahead", "5"}, {"seed", "3"}});
  const std::vector<Row> rows = rows_of(shown.table());
  const auto drawn = s.ask(ContinuationsOf{4, 5, 1, 0, 1, 3});
  for (const auto& text : drawn->texts) {
    int at = 0;
    for (const DrawnToken& token : text) {
      const auto child =
          std::ranges::find_if(rows, [&](const Row& row) { return row.parent == at && row.id == token.id; });
      ASSERT_NE(child, rows.end());
      EXPECT_NEAR(child->probability.value(), token.probability, 1e-6);
      EXPECT_EQ(child->from, "sampled by the model");
      at = static_cast<int>(child - rows.begin());
    }
  }
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i].parent, static_cast<int>(i));
}

/// Two texts that were tried from the prompt without its last token: the prompt, and one that ends with 11.
struct Tried {
  const Scenario s{kRobot};
  const std::vector<int> prompt = s.run->run->tokens, before{prompt.begin(), prompt.end() - 1};
  std::vector<int> other = before;
  ViewContext c = s.context(1200, 700);
  const View& view = *find_view("tree");
  Tried() {
    other.push_back(11);
    const Tries tries = with_step({}, before, prompt, std::vector<double>{0.5});
    c.tries = std::make_shared<const Tries>(with_step(tries, before, other, std::vector<double>{0.125}));
    c.options.set(*find_option("texts"), 0);
  }
};

TEST(Tree, ShowsWhatWasTriedAndAClickGoesBackToIt) {
  const Tried t;
  const std::vector<Row> rows = rows_of(t.view.table(t.c));
  EXPECT_EQ(rows[0].id, t.before.back()) << "the root is where both began";
  EXPECT_EQ(std::ranges::count(rows, "tried before", &Row::from), 1);
  const Picture picture = t.view.build(t.c);
  bool is_tried = false;
  for (std::size_t i = 0; i < picture.regions.size(); ++i) {
    const int node = picture.regions[i].id;
    const viz::Hit hit{static_cast<int>(i), 0, 0};
    const ViewActions actions = t.view.on(t.c, picture, &hit, {Gesture::Kind::click, {}, {}, {}});
    std::vector<int> ids = t.before;
    if (node > 0 && rows[node].parent > 0) ids.push_back(rows[rows[node].parent].id);
    if (node > 0) ids.push_back(rows[node].id);
    ASSERT_EQ(actions.size(), ids == t.prompt ? 0U : 1U);
    if (ids == t.prompt) continue;  // it is there
    const auto& to = std::get<SetTokens>(actions.front());
    EXPECT_EQ(to.ids, ids);
    if (ids != t.other) continue;
    EXPECT_THAT(to.probabilities, ElementsAre(0.125));
    is_tried = true;
  }
  EXPECT_TRUE(is_tried);
}

TEST(Tree, ArrowsWalkAlongTheTexts) {
  const Tried t;
  const Picture picture = t.view.build(t.c);
  const auto press = [&](Key key) {
    const ViewActions actions = t.view.on(t.c, picture, nullptr, {Gesture::Kind::key, {}, {}, {}, key});
    return actions.empty() ? std::vector<int>() : std::get<SetTokens>(actions.front()).ids;
  };
  EXPECT_EQ(press(Key::left), t.before);
  EXPECT_EQ(press(Key::down), t.other);
  EXPECT_EQ(press(Key::up), std::vector<int>()) << "it is the first";
  std::vector<int> longer = t.prompt;
  const auto p = reference(t.s).probabilities(t.s.length() - 1);
  longer.push_back(static_cast<int>(std::ranges::max_element(p) - p.begin()));
  EXPECT_EQ(press(Key::right), longer);
}

TEST(Cache, EachPassComputesOneTokenAndKeepsTheOthers) {
  const Scenario s(kRobot);
  const ViewFixture shown("cache", s, 900, 600, {{"ahead", "5"}});
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), 6U);
  const int n = s.length();
  EXPECT_EQ(rows[0][2], "0");
  EXPECT_EQ(rows[0][3], std::to_string(n));
  const model::Config& config = s.config();
  for (int pass = 1; pass <= 5; ++pass) {
    const auto& row = rows[pass];
    EXPECT_EQ(row[2], std::to_string(n + pass - 1));
    EXPECT_EQ(row[3], "1");
    EXPECT_EQ(row[4], std::to_string((n + pass) * config.n_layer * config.n_embd * 2 * 4));
  }
}

}  // namespace
}  // namespace headscope::app::tree_test
