// Views of attention without weights: those that need only patterns show the file's numbers, the others say
// what is missing.

#include "app/run/sources/pattern_file.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/pattern_files.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::pattern_views_test {
namespace {

/// A file, and a run that represents it.
class PatternViews : public ::testing::Test {
 protected:
  PromptRun run(const PatternShape& shape, const WeightOf& weight, const std::string& metadata = "",
                const std::string& name = "bert.safetensors") {
    return run_of_patterns(
        load_model(folder_.write(name, safetensors_bytes(pattern_tensors(shape, weight), metadata)), {}));
  }
  Scenario scenario(const PatternShape& shape, const WeightOf& weight, const std::string& metadata = "") {
    // Each scenario has its own file, because weights are read on demand.
    return Scenario(run(shape, weight, metadata, std::to_string(made_++) + "/bert.safetensors"), {1, 2, -1});
  }
  static std::string words_in(const viz::Scene& scene) {
    std::string all;
    for (const std::string& text : texts(scene)) all += text + "\n";
    return all;
  }

  TemporaryFolder folder_;
  int made_ = 0;
};

constexpr PatternShape kCross{2, 3, 5, 12};
const std::string kCrossTexts =
    R"({"tokens":")" + text_list({"le", "chat", "noir", "dort", "."}) + R"(","key_tokens":")" +
    text_list({"the", "black", "cat", "is", "a", "sleep", "on", "my", "old", "bed", "now", "!"}) +
    R"(","model":"marian"})";

TEST_F(PatternViews, TheMapOfARectangleHasARowForEachQueryAndAColumnForEachKey) {
  const ViewFixture shown("heatmap", scenario(kCross, even_rows(12), kCrossTexts), 900, 600);
  const viz::Region& grid = shown.region(shown.grid());
  ASSERT_EQ(grid.row_count, 5);
  ASSERT_EQ(grid.col_count, 12);
  auto page = shown.page();
  for (const char* word : {"le", "chat", "noir", "dort", ".", "black", "cat", "bed", "!"})
    EXPECT_NE(page.take(word), "") << word;
  auto weights = matrix_of(shown.table(), "weight");
  EXPECT_EQ(texts_of(shown.table(), "key token")[2], "cat");
  for (int query = 0; query < 5; ++query)
    for (int key = 0; key < 12; ++key)
      EXPECT_EQ((weights[{query, key}]), plain(even_rows(12)(1, 2, query, key)));
  // No cell is masked: the strongest cell and a weak one above the diagonal have different colours.
  const int strongest = (1 + 4 + 0) % 12;
  ASSERT_TRUE(shown.color_of(shown.grid(), 0, strongest));
  EXPECT_NE(*shown.color_of(shown.grid(), 0, strongest), *shown.color_of(shown.grid(), 0, 11));
  EXPECT_THAT(
      shown.tooltip(shown.grid(), 0, strongest),
      ElementsAre("query 0 “le”", "key 5 “sleep”", "weight " + exact(even_rows(12)(1, 2, 0, strongest)),
                  "54.2 % of this query's attention, rank 1 of 12"));
  EXPECT_EQ(in_words(shown.click(shown.grid(), 1, 11)), "query 1, key 11");
}

TEST_F(PatternViews, DifferencesAreBetweenTwoFiles) {
  PromptRun first = run({2, 3, 8, 8}, even_rows(8));
  compare_with(first,
               std::make_shared<const PromptRun>(run({2, 3, 8, 8}, causal_weight, "", "gpt.safetensors")),
               Alignment::position);
  const Scenario s(std::move(first), {1, 2, -1});
  const View& view = *find_view("heatmap");
  const ViewContext c = on_side(Side::difference, view, s.context(900, 700));
  const Picture picture = view.build(c);
  EXPECT_THAT(words_in(picture.scene), HasSubstr("first − second file"));
  auto differences = matrix_of(view.table(c), "difference of weight");
  for (int q = 0; q < 8; ++q)
    for (int k = 0; k < 8; ++k)
      EXPECT_EQ((differences[{q, k}]), plain(even_rows(8)(1, 2, q, k) - causal_weight(1, 2, q, k)));
  EXPECT_THAT(caption(view, c), HasSubstr("minus gpt.safetensors"));
  for (const char* id : {"heads", "lines", "metrics"}) {
    const View& other = *find_view(id);
    const Picture difference = other.build(on_side(Side::difference, other, s.context(1000, 700)));
    EXPECT_TRUE(difference.whole) << id;
    EXPECT_THAT(words_in(difference.scene), HasSubstr("first − second file")) << id;
  }
}

