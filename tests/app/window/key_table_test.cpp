// The table of keys: each does what the list of keys says, and no key has two meanings at once.

#include "app/text/prompt_editor.h"
#include "app/window/commands.h"
#include "app/window/input.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::key_table_test {
namespace {

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
}

TEST_F(KeyTable, NoCommandTakesAKeyOfTheEditor) {
  TextState edit = make_text_state("one two\nthree four\nfive");
  edit = apply(std::move(edit), SelectAll{});  // so that all of it can be copied
  EditMetrics metrics;
  EditorLook look;
  look.rect = {0, 0, 300, 60};
  look.fonts = fonts_;
  for (const Command& command : commands()) {
    if (command.key == Key::z || command.key == Key::y) continue;  // undo and redo are the editor's, too
    const KeyMeaning meaning = key_meaning(edit, metrics, look, {command.key, command.modifiers});
    EXPECT_TRUE(std::holds_alternative<std::monostate>(meaning)) << keys_of(command);
  }
}

TEST_F(KeyTable, EachKeyOfAViewDoesWhatItsRowSays) {
  for (const View& tab : all_tabs()) {
    if (tab.commands.empty() && &tab != tabs().front()) continue;  // the panes beside it are the first's
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
