// Selecting keys in a query's table, and guesses that continue from the selection.

#include "app/run/analyses/predictions.h"
#include "app/views/output/continuation.h"
#include "app/views/parts/matrix_zoom.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::selection_test {
namespace {

class SelectionTest : public HandsTest {
 protected:
  /// A point where a click means that action: the centre of a region's first cell.
  template <class T>
  static std::vector<std::pair<viz::Point, T>> places(const Core& core, std::string_view id) {
    std::vector<std::pair<viz::Point, T>> found;
    const PlacedPicture& placed = picture(core.window(), id);
    for (const viz::Region& region : placed.picture->regions) {
      for (int row = 0; row < region.row_count; ++row) {
        const viz::Point in = region.cell_rect(row, 0).center();
        const auto hit = viz::hit_test(placed.picture->regions, in);
        if (!hit) continue;
        for (const ViewAction& action : placed.view->on(placed.context, *placed.picture, &*hit,
                                                        {Gesture::Kind::click, in, {}, {}, Key::none}))
          if (const auto* meant = std::get_if<T>(&action))
            found.emplace_back(viz::Point{placed.where.x + in.x, placed.where.y + in.y}, *meant);
      }
    }
    return found;
  }
};

TEST_F(SelectionTest, AGuessContinuesFromThePositionThatIsShown) {
  CoreFixture core(options("The old king had a daughter"));
  const std::string before = prompt(core);
  apply_and_show(core, SelectQuery{2});
  const auto bars = places<AppendToken>(core, "next");
  ASSERT_FALSE(bars.empty());
  const auto& [at, append] = bars.front();
  EXPECT_EQ(append.after, 2);
  const auto& tokens = core.snapshot().run->tokens.tokens;
  const std::string expected =
      before.substr(0, tokens[2].end) + std::string(core.snapshot().model->tokenizer->bytes(append.id));
  const std::size_t steps = core.state().visits.before.size();
  click(core, at);
  EXPECT_EQ(prompt(core), expected);
  EXPECT_EQ(core.state().visits.before.size(), steps) << "the text was edited: that is undone";
  shown(core);
  EXPECT_EQ(core.state().selection.query, -1) << "and goes on from the new end";
  EXPECT_EQ(core.snapshot().run->run->length(), 4);
  press(core, Key{'z'}, {.ctrl = true});
  EXPECT_EQ(prompt(core), before) << "undo brings the rest back";
  press(core, Key{'y'}, {.ctrl = true});
  EXPECT_EQ(prompt(core), expected);
}

TEST_F(SelectionTest, TokensThatTheTextWouldNotGiveAreRunAsTheyAre) {
  CoreFixture core(options("The old king"));
  const model::Tokenizer& tokenizer = *core.snapshot().model->tokenizer;
  // Letter by letter, since the text as a whole would be one token.
  std::vector<int> expected = core.snapshot().run->run->tokens;
  for (const char letter : std::string("dom")) {
    const int id = tokenizer.encode(std::string(1, letter)).at(0).id;
    core.apply(AppendToken{id, -1, 0.5});
    expected.push_back(id);
  }
  shown(core);
  EXPECT_EQ(prompt(core), "The old kingdom");
  EXPECT_EQ(core.snapshot().run->run->tokens, expected);
  ASSERT_EQ(core.state().tries->size(), 1U);
  EXPECT_EQ(core.state().tries->front().ids, expected);
  type_and_show(core, "s");
  EXPECT_EQ(core.snapshot().run->run->tokens.size(), tokenizer.encode("The old kingdoms").size());
}

TEST_F(SelectionTest, WhatFollowsTheEmptyPromptStandsBehindTheStartToken) {
  CoreFixture core(options(""));
  std::vector<int> expected = core.snapshot().run->run->tokens;
  ASSERT_EQ(expected.size(), 1U);
  for (int i = 0; i < 3; ++i) {
    const auto next = answer(core, NextAfter{-1});
    const int id = model::draw_token(next->logits, {}, 0, static_cast<int>(expected.size()));
    core.apply(AppendToken{id, -1, 0.5});
    expected.push_back(id);
    shown(core);
    EXPECT_EQ(core.snapshot().run->run->tokens, expected);
  }
  EXPECT_TRUE(core.state().start_token);
  EXPECT_EQ(core.state().tries->size(), 1U);
  CoreFixture other(options(""));
  generate(other, 3);
  EXPECT_EQ(prompt(other), prompt(core)) << "each position has a number of its own";
}

TEST_F(SelectionTest, AGuessOfATextThatIsNoMoreDoesNothing) {
  Core core(options("The old king"));
  apply_and_show(core, ShowView{"tree"});
  const auto clicks = places<SetTokens>(core, "tree");
  const auto guesses = places<AppendToken>(core, "next");
  ASSERT_FALSE(clicks.empty() || guesses.empty());
  type(core, "s");
  core.apply(clicks.front().second);
  EXPECT_EQ(prompt(core), "The old kings");
  AppendToken inside = guesses.front().second;
  inside.after = 1;
  core.apply(inside);
  EXPECT_EQ(prompt(core), "The old kings");
  core.apply(guesses.front().second);
  EXPECT_TRUE(std::isnan(core.state().tries->front().probabilities.back()))
      << "nobody knows what the model gave it behind the s";
}

TEST_F(SelectionTest, TheSameSeedGeneratesTheSameTextAndGeneratingAgainAnother) {
  const auto generated = [&](Core& core) {
    generate(core, 8);
    std::string text = prompt(core);
    shown(core);
    return text;
  };
  Core core(options("The old king")), other(options("The old king"));
  shown(core), shown(other);
  const std::string text = generated(core);
  EXPECT_EQ(generated(other), text);
  apply_and_show(core, TypeInField{Field::prompt, Replace{"The old king"}});
  EXPECT_NE(generated(core), text) << "with the next seed";
  apply_and_show(core, TypeInField{Field::prompt, Replace{"The old king"}}, SetOption{&kSeed, 0});
  EXPECT_EQ(generated(core), text);
  apply_and_show(core, TypeInField{Field::prompt, Replace{"The old king"}}, SetOption{&kSeed, 0});
  for (int i = 0; i < 8; ++i) {  // drawing step by step gives the same
    const ViewActions draw =
        find_view("sampling")->commands.front().act(picture(core.window(), "next").context, 0);
    apply_and_show(core, DoAll{draw});
  }
  EXPECT_EQ(prompt(core), text);
}

TEST_F(SelectionTest, OnItsSideTheSecondPromptIsGenerated) {
  CoreFixture alone(options("A wolf"));
  generate(alone, 3);
  CoreFixture core(options("The old king"));
  apply_and_show(core, CompareWith{true, Alignment::position}, TypeInField{Field::second, Replace{"A wolf"}},
                 SetSide{Side::baseline});
  generate(core, 3);
  EXPECT_EQ(core.state().second.text.edit.text, prompt(alone));
  EXPECT_EQ(prompt(core), "The old king");
  core.apply(Undo{});
  EXPECT_EQ(core.state().second.text.edit.text, "A wolf") << "in one step";
  shown(core);
  core.apply(Generate{true});
  core.apply(SetSide{Side::run});
  EXPECT_FALSE(core.state().generation.running) << "of another text";
}

}  // namespace
}  // namespace headscope::app::selection_test
