// The help with its guide, and the definitions in tooltips.
#include <cmath>

#include "app/run/sources/paths.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::help_test {
namespace {

class HelpTest : public HandsTest {
 protected:
  CoreOptions with_guide() {
    CoreOptions o = options();
    o.guide = load_guide(assets_folder() / "guide");
    o.rest_time = std::chrono::milliseconds(0);
    return o;
  }
  static void search(Core& core, const std::string& words) {
    apply_and_show(core, TypeInField{Field::help, Replace{words}});
  }
  /// Moves the mouse there; `rests`: and waits as long as it takes until a term is defined.
  /// The window draws with the mouse's place, and reports moves only while a button is held.
  static void point(Core& core, viz::Point at, bool rests) {
    WindowFrame frame;
    frame.pointer = at;
    core.draw(frame);
    if (!rests) return;
    core.take_results();
    core.draw(frame);
  }
};

TEST_F(HelpTest, ShowsTheWindowThenTheKeysAndAnyPageOfTheGuide) {
  CoreFixture core(with_guide());
  press_and_show(core, Key::f1);
  EXPECT_TRUE(says(core, "This page explains how to work in the window"));
  EXPECT_EQ(keyboard_at(core), "search the help");
  click_and_show(core, "Keys and mouse");
  EXPECT_TRUE(says(core, "Ctrl+E"));
  click_and_show(core, "Edits");
  EXPECT_EQ(core.state().help_form.page, "edits");
  EXPECT_TRUE(says(core, "An edit sets, scales"));
  EXPECT_TRUE(says(core, "headscope predict --prompt")) << "code";
  EXPECT_FALSE(says(core, "`")) << "nothing of the notation";
  EXPECT_FALSE(says(core, "**"));
  press_and_show(core, Key::f1);
  EXPECT_EQ(core.state().dialog, Dialog::none);
  press_and_show(core, Key::f1);
  EXPECT_EQ(core.state().help_form.page, "edits") << "where it was left";
}

TEST_F(HelpTest, FindsWhatIsSearchedInAllOfIt) {
  CoreFixture core(with_guide());
  press_and_show(core, Key::f1);
  type_and_show(core, "perplex");
  EXPECT_TRUE(says(core, "Two to the power")) << "of the glossary";
  EXPECT_FALSE(says(core, "Ctrl+E"));
  search(core, "along the sum");
  EXPECT_TRUE(says(core, "Head output"));
  EXPECT_TRUE(says(core, "(in the window: Attention → Merge)")) << "where the view is";
  search(core, "initial values");
  EXPECT_TRUE(says(core, "Position embedding"));
  search(core, "undo the last change of");
  EXPECT_TRUE(says(core, "Ctrl+Z")) << "of the keys";
  EXPECT_FALSE(says(core, "Ctrl+G")) << "only the line in which it was found";
  search(core, "SHA-256 recipe");
  EXPECT_TRUE(says(core, "Recipes"));
  EXPECT_TRUE(says(core, "The command line")) << "the page's title beside the section";
  search(core, "zyxw no such words");
  EXPECT_TRUE(says(core, "Nothing found."));
  click_and_show(core, "Edits");
  EXPECT_TRUE(says(core, "An edit sets, scales"));
  EXPECT_EQ(core.state().help_form.search.edit.text, "");
}

TEST_F(HelpTest, LinksLeadToTheirPlace) {
  CoreFixture core(with_guide());
  apply_and_show(core, ShowGuide{"glossary", ""});
  const auto* link = find_item(core, "sweep");
  ASSERT_NE(link, nullptr);
  click_and_show(core, "sweep");
  EXPECT_EQ(core.state().view, "sweep") << "an entry's view opens";
  EXPECT_EQ(core.state().dialog, Dialog::none);
  for (int i = 0; i < 2; ++i) {
    apply_and_show(core, ShowGuide{"views", ""});
    click_and_show(core, "comparison");
    EXPECT_EQ(core.state().help_form.page, "window");
    EXPECT_EQ(core.state().help_form.anchor, "comparison");
    EXPECT_TRUE(says(core, "Every view shows the edited run or the baseline"))
        << "scrolled to it, time " << i;
    EXPECT_FALSE(says(core, "This page explains how to work in the window"));
  }
}

TEST_F(HelpTest, ALabelIsDefinedOnceTheMouseRests) {
  CoreFixture core(with_guide());
  apply_and_show(core, ShowView{"lens"});
  const viz::Point tab = item(core, "Logit lens");
  point(core, tab, false);
  EXPECT_TRUE(says(core, "What the model would predict")) << "the tooltip itself";
  EXPECT_FALSE(says(core, "Reading the residual stream early"));
  EXPECT_TRUE(core.seconds_until_update().has_value()) << "the window has to wake";
  point(core, tab, true);
  EXPECT_TRUE(says(core, "Reading the residual stream early"));
  EXPECT_TRUE(says(core, "softmax(ln_f"));
  EXPECT_FALSE(core.seconds_until_update().has_value());
  point(core, {tab.x + 2, tab.y}, false);
  EXPECT_FALSE(says(core, "Reading the residual stream early")) << "it moves again";
}

TEST_F(HelpTest, TextsOfPicturesAreDefinedButNoTokens) {
  CoreOptions o = with_guide();
  o.window.prompt = Prompt{"The key and the key", {}, false};
  CoreFixture core(std::move(o));
  apply_and_show(core, ShowView{"lens"});
  ASSERT_THAT(core.snapshot().run->tokens.labels, Contains("·key"));
  const auto point_at = [&](std::string_view words) {
    const PlacedPicture placed = picture(core.window(), "lens");
    for (const viz::Item& drawn : placed.picture->scene.items) {
      const auto* run = std::get_if<viz::GlyphRun>(&drawn);
      if (run == nullptr || run->text != words) continue;
      const float along = 4, up = 3, c = std::cos(run->angle), s = std::sin(run->angle);
      const viz::Point at{run->origin.x + c * along + s * up, run->origin.y + s * along - c * up};
      if (viz::hit_test(placed.picture->regions, at)) continue;  // has a tooltip of its own
      return point(core, {placed.where.x + at.x, placed.where.y + at.y}, true);
    }
    ADD_FAILURE() << "no text " << words;
  };
  point_at("residual stream");
  EXPECT_TRUE(says(core, "The vector of each position that runs through")) << "the title of an axis";
  shown(core);
  point_at("·key");
  EXPECT_FALSE(core.window().over_term) << "a token on the other axis";
}

}  // namespace
}  // namespace headscope::app::help_test
