// The table of keys: each does what the list of keys says, and no key has two meanings at once.

#include <tuple>

#include "app/run/sources/paths.h"
#include "app/text/prompt_editor.h"
#include "app/views/parts/edit_menu.h"
#include "app/window/commands.h"
#include "app/window/input.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::key_table_test {
namespace {

class KeyTable : public HandsTest {
 protected:
  /// A short description of a key's effect on the state; empty: none.
  static std::string done(Core& core, const Command& command) {
    const UiState before = core.state();
    const Menu menu = core.moment().menu;
    const std::string copied = clipboard();
    press_and_draw(core, command.key, command.modifiers);
    const UiState& s = core.state();
    std::string words;
    if (s.dialog != before.dialog) words += "dialog ";
    if (core.moment().menu != menu) words += "menu ";
    if (s.dark != before.dark) words += "dark ";
    if (s.font_size != before.font_size) words += "text ";
    if (s.start_token != before.start_token) words += "start token ";
    if (s.generation.running != before.generation.running) words += "generate ";
    if (s.selection.layer != before.selection.layer) words += "layer ";
    if (s.selection.head != before.selection.head) words += "head ";
    if (s.selection.query != before.selection.query) words += "query ";
    if (s.view != before.view) words += "view ";
    if (s.second_view != before.second_view) words += "beside ";
    if (s.panes != before.panes) words += "panes ";
    if (s.edits.open != before.edits.open) words += "strip ";
    if (s.edits.list != before.edits.list) words += "changes ";
    if (s.second.on != before.second.on) words += "second ";
    if (s.side != before.side) words += "side ";
    const auto place = [](const TourPlace& tour) { return std::tuple(tour.open, tour.tour, tour.stop); };
    if (place(s.tour) != place(before.tour)) return "stop ";  // a stop sets everything else
    if (s.quit != before.quit) words += "quit ";
    if (s.prompt.edit.text != before.prompt.edit.text) words += "prompt ";
    if (clipboard() != copied) words += "clipboard ";
    // Both move the caret to the end of the prompt.
    if (words.starts_with("generate ")) return "generate ";
    if (words.starts_with("start token ")) return "start token ";
    return words;
  }
  static std::string clipboard() { return *copied_; }

  CoreOptions with_clipboard() {
    CoreOptions o = options("The old king had");
    copied_ = &clipboard_;
    o.tours = load_tours({assets_folder() / "tours"}).tours;
    return o;
  }
  static inline const std::string* copied_ = nullptr;
};

TEST_F(KeyTable, EachCommandDoesSomethingOfItsOwn) {
  std::map<std::string, std::vector<std::string>> by_effect;
  for (const Command& command : commands()) {
    if (command.key == Key::none) continue;  // only in the menu
    SCOPED_TRACE(keys_of(command) + ": " + std::string(command.help));
    CoreFixture core(with_clipboard());
    type(core, "!");
    core.apply(TypeInField{Field::prompt, Undo{}});  // so that both undo and redo are possible; redone below
    if (command.key == Key::z) core.apply(TypeInField{Field::prompt, Redo{}});
    core.apply(SelectHead{1, 1});
    core.apply(SelectQuery{1});
    core.apply(SetFontSize{20});
    core.apply(SetPanes{{300, 300, 0}});
    if (command.key == Key::page_up || command.key == Key::page_down) {
      core.apply(OpenTour{0});
      core.apply(GoToStop{1});
    }
    if (command.label == "Forward") core.apply(Revisit{});
    if (command.key == Key::i || command.key == Key::u || command.key == Key::p)
      core.apply(ToggleEdit{head_off(0, 1)});
    if (command.label == "Redo edit") core.apply(UndoEdits{});
    shown(core);
    if (command.opens == Menu::picture) press_and_draw(core, Key::f6);
    by_effect[done(core, command)].push_back(keys_of(command));
  }
  const std::map<std::string, std::size_t> keys_for{
      {"stop ", 2},   {"layer ", 2},   {"head ", 2},      {"query ", 4},    {"view ", 2},
      {"prompt ", 2}, {"text ", 3},    {"dialog ", 6},    {"menu ", 5},     {"dark ", 1},
      {"beside ", 1}, {"quit ", 1},    {"clipboard ", 1}, {"generate ", 1}, {"start token ", 1},
      {"strip ", 1},  {"changes ", 3}, {"second ", 1},    {"side ", 1}};
  std::map<std::string, std::size_t> found;
  for (const auto& [effect, keys] : by_effect) found[effect] = keys.size();
  EXPECT_EQ(found, keys_for);
}

TEST_F(KeyTable, ToggledTwiceIsAsBefore) {
  for (const Command& command : commands()) {
    if (command.help.find("toggle") == std::string_view::npos &&
        command.help.find("show or hide a second view") == std::string_view::npos &&
        command.help.find("this list") == std::string_view::npos)
      continue;
    CoreFixture core(with_clipboard());
    const std::string once = done(core, command);
    shown(core);
    EXPECT_NE(once, "") << command.help;
    EXPECT_EQ(done(core, command), once) << command.help;
  }
}

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
}

