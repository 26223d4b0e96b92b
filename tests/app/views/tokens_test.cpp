// Tokens, their vectors, and texts ahead: shades, numbers and rows of the file, compared with the reference;
// the tree of guesses, tried continuations, and the cache of keys and values.
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/predictions.h"
#include "app/run/analyses/vocabulary.h"
#include "tests/app/view_fixture.h"
#include "tests/support/textbook.h"

namespace headscope::app::tokens_test {
namespace {

/// "daughters": many bytes, and several merges.
Scenario daughters() {
  return Scenario("The king had three daughters", {0, 0, -1});
}

const NamedOptions kText{{"tokens-show", "text"}};
const NamedOptions kMerges{{"tokens-show", "merges"}};

TEST(Tokens, AChipForEachTokenAlsoBeyondTheContext) {
  const int n_ctx = bundled()->transformer->config().n_ctx;
  const Scenario s = Scenario::of_length(n_ctx + 30);
  ViewContext c = s.context(800, 100);
  const View& view = token_strip();
  c.height = view.whole_height(c);
  const Picture picture = view.build(c);
  ASSERT_EQ(picture.regions.size(), static_cast<std::size_t>(n_ctx + 30));
  const viz::Hit last{n_ctx + 5, 0, 0};
  const Facts beyond = view.facts(c, picture, last);
  EXPECT_THAT(beyond.tooltip(), Contains(HasSubstr("not run")));
  EXPECT_TRUE(view.on(c, picture, &last, {}).empty()) << "a click";
}

TEST(Tokens, NumbersAreThoseOfTheReference) {
  const Scenario s(kRobot, {2, 1, 5});
  const Table table = table_of("tokens", s, kText);
  const auto ids = numbers_of(table, "id"), probabilities = numbers_of(table, "probability"),
             ranks = numbers_of(table, "rank"), weights = numbers_of(table, "weight");
  ASSERT_EQ(std::ssize(ids), s.length());
  for (int position = 0; position < s.length(); ++position) {
    SCOPED_TRACE("position " + std::to_string(position));
    const int token = s.run->tokens.ids()[position];
    EXPECT_EQ(ids[position], token);
    EXPECT_EQ(is_no_number(probabilities[position]), position == 0);
    EXPECT_EQ(is_no_number(weights[position]), position > 5);
    if (position > 0) {
      EXPECT_NEAR(probabilities[position], reference(s).probabilities(position - 1)[token], 1e-5);
      EXPECT_EQ(ranks[position], reference(s).rank(position - 1, token));
    }
    if (position <= 5) {
      EXPECT_NEAR(weights[position], reference_head(s).weights[5][position], 1e-5);
    }
  }
}

TEST(Tokens, LineEndsBreakLinesAndScrollingFollows) {
  const Scenario s("one\ntwo\nthree\nfour\nfive\nsix");
  ViewContext c = s.context(800, 130);
  set(c, "tokens-show", "text");
  const View& view = *find_view("tokens");
  ViewContext high = c;
  high.height = view.whole_height(c);
  const Picture whole = view.build(high);
  std::set<float> lines;
  for (const viz::Region& region : whole.regions) lines.insert(region.rect.y);
  EXPECT_EQ(lines.size(), 6U);
  EXPECT_EQ(whole.regions.back().rect.y, *lines.rbegin()) << "the query's";
  set(c, "first-line", "0");
  EXPECT_EQ(view.build(c).regions.front().id, 0);
  for (const char* below : {"100", "auto"}) {  // as far down as possible; to the query's line
    set(c, "first-line", below);
    const Picture end = view.build(c);
    EXPECT_EQ(end.regions.back().id, s.run->run->length() - 1) << below;
    EXPECT_GT(end.regions.front().id, 0) << below;
  }
  c.selection.query = 0;
  EXPECT_EQ(view.build(c).regions.front().id, 0);
}

TEST(Tokens, LeftAndRightChooseTheQueryUpAndDownTheNearestOfALine) {
  const Scenario s(scenario(100).run->prompt, {2, 1, 40, 7});
  const ViewFixture shown("tokens", s, 500, 600, kText);
  EXPECT_EQ(in_words(shown.press(Key::left)), "query by -1");
  EXPECT_EQ(in_words(shown.press(Key::right, true)), "key 8");
  const viz::Rect from = shown.region(shown.chip(40)).rect;
  for (const Key key : {Key::up, Key::down}) {
    const ViewActions actions = shown.press(key);
    ASSERT_EQ(actions.size(), 1U);
    const viz::Rect chip = shown.region(shown.chip(std::get<SelectQuery>(actions[0]).position)).rect;
    EXPECT_EQ(key == Key::up, chip.y < from.y);
    for (int i = 0; i < 100; ++i) {
      const viz::Rect other = shown.region(shown.chip(i)).rect;
      if (other.y == chip.y) {
        EXPECT_LE(std::abs(chip.center().x - from.center().x), std::abs(other.center().x - from.center().x));
      }
    }
  }
}

TEST(Merges, TheTableHasARowForEachMerge) {
  const Scenario s = daughters();
  const auto rows = text_rows(table_of("tokens", s, kMerges));
  std::size_t row = 0;
  for (int i = 0; i < s.length(); ++i) {
    const int id = s.run->tokens.ids()[i];
    const auto steps = bundled()->tokenizer->merges(bundled()->tokenizer->bytes(id));
    for (std::size_t k = 0; k < std::max<std::size_t>(1, steps.size()); ++k, ++row) {
      ASSERT_LT(row, rows.size());
      EXPECT_EQ(rows[row][0], std::to_string(i));
      EXPECT_EQ(rows[row][5], steps.empty() ? "" : std::to_string(steps[k].rank + 1));
    }
  }
  EXPECT_EQ(row, rows.size());
  EXPECT_EQ(rows.back()[8], s.run->tokens.labels.back());
}

constexpr int kPosition = 5;

Scenario robot() {
  return Scenario(kRobot, {1, 2, kPosition});
}
int id_of(const Scenario& s) {
  return s.run->tokens.ids()[kPosition];
}

/// A row of a parameter, as in the file.
std::vector<double> row_of(const std::string& parameter, int row) {
  return testing::row_of(reference_model(), parameter, row);
}

/// All other tokens by descending cosine, in double precision.
std::vector<std::pair<double, int>> nearest_in_reference(int id) {
  const std::vector<double> own = row_of("wte.weight", id);
  std::vector<std::pair<double, int>> all;
  for (int other = 0; other < bundled()->transformer->config().vocab_size; ++other) {
    if (other == id) continue;
    const std::vector<double> row = row_of("wte.weight", other);
    all.emplace_back(-testing::cosine(own, row), other);
  }
  std::ranges::sort(all);
  for (auto& [cosine, other] : all) cosine = -cosine;
  return all;
}

TEST(Embedding, TheNearestAreThoseOfTheReferenceByCosine) {
  const Scenario s = robot();
  const auto expected = nearest_in_reference(id_of(s));
  const auto nearest = s.ask(NearestTo{kPosition});
  EXPECT_EQ(nearest->id, id_of(s));
  ASSERT_EQ(nearest->tokens.size(), static_cast<std::size_t>(NearestTokens::kMax));
  for (std::size_t i = 0; i < nearest->tokens.size(); ++i) {
    const Neighbour& neighbour = nearest->tokens[i];
    EXPECT_EQ(neighbour.id, expected[i].second) << i;
    EXPECT_NEAR(static_cast<double>(neighbour.cosine), expected[i].first, 1e-6) << i;
    EXPECT_FLOAT_EQ(neighbour.cosine, neighbour.dot / (neighbour.norm * nearest->norm)) << i;
  }
}

TEST(Embedding, TheTableHasTheRowsOfTheFileAndTheirSum) {
  const Scenario s = robot();
  const auto rows = text_rows(table_of("embedding", s));
  const std::vector<double> wte = row_of("wte.weight", id_of(s)), wpe = row_of("wpe.weight", kPosition);
  ASSERT_EQ(rows.size(), 3U + NearestTokens::kMax);
  EXPECT_EQ(rows[0][0], "wte[" + std::to_string(id_of(s)) + "]");
  for (std::size_t i = 0; i < wte.size(); ++i) {
    EXPECT_EQ(std::stof(rows[0][5 + i]), static_cast<float>(wte[i]));
    EXPECT_EQ(std::stof(rows[1][5 + i]), static_cast<float>(wpe[i]));
    EXPECT_EQ(std::stof(rows[2][5 + i]), static_cast<float>(wte[i]) + static_cast<float>(wpe[i]));
  }
  EXPECT_NEAR(std::stod(rows[0][4]), norm(wte), 1e-5);
  EXPECT_NEAR(std::stod(rows[1][4]), norm(wpe), 1e-5);
  const int first = std::stoi(rows[3][1]);
  EXPECT_EQ(std::stof(rows[3][5]), static_cast<float>(row_of("wte.weight", first)[0]));
}

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

TEST(Tree, SaysAtWhichTemperatureTextsAreSampled) {
  const auto subtitle = [](const char* texts, const char* temperature) {
    return ViewFixture("tree", Scenario(kRobot), 900, 700, {{"texts", texts}, {"temperature", temperature}})
        .picture()
        .subtitle;
  };
  EXPECT_THAT(subtitle("2", "1.9"), HasSubstr("sampled at temperature 1.9; probability at temperature 1"));
  EXPECT_THAT(subtitle("2", "1"), Not(HasSubstr("sampled")));
  EXPECT_THAT(subtitle("0", "1.9"), Not(HasSubstr("sampled"))) << "no text is";
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

TEST(Tree, OfAnEditedRunHasNoProbabilitiesOfTheUneditedOne) {
  const Tried t;
  const Scenario s = edited("L1.attn_out=0");
  ViewContext c = s.context(1200, 700);
  c.tries = t.c.tries;
  const Table table = t.view.table(c);
  EXPECT_THAT(numbers_of(table, "probability"), Not(Contains(0.125)));
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
}  // namespace headscope::app::tokens_test
