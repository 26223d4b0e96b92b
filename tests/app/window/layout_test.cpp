// Where the window's parts are: the map of the pass, the prompt, and how much room the picture gets.
#include <cmath>
#include <set>

#include "app/desktop/example_prompts.h"
#include "app/run/analyses/attention_pattern.h"
#include "app/run/sources/paths.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::layout_test {
namespace {

class LayoutTest : public HandsTest {
 protected:
  static const viz::Region& grid_of(const PlacedPicture& placed) { return placed.picture->regions.front(); }

  static viz::Point layer_cell(const Core& core, int layer) {
    const viz::Rect& cells = find_item(core, "Layer")->rect;
    const auto count = static_cast<float>(core.snapshot().run->run->config.n_layer);
    return {cells.x + (static_cast<float>(layer) + 0.5F) * cells.w / count, cells.center().y};
  }

  static float height(const Core& core, std::string_view id) { return picture(core.window(), id).where.h; }
};

/// Twenty tokens.
constexpr const char* kTwenty =
    "Once there was a little girl who lived by the sea with a big black dog. Every morning she";

TEST_F(LayoutTest, TheMapGetsAFifthOfASmallLaptopsScreenAndNamesEveryStrongKey) {
  CoreFixture core(options(kTwenty));
  apply_and_show(core, SelectHead{5, 5});
  for (const auto& [width, height] : {std::pair{1366.F, 768.F}, {1600.F, 1000.F}}) {
    const PlacedPicture& placed = picture(shown(core, width, height), "heatmap");
    const viz::Rect& map = grid_of(placed).rect;
    EXPECT_GE(map.w * map.h, 0.2F * width * height) << map.w << " x " << map.h << " of " << width;
  }
  for (const auto& [width, height] : {std::pair{1024.F, 700.F}, {1366.F, 768.F}, {1600.F, 1000.F}}) {
    const PlacedPicture& placed = picture(shown(core, width, height), "heatmap");
    std::multiset<std::string> texts;
    for (const viz::Item& item : placed.picture->scene.items)
      if (const auto* text = std::get_if<viz::GlyphRun>(&item)) texts.insert(text->text);
    const auto pattern = placed.context.ask(PatternOf{5, 5});
    ASSERT_NE(pattern, nullptr);
    const auto& labels = core.snapshot().run->tokens.labels;
    for (int key = 0; key < pattern->keys(); ++key) {
      if (pattern->matrix().at(pattern->length - 1, key) < 0.1F) continue;
      const std::string numbered = std::to_string(key) + " " + labels[key];
      // Once as a row, once as a column.
      EXPECT_GE(texts.count(labels[key]) + texts.count(numbered), 2U) << labels[key] << " at " << width;
    }
  }
}

TEST_F(LayoutTest, TheMapOfThePassShowsWhereTheViewBelongsAndGoesElsewhere) {
  CoreFixture core(options());
  for (const auto& [stage, group] : {std::pair{"Input views", Group::input},
                                     {"Block views", Group::block},
                                     {"Output views", Group::output},
                                     {"Model views", Group::model},
                                     {"Attention views", Group::attention}}) {
    click_and_show(core, stage);
    EXPECT_EQ(find_view(core.state().view)->group, group) << stage;
  }
  click_and_show(core, layer_cell(core, 3));
  EXPECT_EQ(core.state().selection.layer, 3);
  EXPECT_EQ(core.state().selection.head, 0) << "the head stays";
  ASSERT_TRUE(tab_to(core, "Layer"));
  press_and_draw(core, Key::right);
  EXPECT_EQ(core.state().selection.layer, 4);
  for (int i = 0; i < 9; ++i) press_and_draw(core, Key::right);
  EXPECT_EQ(core.state().selection.layer, core.snapshot().run->run->config.n_layer - 1);
}

TEST_F(LayoutTest, TheMapIsInSightInEveryPaneThatHasRoomAndTheGroupsInTheOthers) {
  CoreFixture core(options());
  for (const auto& [width, height] : {std::pair{1024.F, 700.F}, {1366.F, 768.F}, {1600.F, 1000.F}}) {
    shown(core, width, height);
    EXPECT_NE(find_item(core, "Layer"), nullptr) << width;
  }
  apply_and_show(core, ShowView{"scores", true});
  shown(core, 1024, 700);
  EXPECT_EQ(find_item(core, "Layer"), nullptr);
  for (int pane = 0; pane < 2; ++pane)
    for (const char* stage : {"Input views", "Attention views", "Block views", "Output views", "Model views"})
      EXPECT_NE(find_item(core, stage, pane), nullptr) << stage;
}

TEST_F(LayoutTest, TheListOfViewsHasTheShownOneAndAllOthers) {
  CoreFixture core(options());
  for (const View& view : all_tabs()) {
    SCOPED_TRACE(view.id);
    for (const auto& [width, height] : {std::pair{1024.F, 700.F}, {1600.F, 1000.F}}) {
      apply_and_show(core, ShowView{std::string(view.id)});
      shown(core, width, height);
      const bool named = find_item(core, view.title) != nullptr || says(core, view.title);
      EXPECT_TRUE(named) << "at " << width;
      for (const View& other : all_tabs()) {
        const bool hidden = other.group == view.group && find_item(core, other.title) == nullptr;
        EXPECT_TRUE(!hidden || find_item(core, "Views") != nullptr) << other.id << " at " << width;
      }
    }
  }
}

TEST_F(LayoutTest, NothingMovesWhileThePromptGrows) {
  for (const auto& [width, height_of_window] : {std::pair{1280.F, 800.F}, {1600.F, 1000.F}}) {
    CoreFixture core(options("One"));
    shown(core, width, height_of_window);
    const viz::Rect panes = picture(core.window(), "heatmap").where;
    for (int i = 0; i < 60; ++i) {
      type(core, " that goes on and on");
      if (i % 5 == 0) type(core, "!");
      shown(core, width, height_of_window);
      ASSERT_EQ(picture(core.window(), "heatmap").where, panes) << i << " at " << width;
    }
  }
}

TEST_F(LayoutTest, TheNotesOfTheExamplesAreShownInFullInASmallWindow) {
  const auto examples = load_example_prompts(assets_folder() / "prompts.txt");
  ASSERT_GT(examples.size(), 5U);
  for (const ExamplePrompt& example : examples) {
    CoreFixture core(options());
    apply_and_show(core, SetPrompt{example.text, {}, example.look_for});
    const WindowPicture& window = shown(core, 1024, 700);
    std::string all;
    for (const viz::Scene& scene : window.scenes)
      for (const viz::Item& item : scene.items)
        if (const auto* text = std::get_if<viz::GlyphRun>(&item)) all += text->text + " ";
    std::string note = example.look_for;
    EXPECT_NE(all.find(note.substr(note.size() - 12)), std::string::npos) << example.title;
  }
}

TEST_F(LayoutTest, TheNoteOfAnExampleGoesWithItsTextAndItsView) {
  CoreFixture core(options());
  apply_and_show(core, SetPrompt{"A robot", {}, "Look at the first head."});
  EXPECT_TRUE(says(core, "Look at the first head."));
  apply_and_show(core, ShowView{"lens"});
  EXPECT_FALSE(says(core, "Look at the first head.")) << "it is about another view";
  apply_and_show(core, ShowView{"heatmap"});
  EXPECT_TRUE(says(core, "Look at the first head."));
  type_and_show(core, "!");
  EXPECT_FALSE(says(core, "Look at the first head.")) << "it is about another prompt";
}

TEST_F(LayoutTest, AMeasurementOfTheUneditedModelHasNoDifference) {
  CoreFixture core(options());
  apply_and_show(core, ShowView{"metrics"},
                 ToggleEdit{model::SetValues{{{model::Site::z, 1}, 6, {}, {}}, {0}}},
                 SetSide{Side::difference});
  const auto side = [&] { return picture(core.window(), "metrics").context.side; };
  EXPECT_EQ(side(), Side::difference);
  EXPECT_FALSE(says(core, "unedited model"));
  const OptionSpec& text = option("metrics-text");
  apply_and_show(core, SetOption{&text, 1});  // repeated random tokens
  EXPECT_EQ(side(), Side::run);
  EXPECT_TRUE(says(core, "This is about the unedited model: there is no difference."));
}

TEST_F(LayoutTest, ATokenOfAPartOfACharacterSaysWhichCharacter) {
  CoreFixture core(options("a 東 b"));
  const PlacedPicture& placed = picture(core.window(), "tokens");
  int parts = 0;
  for (const viz::Region& region : placed.picture->regions) {
    const viz::Hit hit{static_cast<int>(&region - placed.picture->regions.data()), 0, 0};
    for (const Fact& fact : placed.view->facts(placed.context, *placed.picture, hit).said)
      parts += fact.label.find("東") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(parts, 1);
  EXPECT_LT(parts, core.snapshot().run->run->length());
}

TEST_F(LayoutTest, WhatCannotBePressedSaysWhy) {
  CoreFixture core(options());
  int disabled = 0;
  for (const View& view : all_tabs()) {
    apply_and_show(core, ShowView{std::string(view.id)});
    const std::vector<WindowItem> items = core.window().items;
    for (const WindowItem& found : items) {
      if (found.enabled || found.hidden) continue;
      ++disabled;
      WindowFrame frame;
      frame.pointer = found.rect.center();
      core.handle(MouseMove{found.rect.center()});
      core.draw(frame);
      core.draw(frame);
      std::string said;
      for (const viz::Item& item : core.window().scenes.back().items)
        if (const auto* text = std::get_if<viz::GlyphRun>(&item)) said += text->text + "|";
      EXPECT_THAT(said, HasSubstr(".|")) << view.id << ": " << found.label << " only says " << said;
    }
  }
  EXPECT_GT(disabled, 20) << "Back, Forward, Fit, All ...";
}

// What is subtracted from what has to be read without a mouse.
TEST_F(LayoutTest, ADifferencesSubtitleHasLinesOfItsOwnWhereItIsCut) {
  CoreFixture core(options("The old king"));
  apply_and_show(core, CompareWith{true, Alignment::position},
                 TypeInField{Field::second, Replace{"The young king"}}, SetSide{Side::difference},
                 ShowView{"heatmap"});
  const WindowPicture& window = shown(core, 1366, 768);
  for (const char* view : {"heatmap", "next"}) {
    const PlacedPicture& placed = picture(window, view);
    EXPECT_GT(placed.context.subtitle_lines, 0) << view;
    EXPECT_FALSE(placed.picture->cuts_heading) << view;
  }
  EXPECT_TRUE(says(core, "first − second prompt"));
  // What is under the mouse is where it is drawn.
  const PlacedPicture& map = picture(window, "heatmap");
  const viz::Rect cell = map.picture->regions.front().cell_rect(2, 1);
  click(core, {map.where.x + cell.center().x, map.where.y + cell.center().y});
  EXPECT_EQ(core.state().selection.query, 2);
  EXPECT_EQ(core.state().selection.key, 1);
  core.apply(SetSide{Side::run});
  EXPECT_EQ(picture(shown(core, 1366, 768), "heatmap").context.subtitle_lines, 0) << "it has room there";
}

// While a window is dragged, it has every size, and without a window manager it can be smaller than its
// limits.
TEST_F(LayoutTest, AWindowOfAnySizeIsDrawn) {
  CoreFixture core(options());
  for (const float side : {1.F, 19.F, 20.F, 21.F, 32.F, 40.F, 44.F, 64.F, 84.F, 200.F}) {
    shown(core, side, 900);
    shown(core, 1200, side);
    shown(core, side, side);
  }
  EXPECT_FALSE(shown(core).pictures.empty());
}

}  // namespace
}  // namespace headscope::app::layout_test
