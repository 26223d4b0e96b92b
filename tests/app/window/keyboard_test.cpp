// Using the window by keyboard: Tab, F6, arrows, Space, Enter and Esc.
#include "app/window/input.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::keyboard_test {
namespace {

class KeyboardTest : public HandsTest {
 protected:
  /// The items that Tab visits until it is back at the first.
  static std::vector<std::string> round(Core& core, Modifiers modifiers = {}) {
    if (keyboard_at(core).empty()) press_and_draw(core, Key::tab, modifiers);
    std::vector<std::string> visited;
    const unsigned first = keyboard_id(core);
    do {
      visited.push_back(keyboard_at(core));
      press_and_draw(core, Key::tab, modifiers);
    } while (keyboard_id(core) != first && visited.size() < 200);
    return visited;
  }
};

TEST_F(KeyboardTest, TabVisitsEachGroupOnceInItsOrderAndComesBack) {
  Core core(options());
  for (const View& view : some_tabs()) {
    SCOPED_TRACE(view.id);
    core.apply(ShowView{std::string(view.id)});
    press_and_show(core, Key::escape);
    ASSERT_EQ(keyboard_at(core), "prompt");
    std::vector<std::string> expected = stops(core);
    ASSERT_GT(expected.size(), 7U);
    std::ranges::rotate(expected, std::ranges::find(expected, "prompt"));
    EXPECT_THAT(round(core), ElementsAreArray(expected));
    std::ranges::reverse(expected);
    std::ranges::rotate(expected, std::ranges::find(expected, "prompt"));
    EXPECT_THAT(round(core, {.shift = true}), ElementsAreArray(expected));
  }
}

TEST_F(KeyboardTest, TabStaysInADialogAndTheMenusOfIt) {
  CoreFixture core(options());
  for (const auto& [key, modifiers] : {std::pair{Key::e, Modifiers{.ctrl = true}},
                                       {Key::o, Modifiers{.ctrl = true}},
                                       {Key::f1, Modifiers{}}}) {
    press_and_show(core, key, modifiers);
    const auto expected = stops(core);
    ASSERT_GT(core.window().layer, 0);
    const auto visited = round(core);
    EXPECT_EQ(std::set<std::string>(visited.begin(), visited.end()),
              std::set<std::string>(expected.begin(), expected.end()));
    ASSERT_TRUE(tab_to(core, "Close"));
    press_and_draw(core, Key::space);
    EXPECT_EQ(core.state().dialog, Dialog::none);
    EXPECT_EQ(keyboard_at(core), "prompt") << "and not what the toolkit had the keyboard at";
  }
}

TEST_F(KeyboardTest, FiveTabsReachThePictureAndArrowsEachControl) {
  CoreFixture core(options());
  for (int i = 0; i < 5; ++i) press_and_draw(core, Key::tab);
  EXPECT_EQ(keyboard_at(core), "Heatmap");
  press_and_draw(core, Key::tab, {.shift = true});
  const int group = std::ranges::find(core.window().items, keyboard_id(core), &WindowItem::id)->group;
  std::vector<std::string> expected, visited;
  for (const WindowItem& item : core.window().items)
    if (item.group == group && item.enabled) expected.push_back(item.label);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    visited.push_back(keyboard_at(core));
    press_and_draw(core, Key::down);
  }
  EXPECT_EQ(visited, expected);
  EXPECT_EQ(keyboard_at(core), expected.back()) << "and there it ends";
}

TEST_F(KeyboardTest, SpaceAndEnterPressAButton) {
  for (const Key key : {Key::space, Key::enter}) {
    CoreFixture core(options());
    const std::string text = prompt(core);
    ASSERT_TRUE(tab_to(core, "Start token"));
    press(core, key);
    if (key == Key::space) type(core, " ");  // the window system sends both
    EXPECT_TRUE(core.state().start_token);
    EXPECT_EQ(prompt(core), text);
    shown(core);
    EXPECT_EQ(keyboard_at(core), "Start token") << "where it was pressed, it can be pressed again";
    press(core, key);
    EXPECT_FALSE(core.state().start_token);
  }
}

TEST_F(KeyboardTest, F6WalksThePromptAndThePictures) {
  Core core(options());
  apply_and_show(core, ShowView{"query", true});
  std::vector<std::string> expected{"prompt"};
  for (const PlacedPicture& placed : core.window().pictures) expected.emplace_back(placed.view->title);
  ASSERT_EQ(expected.size(), 6U);
  for (const bool back : {false, true}) {
    for (std::size_t i = 0; i < 2 * expected.size(); ++i) {
      const std::size_t at = i % expected.size();
      EXPECT_EQ(keyboard_at(core), expected[back ? (expected.size() - at) % expected.size() : at]) << i;
      press_and_draw(core, Key::f6, {.shift = back});
    }
  }
}