/// Calls everything that the window may call on a view.
void use(const View& view, const ViewContext& c, const Picture& picture) {
  static_cast<void>(view.table(c));
  static_cast<void>(menu_at(view, c, picture, nullptr));
  if (!c.run) return;
  std::vector<viz::Hit> places;
  for (int i = 0; i < std::ssize(picture.regions); i += 7) places.push_back({i, 0, 0});
  for (const viz::Hit& at : places) {
    static_cast<void>(menu_at(view, c, picture, &at));
    for (const auto kind :
         {Gesture::Kind::click, Gesture::Kind::double_click, Gesture::Kind::drag, Gesture::Kind::wheel})
      static_cast<void>(view.on(c, picture, &at, {kind, {50, 50}, {1, 1}, {}}));
  }
  for (const Key key :
       {Key::up, Key::down, Key::left, Key::right, Key::home, Key::end, Key::page_up, Key::page_down})
    static_cast<void>(view.on(c, picture, nullptr, {Gesture::Kind::key, {}, {}, {}, key}));
  static_cast<void>(view.scrolls(c, picture));
  for (const KeyCommand& command : view.commands)
    for (int which = 0; which < std::max(1, static_cast<int>(command.keys.size())); ++which)
      static_cast<void>(command.act(c, which));
  static_cast<void>(view.whole_height(c));
}

TEST_F(PatternViews, EveryViewShowsAFileOrSaysWhatItNeeds) {
  const std::vector<Scenario> all = [&] {
    std::vector<Scenario> made;
    made.push_back(scenario(kCross, even_rows(12), kCrossTexts));
    made.push_back(scenario({2, 3, 30, 100}, some_weight));
    made.push_back(scenario({2, 3, 1, 1}, causal_weight));
    made.push_back(scenario({2, 3, 30, 30}, causal_weight));
    return made;
  }();
  int shown = 0, refused = 0;
  for (const Scenario& s : all)
    for (const View& view : views())
      for (const auto& [width, height] : {std::pair(300.F, 300.F), std::pair(900.F, 600.F)}) {
        SCOPED_TRACE(std::string(view.id) + " of " + s.run->model->patterns->summary());
        const ViewContext c = on_side(Side::run, view, s.context(width, height));
        const Picture picture = view.build(c);
        EXPECT_EQ(senseless_item(picture.scene), -1);
        EXPECT_FALSE(picture.scene.items.empty());
        use(view, c, picture);
        if (view.can_be_made_of(Capability::patterns)) {
          EXPECT_TRUE(c.run);
          ++shown;
        } else {
          EXPECT_FALSE(c.run);
          EXPECT_THAT(words_in(picture.scene), HasSubstr("this needs a model's weights"));
          ++refused;
        }
      }
  EXPECT_GE(shown, 5 * 4 * 2);
  EXPECT_GE(refused, 20 * 4 * 2);
}

TEST_F(PatternViews, OffersNoEdits) {
  const Scenario s = scenario({2, 3, 8, 8}, even_rows(8));
  for (const View& view : views()) {
    if (!view.can_be_made_of(Capability::patterns)) continue;
    const ViewContext c = on_side(Side::run, view, s.context(900, 600));
    const Picture picture = view.build(c);
    const auto edits = [](const ViewActions& actions) {
      return std::ranges::any_of(actions, [](const ViewAction& action) {
        return std::holds_alternative<ToggleEdit>(action) || std::holds_alternative<SetPositionId>(action) ||
               std::holds_alternative<SetVisibility>(action);
      });
    };
    const viz::Hit hit{0, 0, 0};
    for (const viz::Hit* at : {static_cast<const viz::Hit*>(nullptr), &hit}) {
      for (const MenuLine& line : menu_at(view, c, picture, at))
        EXPECT_FALSE(edits(line.actions)) << line.label;
    }
    for (const KeyCommand& command : view.commands)
      for (int which = 0; which < 2; ++which) EXPECT_FALSE(edits(command.act(c, which))) << command.help;
  }
}

}  // namespace
}  // namespace headscope::app::pattern_views_test
