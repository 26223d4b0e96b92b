// Using the window by keyboard. Typed text goes into the prompt wherever the focus is, and triggers nothing.
#include "app/ascii.h"
#include "app/text/prompt_editor.h"
#include "app/window/commands.h"
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
  for (const auto& [key, modifiers] : {std::pair{Key{'e'}, Modifiers{.ctrl = true}},
                                       {Key{'o'}, Modifiers{.ctrl = true}},
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
  EXPECT_EQ(core.state().selection, (Selection{1, 1}));
  EXPECT_EQ(keyboard_at(core), "Heads") << "they move nothing else";
  ASSERT_TRUE(tab_to(core, "Heatmap"));
  press_and_draw(core, Key::f6);
  click(core, cell(picture(core.window(), "tokens"), 3));
  core.draw(frame_);
  press_and_draw(core, Key::left);
  EXPECT_EQ(core.state().selection.query, 2) << "what was clicked has the keyboard";
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
  ASSERT_EQ(core.widgets().menu, Menu::more);
  press_and_draw(core, Key::escape);
  EXPECT_EQ(core.widgets().menu, Menu::none);
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

TEST_F(KeyboardTest, HelpIsInSightInTheMenuOfALowWindow) {
  CoreFixture core(options());
  shown(core, 1366, 768);
  press(core, Key::f10);
  shown(core, 1366, 768);
  const WindowItem* help = find_item(core, "Help");
  ASSERT_NE(help, nullptr);
  EXPECT_FALSE(help->hidden);
}

TEST_F(KeyboardTest, EscFromAMenuLeavesTheKeyboardWhereItWas) {
  CoreOptions o = options("The old king");
  o.examples = {example("First", "The first prompt")};
  CoreFixture core(std::move(o));
  click_and_show(core, "Start token");  // where the toolkit has the keyboard from then on
  const bool start_token = core.state().start_token;
  std::string expected = prompt(core);
  for (const auto& [key, modifiers] : {std::pair{Key{'l'}, Modifiers{.ctrl = true}},
                                       {Key{'m'}, Modifiers{.ctrl = true}},
                                       {Key::f10, Modifiers{}}}) {
    press_and_draw(core, key, modifiers);
    ASSERT_NE(core.widgets().menu, Menu::none);
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
  UiState state;
  state.load_request = 1;
  Snapshot loading;
  loading.busy = Busy::loading;
  WidgetState widgets;
  FieldMetrics metrics;
  const Meaning meaning = meaning_of(KeyDown{Key::escape, {}}, state, loading, {}, widgets, metrics);
  ASSERT_EQ(meaning.actions.size(), 1U);
  apply_to(state, meaning.actions.front(), loading);
  EXPECT_EQ(state.load_cancel, 1U);
}

TEST_F(KeyboardTest, ArrowsMoveInAMenuAndEnterChooses) {
  CoreOptions o = options();
  o.examples = {example("First", "The first prompt"), example("Second", "The second prompt"),
                example("Third", "The third prompt")};
  CoreFixture core(std::move(o));
  press_and_draw(core, Key{'l'}, {.ctrl = true});
  ASSERT_EQ(core.widgets().menu, Menu::examples);
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
  EXPECT_EQ(core.widgets().menu, Menu::none);
  EXPECT_EQ(keyboard_at(core), "prompt");
  type(core, "!");
  EXPECT_EQ(prompt(core), "The second prompt!");
}

class TypingTest : public HandsTest {
 protected:
  /// The state, except the prompt's text, that typing might affect.
  static auto rest(const Core& core) {
    const UiState& s = core.state();
    // Options that belong to one prompt are reset with every letter.
    Options options = s.options;
    for (const View& view : views())
      for (const OptionSpec* option : view.options)
        if (option->reset_on_prompt_change || option->of_prompt) options.set(*option, option->default_value);
    return std::tuple(s.view, s.second_view, s.selection, options, s.dark, s.start_token,
                      s.generation.running, s.font_size, s.dialog);
  }

  /// Presses a key like the window system: the key, then its text.
  static void strike(Core& core, char c) {
    press(core, Key{lower(c)}, {.shift = lower(c) != c});
    type(core, std::string(1, c));
  }

  static std::string all_letters() {
    std::string letters;
    for (char c = '!'; c <= '~'; ++c) letters += c;
    return letters + " a b";
  }

  static void expect_typed(Core& core) {
    core.draw(frame_);
    const auto before = rest(core);
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
    const WindowItem* item = find_item(core, view.title);
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

TEST_F(TypingTest, AMenuCloses) {
  CoreFixture core(options("The"));
  press_and_draw(core, Key::f10);
  for (const char c : std::string("abq1")) strike(core, c);
  EXPECT_EQ(prompt(core), "Theabq1");
  core.draw(frame_);
  EXPECT_EQ(core.widgets().menu, Menu::none);
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
  ASSERT_TRUE(tab_to(core, "Close"));
  for (const char c : std::string("xy7")) strike(core, c);  // nowhere
  EXPECT_EQ(core.state().dialog, Dialog::export_);
  EXPECT_EQ(prompt(core), "The");
}

class KeyTable : public HandsTest {};

TEST_F(KeyTable, NoKeyStandsForTwoCommands) {
  std::set<std::string> seen;
  for (const Command& command : commands()) {
    if (command.key == Key::none) {
      EXPECT_FALSE(command.label.empty()) << "neither a key nor a line of the menu";
      continue;
    }
    EXPECT_TRUE(seen.insert(keys_of(command)).second) << keys_of(command);
    EXPECT_FALSE(keys_of(command).ends_with("+")) << "a key without a name: " << command.help;
    const bool function = command.key >= Key::f1 && command.key <= Key::f10;
    EXPECT_TRUE(command.modifiers.ctrl || command.modifiers.alt || function)
        << keys_of(command) << " would act while somebody types";
  }
  EXPECT_THROW(command("No such command"), std::logic_error);
}

TEST_F(KeyTable, NoCommandTakesAKeyOfTheEditor) {
  TextState edit = make_text_state("one two\nthree four\nfive");
  edit = apply(std::move(edit), kSelectAll);  // so that all of it can be copied
  EditMetrics metrics;
  EditorLook look;
  look.rect = {0, 0, 300, 60};
  look.fonts = fonts_;
  for (const Command& command : commands()) {
    if (command.key == Key{'z'} || command.key == Key{'y'}) continue;  // undo and redo are the editor's, too
    const KeyMeaning meaning = key_meaning(edit, metrics, look, {command.key, command.modifiers});
    EXPECT_TRUE(std::holds_alternative<std::monostate>(meaning)) << keys_of(command);
  }
}

TEST_F(KeyTable, TheListNamesEveryKeyOnce) {
  std::vector<std::string> keys;
  std::set<std::pair<std::string, std::string>> lines;
  for (const KeyHelp& line : list_of_keys()) {
    EXPECT_NE(line.keys, "");
    EXPECT_NE(line.what, "");
    EXPECT_TRUE(lines.insert({line.keys, line.what}).second) << line.keys << " " << line.what;
    keys.push_back(line.keys);
  }
  for (const Command& command : commands())
    if (command.key != Key::none) {
      EXPECT_THAT(keys, Contains(keys_of(command)));
    }
}

TEST(LabelledKey, IsThatOfTheLayoutOrTheLetterOfAUsKeyboard) {
  EXPECT_EQ(labelled_key("z", 'Y'), Key{'z'}) << "a German layout";
  EXPECT_EQ(labelled_key("&", '1'), Key{'&'}) << "a French one";
  EXPECT_EQ(labelled_key("ы", 'S'), Key{'s'}) << "a Russian one";
  EXPECT_EQ(labelled_key("é", '2'), Key{'2'});
  EXPECT_EQ(labelled_key("ö", ';'), Key::none) << "no letter of the alphabet";
  EXPECT_EQ(labelled_key("", 'S'), Key{'s'});
  EXPECT_EQ(labelled_key("", 290), Key::none) << "F1";
}

}  // namespace
}  // namespace headscope::app::keyboard_test
