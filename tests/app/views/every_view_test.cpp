// Properties of every view: placement of texts, reactions to the mouse, pictures with missing data.

#include "tests/app/views/view_suite.h"

namespace headscope::app::every_view_test {
namespace {

/// Answers from a scenario, and checks the questions.
class CheckedAnswers final : public Answers {
 public:
  CheckedAnswers(Answers& inner, Capability declared) : inner_(inner), declared_(declared) {}
  std::shared_ptr<const Answer> ask(const Question& question) override {
    EXPECT_TRUE(has_all(declared_, question.needs())) << question.name();
    return inner_.ask(question);
  }

 private:
  Answers& inner_;
  Capability declared_;
};

TEST_P(ViewSuite, AsksForNothingButWhatItSaysThatItNeeds) {
  const Scenario s("The old king and the dog");
  // A model with weights has patterns. Without weights some options are rejected; see PatternViews.
  const Capability with_options =
      view().needs | Capability::patterns | Capability::weights | Capability::tokenizer;
  const bool asks_more = has_all(view().needs, Capability::weights) ||
                         GetParam() == "tokens";  // of probabilities, where there is a tokenizer
  for (const OptionSpec* option : view().options)
    for (const OptionValue& end : ends_of(*option)) {
      const bool is_default = end == option->default_value && !asks_more;
      CheckedAnswers answers(s.answers(), is_default ? view().needs : with_options);
      ViewContext c = s.context(900, 700, answers);
      c.options.set(*option, end);
      if (!view().needs_list(c.options)) view().build(c);
    }
}

TEST_P(ViewSuite, TextsAreWhereTheyCanBeRead) {
  const int n_ctx = bundled()->transformer->config().n_ctx;
  for (const int length : {12, n_ctx}) {
    for (const auto& [width, height] : {std::pair{240.F, 600.F}, {640.F, 700.F}, {1600.F, 1000.F}}) {
      for (const float font_size : {11.F, 14.F, 24.F}) {
        if (length == n_ctx && font_size != 14) continue;  // letters of all sizes for the usual length
        ViewContext c = scenario(length).context(width, height);
        c.font_size = font_size;
        const viz::Scene scene = with_caption(view().build(c), caption(view(), c), c).scene;
        EXPECT_EQ(text_faults(scene, *fonts()), "") << GetParam() << " " << length << " tokens, " << width
                                                    << " x " << height << ", font " << font_size;
        EXPECT_EQ(scene.width, width);
        EXPECT_GT(scene.height, height);
      }
    }
  }
}

/// Including an edit that lets queries see later keys, and one that hides almost all keys from a query.
TEST_P(ViewSuite, DrawsEditedRuns) {
  Prompt prompt{kRobot, {}, false};
  prompt.edits = {
      model::SetMask{}, model::ScaleValues{{{model::Site::z, 1}, 1, {}, {}}, 0},
      model::SetCells{
          {model::Site::attn_scores, 2}, 1, {{3, 5, 4}, {2, 0, -std::numeric_limits<float>::infinity()}}},
      model::SetMean{{{model::Site::mlp_out, 0}, {}, {}, {}}}, model::SetPositionIds{{-1, 0, 0}}};
  Scenario edited_run(prompt);
  for (const int query : {0, 3, -1}) {
    edited_run.select({2, 1, query});
    for (const float width : {300.F, 700.F}) {
      const ViewContext c = edited_run.context(width, 600);
      const Picture picture = view().build(c);
      EXPECT_EQ(text_faults(picture.scene, *fonts()), "") << GetParam() << " " << query;
      for (const viz::Region& region : picture.regions) {
        const auto hit = viz::hit_test(picture.regions, region.rect.center());
        if (hit) view().facts(c, picture, *hit);
      }
      view().table(c);
    }
  }
}

TEST_P(ViewSuite, RegionsAreInverseMaps) {
  for (const int length : {1, 12, 100}) {
    ViewContext c = scenario(length).context(900, 700);
    if (length == 100) {
      for (const auto& [name, value] : NamedOptions{{"zoom", "30.5:70.5,20.25:60.25"},
                                                    {"encoding-zoom", "20:36,30:70"},
                                                    {"heads-zoom", "2"},
                                                    {"heads-scroll", "0.4"},
                                                    {"heads-scroll-x", "0.3"}})
        set(c, name, value);
    }
    const Picture picture = view().build(c);
    if (length == 1 && GetParam() == "search") continue;  // nothing can be found
    ASSERT_FALSE(picture.regions.empty());
    for (std::size_t i = 0; i < picture.regions.size(); ++i) {
      SCOPED_TRACE(GetParam() + ", " + std::to_string(length) + " tokens, region " + std::to_string(i));
      const viz::Region& region = picture.regions[i];
      ASSERT_GT(region.rect.w, 0);
      ASSERT_GT(region.rect.h, 0);
      // From cells to their middles and back, for all cells of which at least half is visible.
      const auto first_row = static_cast<int>(std::ceil(region.first_row - 0.4)),
                 first_col = static_cast<int>(std::ceil(region.first_col - 0.4));
      int seen = 0, covered = 0;
      for (int row = first_row; row + 0.6 < region.first_row + region.rows; ++row) {
        for (int col = first_col; col + 0.6 < region.first_col + region.cols; ++col) {
          const auto hit = viz::hit_test(picture.regions, region.cell_rect(row, col).center());
          ASSERT_TRUE(hit) << row << "," << col;
          if (hit->region > static_cast<int>(i)) ++covered;
          if (hit->region != static_cast<int>(i)) continue;
          EXPECT_EQ(hit->row, row);
          EXPECT_EQ(hit->col, col);
          ++seen;
        }
      }
      if (region.rows >= 1 && region.cols >= 1) {
        EXPECT_GT(seen + covered, 0);
      }
    }
  }
}

/// Views that can be drawn without answers.
bool goes_without_answers(const std::string& view) {
  return view == "positions" || view == "tokens" || view == "embedding" || view == "parameters";
}

/// Of what it was drawn from, whatever is known by now.
TEST_P(ViewSuite, EveryRegionAnswersTheMouse) {
  const ViewContext c = scenario(23).context(900, 700, dark());
  const Picture picture = view().build(c);
  NoAnswers none;
  ViewContext later = c;
  later.answers = &none;
  for (std::size_t i = 0; i < picture.regions.size(); ++i) {
    const viz::Region& region = picture.regions[i];
    const viz::Hit hit{static_cast<int>(i), static_cast<int>(region.first_row + region.rows / 2),
                       static_cast<int>(region.first_col + region.cols / 2)};
    const Facts facts = view().facts(c, picture, hit);
    if (GetParam() == "flow" && facts.tooltip().empty()) continue;  // between its lines is nothing
    EXPECT_FALSE(facts.tooltip().empty());
    EXPECT_FALSE(facts.status().empty());
    EXPECT_FALSE(facts.overlay.items.empty());
    if (!goes_without_answers(GetParam())) {
      EXPECT_EQ(view().facts(later, picture, hit).tooltip(), facts.tooltip());
    }
  }
}

/// Views that say more of a place than their table of all places has: vectors, or what is read for the mouse.
bool says_more_than_its_table(const std::string& view) {
  const auto more = {"query_key_space", "positions", "pass", "mlp", "flow",
                     "parameters",      "embedding", "query"};
  return std::ranges::count(more, view) > 0;
}

TEST_P(ViewSuite, NumbersAtTheMouseAreInTheTable) {
  if (says_more_than_its_table(GetParam())) return;
  const Scenario s(kRobot, {2, 1, 6, 3});
  const ViewContext c = s.context(1300, 1000);
  const Picture picture = view().build(c);
  const Table table = view().table(c);
  for (std::size_t i = 0; i < picture.regions.size(); ++i) {
    const viz::Region& region = picture.regions[i];
    for (const auto& [row, col] : {std::pair(0, 0), {region.row_count / 2, region.col_count / 3}})
      for (const Fact& fact : view().facts(c, picture, {static_cast<int>(i), row, col}).said) {
        const auto number = viz::testing::read_number(fact.copied);
        EXPECT_TRUE(!number || has_number(table, number->value, 1e-5 * std::abs(number->value)))
            << fact.label << " " << fact.copied;
      }
  }
}

/// Views that draw sums of what their tables list apart, or parts of it, or ticks of axes.
bool draws_more_than_its_table(const std::string& view) {
  const auto more = {"mlp", "flow", "parameters", "embedding"};
  return std::ranges::count(more, view) > 0;
}

/// Of few tokens, so that cells have room for their numbers.
TEST_P(ViewSuite, NumbersInThePictureAreInTheTable) {
  if (draws_more_than_its_table(GetParam())) return;
  const int key = GetParam() == "query" ? -1 : 1;  // it draws the parts of a chosen key's score, too
  const Scenario s("The king and his", {2, 1, -1, key});
  const ViewFixture shown(GetParam(), s, 1700, 1300);
  const Table table = shown.table();
  DrawnPage page = shown.page();
  for (const viz::Region& region : shown.picture().regions)
    for (const TextBox& box : page.take(region.rect)) {
      const auto number = viz::testing::read_number(box.text);
      const bool is_norm_of_all = box.text == "16.00";  // what a layer norm makes of every vector
      EXPECT_TRUE(!number || is_norm_of_all ||
                  has_number(table, number->value, 1.001 * number->rounding + 1e-12))
          << box.text;
    }
}

/// Views whose questions do not depend on the selection.
bool goes_without_selection(const std::string& view) {
  return view == "positions" || view == "staircase" || view == "tree" || view == "cache";
}

TEST_P(ViewSuite, SaysInWordsWhatIsMissing) {
  NoAnswers pending, failed("The answer holds values that are not finite.");
  ViewContext c = scenario(12).context(500, 400);
  for (const auto& [answers, has_run, words] : std::vector<std::tuple<Answers*, bool, std::string>>{
           {&pending, true, "computing…"},
           {&failed, true, "The answer holds values that are not finite."},
           {&pending, false, "no run yet"},
           {nullptr, false, "no run yet"}}) {
    SCOPED_TRACE(words);
    c.answers = answers;
    c.run = has_run ? scenario(12).run : nullptr;
    pending.asked = 0;
    const Picture picture = view().build(c);
    // A view asks its questions even without a run, so that the answers arrive with the run.
    const bool by_options = GetParam() == "positions" || GetParam() == "parameters" || GetParam() == "search";
    EXPECT_TRUE(pending.asked > 0 || answers != &pending ||
                (has_run ? goes_without_answers(GetParam()) : by_options));
    if (has_run && goes_without_answers(GetParam())) {
      EXPECT_FALSE(picture.regions.empty());
      continue;
    }
    EXPECT_THAT(texts(picture.scene), Contains(words));
    EXPECT_TRUE(picture.regions.empty());
    EXPECT_EQ(view().table(c).rows(), 0U);
  }
}

TEST_P(ViewSuite, ShowsTheAnswersForWhatIsSelected) {
  Scenario s(scenario(12).run->prompt);
  NoAnswers none;
  ViewContext c = s.context(900, 700);
  const auto said = [&](const ViewContext& context) {
    return std::pair(view().build(context).scene.items, to_csv(view().table(context)));
  };
  const auto before = said(c);
  c.answers = &none;
  said(c);
  s.select({1, 0, 4});
  EXPECT_EQ(said(s.context(900, 700)) == before, none.asked == 0 || goes_without_selection(GetParam()));
}

TEST(Views, WholeHeightShowsAll) {
  for (const View& view : views()) {
    if (view.id == "lens" || view.id == "tree") continue;  // these scroll sideways
    ViewContext c = scenario(100).context(600, 200);
    const std::size_t before = view.build(c).regions.size();
    c.height = view.whole_height(c);
    const std::size_t whole = view.build(c).regions.size();
    EXPECT_GE(whole, before) << view.id;
    EXPECT_TRUE(view.scrolls(c, view.build(c)).empty()) << view.id;
    EXPECT_EQ(text_faults(view.build(c).scene, *fonts()), "") << view.id;
  }
}

}  // namespace
}  // namespace headscope::app::every_view_test
