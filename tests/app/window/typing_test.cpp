// Typed text goes into the prompt wherever the focus is, and never triggers an action.
#include "tests/app/window/window_fixture.h"

namespace headscope::app::typing_test {
namespace {

class TypingTest : public HandsTest {
 protected:
  /// The state, except the prompt's text, that typing might affect.
  struct Rest {
    std::string view, second_view;
    Selection selection;
    Options options;
    bool dark, start_token, generates;
    float font_size;
    Dialog dialog;
    bool operator==(const Rest&) const = default;
  };
  static Rest rest(const Core& core) {
    const UiState& s = core.state();
    // Options that belong to one prompt are reset with every letter.
    Options options = s.options;
    for (const View& view : views())
      for (const OptionSpec* option : view.options)
        if (option->reset_on_prompt_change || option->of_prompt) options.set(*option, option->default_value);
    return {s.view,        s.second_view,        s.selection, options, s.dark,
            s.start_token, s.generation.running, s.font_size, s.dialog};
  }

  /// Presses a key like the window system: the key, then its text.
  static void strike(Core& core, char c) {
    Key key = Key::none;
    if (c >= 'a' && c <= 'z') key = static_cast<Key>(static_cast<int>(Key::a) + c - 'a');
    if (c >= 'A' && c <= 'Z') key = static_cast<Key>(static_cast<int>(Key::a) + c - 'A');
    if (c == ' ') key = Key::space;
    if (c == '-') key = Key::minus;
    if (c == '=') key = Key::equal;
    if (c == '0') key = Key::zero;
    const bool capital = c >= 'A' && c <= 'Z';
    press(core, key, {.shift = capital}, capital ? static_cast<char>(c - 'A' + 'a') : c);
    type(core, std::string(1, c));
  }

  static std::string all_letters() {
    std::string letters;
    for (char c = '!'; c <= '~'; ++c) letters += c;
    return letters + " a b";
  }

  static void expect_typed(Core& core) {
    core.draw(frame_);
    const Rest before = rest(core);
    const std::string text = prompt(core);
    for (const char c : all_letters()) strike(core, c);
    EXPECT_EQ(prompt(core), text + all_letters());
    EXPECT_EQ(rest(core), before);
    apply_and_show(core, Undo{}, TypeInField{Field::prompt, Replace{text}});
  }
};

TEST_F(TypingTest, AfterAClickOnEveryPicture) {
  Core core(options("The old king"));
  core.apply(SetOption{find_option("search-above"), 0.0});  // finds something wherever was clicked
  shown(core);
  for (const View& view : views()) {
    if (view.place == Place::tab) core.apply(ShowView{std::string(view.id)});
    core.apply(SelectQuery{-1}), core.apply(SelectKey{-1});  // other selections may find nothing
    shown(core);
    const PlacedPicture& placed = picture(core.window(), view.id);
    ASSERT_FALSE(placed.picture->regions.empty()) << view.id;
    const int id = placed.picture->regions.front().id;
    SCOPED_TRACE(view.id);
    click(core, cell(placed, id));
    expect_typed(core);
    // The click may have led to another view.
    if (view.place == Place::tab) core.apply(ShowView{std::string(view.id)});
    shown(core);
    const WindowItem* item = find_item(core, view.title, view.place == Place::tab ? 1 : 0);
    ASSERT_NE(item, nullptr);
    click(core, {item->rect.x + 1, item->rect.y + 1});  // outside of everything that it shows
    expect_typed(core);
  }
}

TEST_F(TypingTest, AfterAClickOnEveryControlOfTheWindow) {
  CoreFixture core(options("The old king"));
  const auto all = labels(core, 0);
  for (const std::string& label : all) {
    // Items that open something or edit have their own tests.
    if (label == "Examples" || label == "Model" || label == "More" || label == "Export" ||
        label == "prompt" || label == "Generate" || label == "Heatmap" || label == "Heads" ||
        label == "Tokens" || label == "Next token" || label == "Views")
      continue;
    SCOPED_TRACE(label);
    shown(core);
    if (find_item(core, label) == nullptr) continue;  // the pane was replaced
    click_item(core, label);
    expect_typed(core);
  }
}

TEST_F(TypingTest, NothingReachesThePromptThroughADialog) {
  CoreFixture core(options("The"));
  for (const Dialog dialog : {Dialog::help, Dialog::export_, Dialog::open}) {
    apply_and_show(core, ShowDialog{dialog});
    for (const char c : std::string("ab 1")) strike(core, c);
    ASSERT_TRUE(tab_to(core, "Close"));
    for (const char c : std::string("xy7")) strike(core, c);
    EXPECT_EQ(core.state().dialog, dialog);
    EXPECT_EQ(prompt(core), "The");
    press_and_show(core, Key::escape);
  }
}

TEST_F(TypingTest, AMenuCloses) {
  CoreFixture core(options("The"));
  press_and_draw(core, Key::f10);
  for (const char c : std::string("abq1")) strike(core, c);
  EXPECT_EQ(prompt(core), "Theabq1");
  core.draw(frame_);
  EXPECT_EQ(core.moment().menu, Menu::none);
  EXPECT_FALSE(core.state().quit);
}

TEST_F(TypingTest, InADialogItGoesIntoTheFieldWithTheCaret) {
  CoreFixture core(options("The"));
  apply_and_show(core, ShowDialog{Dialog::export_});
  const std::string path = core.state().export_form.path.edit.text;
  strike(core, 'x');
  EXPECT_EQ(core.state().export_form.path.edit.text, path + "x") << "the file at first";
  ASSERT_TRUE(tab_to(core, "size of the picture"));
  for (const char c : std::string("90x80")) strike(core, c);
  EXPECT_EQ(core.state().export_form.size.edit.text, "90x80");
  click_item(core, "file");
  press(core, Key::end);
  strike(core, 'y');
  EXPECT_EQ(core.state().export_form.path.edit.text, path + "xy");
  EXPECT_EQ(prompt(core), "The");
}

}  // namespace
}  // namespace headscope::app::typing_test
