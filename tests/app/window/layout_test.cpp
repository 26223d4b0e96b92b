// Where the window's parts are: the map of the pass, the prompt, and how much room the picture gets.

#include "tests/app/window/window_fixture.h"

namespace headscope::app::layout_test {
namespace {

class LayoutTest : public HandsTest {
 protected:
  static viz::Point layer_cell(const Core& core, int layer) {
    const viz::Rect& cells = find_item(core, "Layer")->rect;
    const auto count = static_cast<float>(core.snapshot().run->run->config.n_layer);
    return {cells.x + (static_cast<float>(layer) + 0.5F) * cells.w / count, cells.center().y};
  }
};

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

TEST_F(LayoutTest, TheNoteOfAnExampleGoesWithItsTextAndItsView) {
  CoreOptions o = options();
  o.examples = {example("First", "A robot")};
  CoreFixture core(std::move(o));
  apply_and_show(core, ShowExample{0});
  EXPECT_TRUE(says(core, "Look at the first head."));
  apply_and_show(core, ShowView{"lens"});
  EXPECT_FALSE(says(core, "Look at the first head.")) << "it is about another view";
  apply_and_show(core, ShowView{"heatmap"});
  EXPECT_TRUE(says(core, "Look at the first head."));
  type_and_show(core, "!");
  EXPECT_FALSE(says(core, "Look at the first head.")) << "it is about another prompt";
}

TEST_F(LayoutTest, APromptThatEndsInASpaceOrBeginsTwiceIsMendedByItsNotice) {
  CoreFixture core(options("The old king"));
  type_and_show(core, " ");
  EXPECT_EQ(find_item(core, "Remove the space"), nullptr) << "a word may follow";
  press_and_show(core, Key::left);
  click_and_show(core, "Remove the space");
  EXPECT_EQ(prompt(core), "The old king");
  apply_and_show(core, TypeInField{Field::prompt, Replace{"<|endoftext|>The"}}, SetStartToken{true});
  click_and_show(core, "Remove one");
  EXPECT_FALSE(core.state().start_token);
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
