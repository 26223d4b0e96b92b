// The sides of a comparison, and the difference.

#include "app/run/analyses/attention_pattern.h"
#include "app/run/analyses/attention_stages.h"
#include "app/run/analyses/next_token.h"
#include "app/run/analyses/thumbnails.h"
#include "app/run/edits/edit_text.h"
#include "app/views/export.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/names.h"
#include "app/views/parts/weight_colors.h"
#include "model/tokens/sampling.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::comparison_test {
namespace {

Scenario edited(const char* edits = "L1.attn_out=0", const std::string& text = kRobot) {
  return testing::edited(edits, {2, 1, -1}, text);
}

std::string csv(const View& view, const ViewContext& context) {
  return export_bytes(FileFormat::csv, view, context, {});
}

TEST(Comparison, TheBaselineSideOfEveryViewIsItsPictureWithoutEdits) {
  const Scenario scenario = edited();
  Scenario clean(kRobot);
  for (const View& view : views()) {
    SCOPED_TRACE(view.id);
    ViewContext other = on_side(Side::baseline, view, scenario.context(800, 600));
    EXPECT_EQ(other.side, Side::baseline);
    EXPECT_EQ(other.run, scenario.run->baseline);
    const ViewContext alone = clean.context(800, 600);
    const viz::Picture there = view.build(other), expected = view.build(alone);
    // Both sides of a flow have the scale that fits both, which decides on what has room.
    EXPECT_TRUE(there.scene.items.size() == expected.scene.items.size() || view.id == "flow");
    if (view.table) {
      EXPECT_EQ(csv(view, other), csv(view, alone));
    }
    EXPECT_EQ(caption(view, other), caption(view, alone));
  }
}

TEST(Comparison, AViewWithoutDifferencesShowsTheRun) {
  const Scenario scenario = edited();
  for (const View& view : views()) {
    SCOPED_TRACE(view.id);
    const ViewContext alone = scenario.context(800, 600), c = on_side(Side::difference, view, alone);
    const bool of_model = view.of_model != nullptr && view.of_model(alone);
    EXPECT_EQ(c.side, view.shows_difference && !of_model ? Side::difference : Side::run);
    EXPECT_FALSE(view.build(c).scene.items.empty());
  }
  const Scenario alone(kRobot);
  const ViewContext c = on_side(Side::baseline, views().front(), alone.context(800, 600));
  EXPECT_EQ(c.side, Side::run) << "nothing to compare with";
}

TEST(Comparison, DifferencesOfPatternsAndStagesAreCellByCell) {
  const Scenario scenario = edited();
  const PatternOf pattern{2, 1};
  const auto after = scenario.ask(pattern);
  const Scenario clean(kRobot);
  const auto before = clean.ask(pattern);
  const ViewContext c = on(Side::difference, "heatmap", scenario, 800, 600);
  const auto difference = c.ask(pattern);
  ASSERT_TRUE(difference->masked.causal());
  bool any = false;
  for (int query = 0; query < scenario.length(); ++query)
    for (int key = 0; key <= query; ++key) {
      const float expected = after->matrix().at(query, key) - before->matrix().at(query, key);
      EXPECT_EQ(difference->matrix().at(query, key), expected);
      any |= expected != 0;
    }
  EXPECT_TRUE(any);
  const auto stages = c.ask(StagesOf{2, 1});
  EXPECT_EQ(stages->matrix(Stage::masked).at(3, 5), 0) << "masked on both sides";
  EXPECT_EQ(stages->matrix(Stage::scores).at(5, 3),
            scenario.ask(StagesOf{2, 1})->matrix(Stage::scores).at(5, 3) -
                clean.ask(StagesOf{2, 1})->matrix(Stage::scores).at(5, 3));
}

/// The prompts differ, but neither is an edit of the other.
TEST(Comparison, TheDifferenceOfTwoPromptsIsNotCalledAChange) {
  const auto words_of = [&](const Scenario& scenario, const View& view) {
    const ViewContext c = on_side(Side::difference, view, scenario.context(900, 700));
    std::string words;
    const Picture picture = view.build(c);
    for (const std::string& text : texts(picture.scene)) words += text + "\n";
    for (const viz::Region& region : picture.regions)
      if (const auto hit = viz::hit_test(picture.regions, region.cell_rect(0, 0).center()); hit && view.facts)
        for (const std::string& line : view.facts(c, picture, *hit).tooltip()) words += line + "\n";
    if (view.table != nullptr)
      for (const std::string& heading : view.table(c).header) words += heading + "\n";
    return words;
  };
  const Scenario two = of_two(), edited_run = edited();
  for (const View& view : views()) {
    if (!view.shows_difference) continue;
    SCOPED_TRACE(view.id);
    EXPECT_THAT(words_of(two, view), Not(HasSubstr("change of ")));
    EXPECT_THAT(words_of(edited_run, view), Not(HasSubstr("difference of ")));
  }
}

TEST(Comparison, TokensOfTwoPromptsAreMatched) {
  const Scenario scenario = of_two();
  EXPECT_EQ(scenario.run->aligned, (std::vector<int>{0, 2, 3, 4, -1, 5}));
  ViewContext c = on(Side::difference, "heatmap", scenario, 800, 600);
  const auto difference = c.ask(PatternOf{2, 1});
  EXPECT_FALSE(difference->masked(3, 2));
  EXPECT_TRUE(difference->masked(4, 2)) << "“ a” has nothing that stands for it";
  EXPECT_TRUE(difference->masked(5, 4));
  const PromptRun& other = *scenario.run->baseline;
  std::vector<float> there(36);
  other.model->transformer->pattern(*other.run, 2, 1, there);
  EXPECT_EQ(difference->matrix().at(5, 1), scenario.weight(5, 1) - there[5 * 6 + 2]);
  // The selection moves to its counterpart in the other prompt.
  Scenario at_had = of_two();
  at_had.select({2, 1, 3, 1});
  c = on(Side::baseline, "query", at_had, 800, 600);
  EXPECT_EQ(c.selection.query, 4);
  EXPECT_EQ(c.selection.key, 2);
}

TEST(Comparison, SmallMapsShowTheLargestDifferenceUnderEachCell) {
  Scenario scenario = [] {
    PromptTokens tokens = tokenize(*bundled(), Prompt{long_text(), {}, false});
    Scenario made(
        Prompt{long_text().substr(0, tokens.tokens[99].end), {}, false, parse_edits("L0H3.z=0", *bundled())});
    made.compare();
    return made;
  }();
  ASSERT_EQ(scenario.length(), 100);
  const auto maps = scenario.ask_difference(ThumbnailsOfHeads{});
  const ViewContext c = on(Side::difference, "heatmap", scenario, 800, 600);
  const int heads = scenario.config().n_head;
  for (const auto& [layer, head] : {std::pair{0, 3}, {1, 0}, {3, 2}}) {
    const auto difference = c.ask(PatternOf{layer, head});
    const Thumbnail& map = *maps->of_head[layer * heads + head];
    ASSERT_EQ(map.rows, Thumbnail::kMax);
    std::vector<float> expected(static_cast<std::size_t>(map.rows * map.cols));
    std::vector<bool> either(expected.size());  // for ties
    for (int query = 0; query < 100; ++query)
      for (int key = 0; key <= query; ++key) {
        const auto at = static_cast<std::size_t>(query * 64 / 100 * 64 + key * 64 / 100);
        const float value = difference->matrix().at(query, key);
        if (value == -expected[at]) either[at] = true;
        if (std::abs(value) <= std::abs(expected[at])) continue;
        expected[at] = value;
        either[at] = false;
      }
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(either[i] ? std::abs(map.values[i]) : map.values[i],
                either[i] ? std::abs(expected[i]) : expected[i])
          << layer << "." << head << " " << i;
    EXPECT_EQ(map.range.magnitude() > 0, layer > 0) << "what comes before the change stays as it was";
  }
}

TEST(Comparison, TheNextTokenShowsBothAndHowFarTheyAreApart) {
  const Scenario scenario = edited(), clean(kRobot);
  const View& next = *find_view("next");
  const ViewContext c = on_side(Side::difference, next, scenario.context(420, 600));
  const auto probabilities = [](const Scenario& of) {
    const auto answer = of.ask(NextAfter{of.selection.query});
    std::vector<double> result(answer->logits.size());
    model::softmax(answer->logits, 1, result);
    return result;
  };
  const std::vector<double> after = probabilities(scenario), before = probabilities(clean);
  const Table table = next.table(c);
  ASSERT_EQ(table.header.back(), "change");
  double largest = 0;
  for (std::size_t i = 0; i < after.size(); ++i) largest = std::max(largest, std::abs(after[i] - before[i]));
  EXPECT_NEAR(std::abs(std::stod(table.rows.front().back())), largest, 1e-15) << "the largest change first";
  double kl = 0;
  for (std::size_t i = 0; i < after.size(); ++i) kl += before[i] * std::log(before[i] / after[i]);
  EXPECT_NEAR(divergence(before, after), kl, 1e-12);
  EXPECT_EQ(divergence(before, before), 0);
  const viz::Picture picture = next.build(c);
  const bool says = std::ranges::any_of(picture.scene.items, [&](const viz::Item& item) {
    const auto* text = std::get_if<viz::GlyphRun>(&item);
    return text != nullptr && text->text.find(" " + viz::number(bits(kl), 3) + " bits") != std::string::npos;
  });
  EXPECT_TRUE(says);
}

TEST(Comparison, CaptionsSayWhatIsSubtracted) {
  const View& view = *find_view("heatmap");
  const Scenario scenario = edited();
  EXPECT_THAT(caption(view, on_side(Side::difference, view, scenario.context(800, 600))),
              HasSubstr("with the attention of L1 zeroed · minus the same without edits"));
  const Scenario two = of_two({2, 1, -1}, Alignment::position);
  EXPECT_THAT(caption(view, on_side(Side::difference, view, two.context(800, 600))),
              HasSubstr("minus “The very old king had daughter”"));
  EXPECT_THAT(caption(view, on_side(Side::difference, view, two.context(800, 600))),
              Not(HasSubstr("without edits")));
  Prompt prompt{"The old king had a daughter", {}, false};
  prompt.edits = scenario.run->prompt.edits;
  Scenario both(prompt);
  both.compare(Prompt{"The very old king had daughter", {}, false});
  EXPECT_THAT(caption(view, on_side(Side::difference, view, both.context(800, 600))),
              HasSubstr("minus “The very old king had daughter” without edits"));
}

TEST(Comparison, DifferencesSayHowManyTokensHaveNoCounterpart) {
  const Scenario two = of_two();
  const auto alone = std::ranges::count(two.run->aligned, -1);
  ASSERT_EQ(alone, 1);
  ViewContext c = two.context(1000, 700);
  c.side = Side::difference;
  EXPECT_EQ(difference_words(c), "first − second prompt; 1 token has no counterpart");
}

TEST(Comparison, WhatASingleTokenWithoutCounterpartHasIsNoDifference) {
  const Scenario alone = of_two({2, 1, 4});
  const std::string words = "4 “·a” has no counterpart in the second prompt";
  for (const char* view : {"next", "attribution", "query", "merge"}) {
    const ViewContext c = on(Side::difference, view, alone, 900, 700);
    EXPECT_THAT(texts(find_view(view)->build(c).scene), ElementsAre(words)) << view;
  }
  EXPECT_TRUE(find_view("next")->table(on(Side::difference, "next", alone)).rows.empty());
}

TEST(Comparison, AnotherTokenAtTheSamePositionIsNamed) {
  const Scenario two = of_two({2, 1, 1}, Alignment::position);
  for (const char* view : {"next", "attribution", "query", "merge", "way"}) {
    const ViewContext c = on(Side::difference, view, two, 1600, 900);
    EXPECT_THAT(find_view(view)->build(c).subtitle, HasSubstr("; there 1 “·very”")) << view;
  }
  EXPECT_EQ(find_view("next")->build(on(Side::difference, "next", two, 900, 700)).title,
            "After “·old” − “·very”");
  const ViewContext map = on(Side::difference, "heatmap", two, 900, 700);
  EXPECT_THAT(find_view("heatmap")->build(map).subtitle, HasSubstr("; 4 tokens are compared with others"));
  const Scenario by_token = of_two({2, 1, 1});
  EXPECT_THAT(find_view("next")->build(on(Side::difference, "next", by_token, 900, 700)).subtitle,
              HasSubstr("; there 2 “·old”"));
}

TEST(Comparison, TheStripMarksTokensThatTheOtherPromptHasOthersFor) {
  const Scenario two = of_two({2, 1, 1}, Alignment::position);
  for (const Side side : {Side::run, Side::baseline}) {
    const ViewContext c = on(side, "tokens", two, 900, 120);
    const View& view = *find_view("tokens");
    const Picture picture = view.build(c);
    const bool second = side == Side::baseline;
    const auto& own = (second ? *two.run->baseline : *two.run).tokens;
    const auto& other = (second ? *two.run : *two.run->baseline).tokens;
    for (const viz::Region& chip : picture.regions) {
      const auto underlined = std::ranges::any_of(
          items_of<viz::FillRect>(picture.scene),
          [&](const auto& bar) { return bar.rect.h < 0.2F * chip.rect.h && chip.rect.encloses(bar.rect); });
      const bool differs = chip.id >= other.length() || own.tokens[chip.id].id != other.tokens[chip.id].id;
      EXPECT_EQ(underlined, differs) << chip.id;
      if (!differs) continue;
      const std::string prompt = second ? "first prompt" : "second prompt";
      const std::string words = chip.id >= other.length()
                                    ? "no counterpart in the " + prompt
                                    : "in the " + prompt + " " + token_name(other, chip.id);
      EXPECT_THAT(view.facts(c, picture, {static_cast<int>(&chip - picture.regions.data()), 0, 0}).tooltip(),
                  Contains(words));
    }
  }
}

TEST(Comparison, NumbersOfViewsWithoutDifferencesSayWhoseTheyAre) {
  const auto tooltip = [](const Scenario& s, Side side) {
    const ViewContext c = on(side, "tokens", s, 900, 120);
    return find_view("tokens")->facts(c, find_view("tokens")->build(c), {1, 0, 0}).tooltip();
  };
  EXPECT_THAT(tooltip(edited(), Side::difference), Contains(HasSubstr("% in the edited run")));
  EXPECT_THAT(tooltip(edited(), Side::baseline), Contains(HasSubstr("% in the unedited run")));
  EXPECT_THAT(tooltip(of_two(), Side::difference), Contains(HasSubstr("% in the first prompt")));
  EXPECT_THAT(tooltip(Scenario(kRobot), Side::run), Not(Contains(HasSubstr(" in the first"))));
}

TEST(Comparison, OneTokenThatIsComparedWithAnotherIsNamed) {
  Scenario two("The old king", {2, 1, 0});
  two.compare(Prompt{"The old queen", {}, false}, Alignment::position);
  ASSERT_EQ(two.length(), 3);
  EXPECT_THAT(find_view("heatmap")->build(on(Side::difference, "heatmap", two, 900, 700)).subtitle,
              HasSubstr("; 2 “·king” is compared with 2 “·queen”"));
}

TEST(Comparison, APaneSaysWhatMatchesEqualTokens) {
  Scenario two("The old king had a dog", {2, 1, 1});
  const auto words = [&](Alignment by, bool in_pane) {
    two.compare(Prompt{"The very old king had a dog", {}, false}, by);
    ViewContext c = on(Side::difference, "heatmap", two, 900, 700);
    c.in_pane = in_pane;
    return difference_words(c);
  };
  EXPECT_THAT(words(Alignment::position, true), HasSubstr("; “By token” matches equal ones"));
  EXPECT_THAT(words(Alignment::position, false), Not(HasSubstr("By token")))
      << "a figure has no such control";
  EXPECT_THAT(words(Alignment::subsequence, true), Not(HasSubstr("By token")));
}

TEST(Comparison, AFigureOfADifferenceHasAScaleOfItsOwn) {
  const Scenario s = edited();
  ViewContext c = on(Side::difference, "heatmap", s, 900, 700);
  const auto full = [&](bool printed) {
    c.printed = printed;
    const auto pattern = s.ask_difference(PatternOf{2, 1});
    return pattern_scale(c, pattern->matrix(), "", true, range_of_differences(c)).scale.high;
  };
  const auto pattern = s.ask_difference(PatternOf{2, 1});
  EXPECT_FLOAT_EQ(static_cast<float>(full(true)), viz::value_range(pattern->matrix()).magnitude());
  EXPECT_GT(full(false), full(true)) << "the window has one for all heads";
}

TEST(Comparison, CaptionsSayWhatIsMatchedAndWhereATextStarts) {
  const Scenario two = of_two();
  const auto caption_of = [&](const char* view) {
    return caption(*find_view(view), on(Side::difference, view, two, 900, 700));
  };
  for (const char* view : {"heatmap", "lens", "attribution"})
    EXPECT_THAT(caption_of(view), HasSubstr("equal tokens matched")) << view;
  EXPECT_THAT(caption_of("metrics"), Not(HasSubstr("matched"))) << "means over each prompt";
  const Scenario started(Prompt{"The old king", {}, true});
  EXPECT_THAT(caption(*find_view("metrics"), started.context(900, 700)),
              HasSubstr("“The old king” after the start token"));
}

/// The query follows the end of a prompt that is shorter than the other.
TEST(Comparison, TheSecondPromptsNextTokenIsAtTheCounterpart) {
  Scenario two("The old king had", {2, 1, 3});
  two.compare(Prompt{"The old king had a daughter", {}, false});
  ViewContext chosen = two.context(400, 600), follows = chosen;
  chosen.chosen_query = 3, follows.chosen_query = -1;
  const View& view = *find_view("next");
  const Table at_three = view.table(on_side(Side::baseline, view, chosen)),
              at_end = view.table(on_side(Side::baseline, view, follows));
  ASSERT_FALSE(at_three.rows.empty());
  EXPECT_EQ(at_end.rows, at_three.rows);
  EXPECT_EQ(view.build(on_side(Side::baseline, view, follows)).subtitle, "position 3");
}

TEST(Comparison, TheLensOnPaperSaysWhoseAnswerItsColoursAreOf) {
  const Scenario two = of_two(), changed = edited("L4.attn_out=0");
  for (const auto& [scenario, whose] :
       {std::pair(&two, "the second prompt's final answer"), {&changed, "the unedited run's final answer"}}) {
    for (const float width : {317.F, 624.F}) {
      ViewContext c = on(Side::difference, "lens", *scenario, width, 400);
      c.printed = true;
      const std::string subtitle = find_view("lens")->build(c).subtitle;
      EXPECT_THAT(subtitle, HasSubstr(std::string("; colours are of ") + whose));
      EXPECT_THAT(subtitle, EndsWith("; bold: the answer"));
    }
  }
}

TEST(Comparison, TheLensHasNoAnswerWhereNothingIsCompared) {
  const Scenario two = of_two();
  const ViewContext c = on(Side::difference, "lens", two, 900, 700);
  const Picture picture = find_view("lens")->build(c);
  const viz::Region& grid = picture.regions.back();
  int bold = 0;
  for (const viz::GlyphRun& run : items_of<viz::GlyphRun>(picture.scene)) {
    // With the answers above the cells.
    const viz::Rect columns{grid.rect.x, grid.rect.y - 20, grid.rect.w, grid.rect.h + 20};
    if (!columns.contains(run.origin) || run.text == ",") continue;
    if (run.glyphs != fonts()->layout(run.text, viz::FontStyle::bold, run.size).glyphs) continue;
    ++bold;
    const viz::Rect alone = grid.cell_rect(0, 4);
    EXPECT_FALSE(alone.x < run.origin.x && run.origin.x < alone.right()) << run.text;
  }
  EXPECT_GT(bold, 0);
}

TEST(Comparison, PredictionsKeepTheRunsOwnGuessLongest) {
  for (const float width : {420.F, 520.F}) {
    const Scenario s = edited("L4.attn_out=0");
    ViewContext c = on(Side::difference, "predictions", s, width, 600);
    c.in_pane = true;
    const Picture picture = find_view("predictions")->build(c);
    const auto said = texts(picture.scene);
    EXPECT_GE(std::ranges::count(said, "guess now"), std::ranges::count(said, "guess before")) << width;
    EXPECT_THAT(picture.subtitle, HasSubstr("columns not shown: ")) << width;
  }
}

}  // namespace
}  // namespace headscope::app::comparison_test