TEST_F(KeyTable, NoCommandTakesAKeyOfTheEditor) {
  TextState edit = make_text_state("one two\nthree four\nfive");
  edit = apply(std::move(edit), SelectAll{});  // so that all of it can be copied
  EditMetrics metrics;
  const UiState state;
  EditorLook look;
  look.rect = {0, 0, 300, 60};
  look.fonts = fonts_;
  for (const Command& command : commands()) {
    const auto action = command.act != nullptr ? command.act(state) : std::nullopt;
    if (action && action->get_if<TypeInField>())
      continue;  // Undo and Redo belong to the editor wherever the focus is
    const KeyMeaning meaning = key_meaning(edit, metrics, look, {command.key, command.modifiers});
    EXPECT_TRUE(std::holds_alternative<std::monostate>(meaning)) << keys_of(command);
  }
}

TEST_F(KeyTable, EachKeyOfAViewDoesWhatItsRowSays) {
  for (const View& tab : all_tabs()) {
    Core core(options("The wolf came to the door of the little house and the wolf came to the door."));
    apply_and_show(core, ShowView{std::string(tab.id)}, SelectQuery{6});
    std::set<std::string_view> ids;
    for (const PlacedPicture& placed : core.window().pictures) ids.insert(placed.view->id);
    for (const View& view : views()) {
      if (!ids.contains(view.id)) continue;
      for (const KeyCommand& command : view.commands) {
        for (std::size_t which = 0; which < command.keys.size(); ++which) {
          const char key = command.keys[which];
          SCOPED_TRACE(std::string(tab.id) + " " + std::string(view.id) + " " + key_name(key));
          const PlacedPicture& placed = picture(core.window(), view.id);
          ViewContext now = placed.context;
          now.options = core.state().options;
          const ViewActions actions = command.act(now, static_cast<int>(which));
          UiState expected = core.state();
          expected = apply(std::move(expected), DoAll{actions}, core.snapshot()).state;
          const bool capital = key >= 'A' && key <= 'Z';
          press(core, Key::none, {.shift = capital, .alt = true},
                capital ? static_cast<char>(key - 'A' + 'a') : key);
          EXPECT_EQ(core.state().options, expected.options);
          EXPECT_EQ(core.state().selection, expected.selection);
          EXPECT_EQ(prompt(core), expected.prompt.edit.text);
          shown(core);
        }
      }
    }
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
  for (const View& view : views()) {
    for (const KeyCommand& command : view.commands) {
      if (command.keys.empty()) continue;
      EXPECT_TRUE(std::ranges::any_of(lines, [&](const auto& line) {
        return line.first.starts_with(key_name(command.keys.front())) && line.second.ends_with(command.help);
      })) << command.help;
    }
  }
  for (const OptionSpec* option : all_options()) {
    if (option->keys.empty()) continue;
    EXPECT_TRUE(std::ranges::any_of(lines, [&](const auto& line) {
      return line.first.find(key_name(option->keys.front())) != std::string::npos &&
             line.second == option->help;
    })) << option->name;
  }
}

TEST_F(KeyTable, F1ShowsTheList) {
  Core core(options());
  press(core, Key::f1);
  std::set<std::string> seen;
  for (int page = 0; page < 20; ++page) {
    shown(core, 1600, 1000);
    for (const KeyHelp& line : list_of_keys())
      if (says(core, line.keys)) seen.insert(line.keys);
    press(core, Key::page_down);
  }
  for (const KeyHelp& line : list_of_keys()) EXPECT_TRUE(seen.contains(line.keys)) << line.keys;
}

TEST(KeySymbol, IsWhatTheLayoutWritesOrTheLetterOfAUsKeyboard) {
  EXPECT_EQ(key_symbol("z", 'Y'), 'z') << "a German layout";
  EXPECT_EQ(key_symbol("&", '1'), '&') << "a French one";
  EXPECT_EQ(key_symbol("ы", 'S'), 's') << "a Russian one";
  EXPECT_EQ(key_symbol("σ", 'S'), 's') << "a Greek one";
  EXPECT_EQ(key_symbol("é", '2'), '2');
  EXPECT_EQ(key_symbol("ö", ';'), '\0') << "no letter of the alphabet";
  EXPECT_EQ(key_symbol("", 'S'), '\0');
  EXPECT_EQ(key_symbol("", 290), '\0') << "F1";
}

}  // namespace
}  // namespace headscope::app::key_table_test
