// Properties of every view in the table: placement of texts, reactions to the mouse, and pictures with
// missing data.

#include "tests/app/views/view_suite.h"

namespace headscope::app::every_view_test {
namespace {

class EveryView : public ViewSuite {};
INSTANTIATE_TEST_SUITE_P(Views, EveryView, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

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

TEST_P(EveryView, AsksForNothingButWhatItSaysThatItNeeds) {
  const Scenario s("The old king and the dog");
  // A model with weights has patterns. Without weights some options are rejected; see PatternViews.
  const Capability with_options = view().needs | Capability::patterns | Capability::weights;
  for (const OptionSpec* option : view().options)
    for (const OptionValue& end : ends_of(*option)) {
      const bool is_default = end == option->default_value && !has_all(view().needs, Capability::weights);
      CheckedAnswers answers(s.answers(), is_default ? view().needs : with_options);
      ViewContext c = s.context(900, 700, answers);
      c.options.set(*option, end);
      if (!needs_list(view(), c.options)) view().build(c);
    }
}

TEST_P(EveryView, TextsAreWhereTheyCanBeRead) {
  const int n_ctx = bundled()->transformer->config().n_ctx;
  std::size_t turn = 0;  // letters of all sizes: by turns, except for the usual length, which has each
  for (const int length : {12, n_ctx}) {
    for (const auto& [width, height] : {std::pair{240.F, 600.F}, {640.F, 700.F}, {1600.F, 1000.F}}) {
      const bool usual = length == 12;
      constexpr float kFontSizes[] = {11, 14, 24};
      for (const float font_size :
           std::span(kFontSizes).subspan(usual ? 0 : (length + turn++) % 3, usual ? 3 : 1)) {
        const bool large = usual && font_size == 14;
        ViewContext c = scenario(length).context(width, height, large ? dark() : light());
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
TEST_P(EveryView, DrawsEditedRuns) {
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

TEST_P(EveryView, RegionsAreInverseMaps) {
  for (const int length : {1, 12, 100}) {
    ViewContext c = scenario(length).context(900, 700);
    if (length == 100) {
      for (const auto& [name, value] : NamedOptions{{"zoom", "30.5:70.5,20.25:60.25"},
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
      EXPECT_GE(region.rect.x, 0);
      EXPECT_GE(region.rect.y, 0);
      EXPECT_LE(region.rect.right(), c.width + 0.5F);
      EXPECT_LE(region.rect.bottom(), c.height + 0.5F);
      ASSERT_GT(region.rect.w, 0);
      ASSERT_GT(region.rect.h, 0);
      // From points to cells and back, all over the visible part of the region.
      int own = 0;
      for (int step = 0; step < 81; ++step) {
        const viz::Point p{region.rect.x + region.rect.w * (static_cast<float>(step % 9) + 0.51F) / 9,
                           region.rect.y + region.rect.h * (static_cast<float>(step / 9) + 0.51F) / 9};
        const auto hit = viz::hit_test(picture.regions, p);
        ASSERT_TRUE(hit) << p.x << "," << p.y;
        if (hit->region != static_cast<int>(i)) {
          EXPECT_GT(hit->region, static_cast<int>(i));  // painted on top of it
          continue;
        }
        ++own;
        EXPECT_GE(hit->row, 0);
        EXPECT_LT(hit->row, region.row_count);
        EXPECT_GE(hit->col, 0);
        EXPECT_LT(hit->col, region.col_count);
        EXPECT_TRUE(region.cell_rect(hit->row, hit->col).inset(-0.01F).contains(p))
            << hit->row << "," << hit->col;
      }
      EXPECT_GT(own, 0);
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

TEST_P(EveryView, EveryRegionAnswersTheMouse) {
  const ViewContext c = scenario(23).context(900, 700, dark());
  const Picture picture = view().build(c);
  for (std::size_t i = 0; i < picture.regions.size(); ++i) {
    const viz::Region& region = picture.regions[i];
    const auto row = static_cast<int>(region.first_row + region.rows / 2),
               col = static_cast<int>(region.first_col + region.cols / 2);
    const Facts facts = view().facts(c, picture, {static_cast<int>(i), row, col});
    EXPECT_FALSE(facts.tooltip().empty());
    EXPECT_FALSE(facts.status().empty());
    EXPECT_FALSE(facts.overlay.items.empty());
  }
}

/// Views that can be drawn without answers.
bool goes_without_answers(const std::string& view) {
  return view == "positions" || view == "tokens" || view == "embedding" || view == "parameters";
}

/// Views whose questions do not depend on the selection.
bool goes_without_selection(const std::string& view) {
  return view == "positions" || view == "staircase" || view == "tree" || view == "cache";
}

TEST_P(EveryView, SaysInWordsWhatIsMissing) {
  NoAnswers none;
  ViewContext c = scenario(12).context(500, 400, none);
  const Picture unanswered = view().build(c);
  EXPECT_EQ(unanswered.scene.width, 500);
  if (goes_without_answers(GetParam())) {
    EXPECT_FALSE(unanswered.regions.empty());
  } else {
    EXPECT_THAT(texts(unanswered.scene), Contains("computing…"));
    EXPECT_TRUE(unanswered.regions.empty());
    EXPECT_FALSE(unanswered.whole);
  }

  // A view asks its questions even without a run, so that the answers arrive with the run.
  none.asked = 0;
  c.run = nullptr;
  for (Answers* answers : {static_cast<Answers*>(&none), static_cast<Answers*>(nullptr)}) {
    c.answers = answers;
    const Picture picture = view().build(c);
    EXPECT_THAT(texts(picture.scene), Contains("no run yet"));
    EXPECT_TRUE(picture.regions.empty());
    EXPECT_EQ(view().table(c).rows(), 0U);
  }
  const bool by_tokens = GetParam() == "search";  // its question depends on the options
  EXPECT_EQ(none.asked > 0, GetParam() != "positions" && GetParam() != "parameters" && !by_tokens);
}

TEST_P(EveryView, SaysWhyThereIsNoAnswer) {
  const std::string sentence = "The answer holds values that are not finite.";
  NoAnswers failed(sentence);
  ViewContext c = scenario(12).context(500, 400, failed);
  const Picture picture = view().build(c);
  if (goes_without_answers(GetParam())) {
    EXPECT_FALSE(picture.regions.empty());
  } else {
    EXPECT_THAT(texts(picture.scene), Contains(sentence));
    EXPECT_THAT(texts(picture.scene), Not(Contains("computing…")));
    EXPECT_TRUE(picture.regions.empty());
    EXPECT_EQ(view().table(c).rows(), 0U);
  }
}

/// Everything that a view reports: its picture, the facts under the mouse, its table.
struct Report {
  Picture picture;
  std::vector<std::vector<std::string>> tooltips;
  std::string table;

  Report(const View& view, const ViewContext& c) : picture(view.build(c)), table(to_csv(view.table(c))) {
    for (std::size_t i = 0; i < picture.regions.size(); ++i) {
      const viz::Region& region = picture.regions[i];
      const Facts facts =
          view.facts(c, picture, {static_cast<int>(i), static_cast<int>(region.first_row), 0});
      tooltips.push_back(facts.tooltip());
      tooltips.push_back({facts.status()});
    }
  }
  bool operator==(const Report& o) const {
    return picture.scene.items == o.picture.scene.items && tooltips == o.tooltips && table == o.table;
  }
};

TEST_P(EveryView, TellsNothingThatIsNotAnswered) {
  NoAnswers none;
  const Scenario& s = scenario(12);
  const ViewContext full = s.context(500, 400);
  ViewContext c = full;
  c.answers = &none;
  const Report all(view(), full), without(view(), c);
  EXPECT_EQ(all == without, none.asked == 0);

  // The mouse may still be over the picture with the previous answers.
  for (std::size_t i = 0; i < all.picture.regions.size(); ++i) {
    const viz::Region& region = all.picture.regions[i];
    const Facts facts =
        view().facts(c, all.picture, {static_cast<int>(i), static_cast<int>(region.first_row), 0});
    // The picture says what it was drawn from.
    EXPECT_EQ(facts.tooltip(), all.tooltips[2 * i]);
  }
  if (!goes_without_answers(GetParam())) {
    EXPECT_EQ(without.table, "");
    EXPECT_TRUE(without.picture.regions.empty());
  }
}

TEST_P(EveryView, ShowsTheAnswersForWhatIsSelected) {
  Scenario s(scenario(12).run->prompt);
  NoAnswers none;
  ViewContext c = s.context(900, 700);
  const Report before(view(), c);
  c.answers = &none;
  static_cast<void>(Report(view(), c));
  s.select({1, 0, 4});
  c = s.context(900, 700);
  EXPECT_EQ(Report(view(), c) == before, none.asked == 0 || goes_without_selection(GetParam()));
}

TEST_P(EveryView, SameInputSamePicture) {
  const ViewContext c = scenario(23).context(900, 700);
  EXPECT_EQ(view().build(c).scene.items, view().build(c).scene.items);
}

TEST_P(EveryView, TinySizesDoNoHarm) {
  for (const auto& [width, height] :
       {std::pair{1.F, 1.F}, {20.F, 500.F}, {500.F, 20.F}, {90.F, 90.F}, {140.F, 140.F}, {0.F, 0.F}}) {
    for (const int length : {1, 23, 100}) {
      SCOPED_TRACE(GetParam() + ", " + std::to_string(length) + " tokens, " + std::to_string(width) + " x " +
                   std::to_string(height));
      const ViewContext c = scenario(length).context(width, height);
      const Picture picture = view().build(c);
      EXPECT_EQ(picture.scene.width, width);
      EXPECT_EQ(picture.scene.height, height);
      EXPECT_EQ(senseless_item(picture.scene), -1) << "of " << picture.scene.items.size();
      // Texts may be cut at the edge, but must not overlap.
      EXPECT_THAT(text_faults(picture.scene, *fonts()), Not(HasSubstr("overlap")));
      if (width > 0 && height > 0) {
        const viz::Bitmap pixels = viz::rasterize(picture.scene, *fonts(), 1);
        EXPECT_EQ(pixels.width, static_cast<int>(width));
        EXPECT_EQ(pixels.height, static_cast<int>(height));
      }
      for (std::size_t i = 0; i < picture.regions.size(); ++i) {
        const viz::Region& region = picture.regions[i];
        EXPECT_TRUE(region.rect.x >= 0 && region.rect.y >= 0 && region.rect.w >= 0 && region.rect.h >= 0 &&
                    region.rect.right() <= width + 0.5F && region.rect.bottom() <= height + 0.5F)
            << "region " << i << ": " << region.rect.x << "," << region.rect.y << " " << region.rect.w
            << " x " << region.rect.h;
        const auto hit = viz::hit_test(picture.regions, region.rect.center());
        if (hit) {
          EXPECT_EQ(senseless_item(view().facts(c, picture, *hit).overlay), -1) << "region " << i;
        }
      }
    }
  }
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