TEST_F(KeyboardTest, ArrowsAreOfThePictureThatHasTheKeyboard) {
  CoreFixture core(options());
  ASSERT_TRUE(tab_to(core, "Heads"));
  press_and_draw(core, Key::down);
  press_and_draw(core, Key::right);
  EXPECT_EQ(core.state().selection.layer, 1);
  EXPECT_EQ(core.state().selection.head, 1);
  EXPECT_EQ(keyboard_at(core), "Heads") << "they move nothing else";
  ASSERT_TRUE(tab_to(core, "Heatmap"));
  press_and_draw(core, Key::f6);
  const int last = core.snapshot().run->run->length() - 1;
  click(core, cell(picture(core.window(), "tokens"), 3));
  core.draw(frame_);
  press_and_draw(core, Key::left);
  EXPECT_EQ(core.state().selection.query, 2) << "what was clicked has the keyboard";
  EXPECT_LT(core.state().selection.query, last);
  const std::size_t caret = core.state().prompt.edit.cursor;
  press_and_draw(core, Key::enter);
  EXPECT_EQ(keyboard_at(core), "prompt");
  press_and_draw(core, Key::left);
  EXPECT_EQ(core.state().selection.query, 2);
  EXPECT_EQ(core.state().prompt.edit.cursor, caret - 1) << "in the prompt they move the caret";
}

TEST_F(KeyboardTest, EscClosesOneThingAtATime) {
  CoreOptions o = options("Once upon a time");
  CoreFixture core(std::move(o));
  core.apply(ShowMessage{"an error", true});
  core.apply(Generate{true});
  core.apply(ShowDialog{Dialog::help});
  core.draw(frame_);
  press_and_draw(core, Key::escape);
  EXPECT_EQ(core.state().dialog, Dialog::none);
  EXPECT_TRUE(core.state().generation.running);
  press_and_draw(core, Key::f10);
  ASSERT_EQ(core.moment().menu, Menu::more);
  press_and_draw(core, Key::escape);
  EXPECT_EQ(core.moment().menu, Menu::none);
  EXPECT_TRUE(core.state().generation.running);
  press_and_draw(core, Key::escape);
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_EQ(core.state().message.text, "an error");
  shown(core);
  press_and_draw(core, Key::escape);
  EXPECT_EQ(core.state().message.text, "");
  press_and_draw(core, Key::f6);
  EXPECT_NE(keyboard_at(core), "prompt");
  press_and_draw(core, Key::escape);
  EXPECT_EQ(keyboard_at(core), "prompt");
}

TEST_F(KeyboardTest, EscFromAMenuLeavesTheKeyboardWhereItWas) {
  CoreOptions o = options("The old king");
  o.examples = {example("First", "The first prompt")};
  CoreFixture core(std::move(o));
  click_and_show(core, "Start token");  // where the toolkit has the keyboard from then on
  const bool start_token = core.state().start_token;
  std::string expected = prompt(core);
  for (const auto& [key, modifiers] : {std::pair{Key::l, Modifiers{.ctrl = true}},
                                       {Key::m, Modifiers{.ctrl = true}},
                                       {Key::f10, Modifiers{}}}) {
    press_and_draw(core, key, modifiers);
    ASSERT_NE(core.moment().menu, Menu::none);
    press_and_draw(core, Key::escape);
    EXPECT_EQ(keyboard_at(core), "prompt");
    press(core, Key::space);
    type(core, " ");
    expected += " ";
    EXPECT_EQ(prompt(core), expected);
    EXPECT_EQ(core.state().start_token, start_token);
  }
  ASSERT_TRUE(tab_to(core, "Examples"));
  press_and_draw(core, Key::space);
  press_and_draw(core, Key::escape);
  EXPECT_EQ(keyboard_at(core), "Examples") << "whose menu can be opened again";
}

TEST_F(KeyboardTest, EscKeepsTheModelThatIsOpen) {
  const UiState state;
  Snapshot loading;
  loading.busy = Busy::loading;
  Moment moment;
  FieldMetrics metrics;
  const Meaning meaning = meaning_of(KeyDown{Key::escape, {}}, state, loading, {}, moment, metrics);
  ASSERT_EQ(meaning.actions.size(), 1U);
  EXPECT_EQ(apply(state, meaning.actions.front(), loading).state.load_cancel, state.load_request);
}

TEST_F(KeyboardTest, ArrowsMoveInAMenuAndEnterChooses) {
  CoreOptions o = options();
  o.examples = {example("First", "The first prompt"), example("Second", "The second prompt"),
                example("Third", "The third prompt")};
  CoreFixture core(std::move(o));
  press_and_draw(core, Key::l, {.ctrl = true});
  ASSERT_EQ(core.moment().menu, Menu::examples);
  press_and_draw(core, Key::down);
  ASSERT_TRUE(tab_to(core, "First"));
  for (const char* expected : {"Second", "Third"}) {
    press_and_draw(core, Key::down);
    EXPECT_EQ(keyboard_at(core), expected);
  }
  press_and_draw(core, Key::up);
  EXPECT_EQ(keyboard_at(core), "Second");
  press_and_draw(core, Key::enter);
  EXPECT_EQ(prompt(core), "The second prompt");
  EXPECT_EQ(core.moment().menu, Menu::none);
  EXPECT_EQ(keyboard_at(core), "prompt");
  type(core, "!");
  EXPECT_EQ(prompt(core), "The second prompt!");
}

}  // namespace
}  // namespace headscope::app::keyboard_test
