// Sessions and recipes in the window: saving, opening, dropping, restoring.
#include "app/window/sessions.h"

#include "app/run/sources/weights_hash.h"
#include "app/views/parts/menu_lines.h"
#include "app/window/exporting.h"
#include "model/files/file_io.h"
#include "tests/app/window/window_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/sentences.h"
#include "tests/support/source_folders.h"

namespace headscope::app::sessions_test {
namespace {

namespace fs = std::filesystem;

class Sessions : public HandsTest {
 protected:
  CoreOptions own(std::string prompt = "The old king had a dog") {
    CoreOptions o = options(std::move(prompt));
    o.start_folder = folder_.path();
    o.find_models = [] { return std::vector<DiscoveredModel>{{"tales (bundled)", bundled_folder()}}; };
    return o;
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Saves under this name by the keyboard.
  void save_as(Core& core, const std::string& name) {
    press_and_draw(core, Key{'s'}, {.ctrl = true, .shift = true});
    retype(core, file(name));
    press_and_draw(core, Key::enter);
    wait_until(core,
               [&] { return core.state().session == file(name) || !core.state().save_form.problem.empty(); });
  }
  /// Sets up a state with something of everything.
  static void arrange(Core& core) {
    shown(core);
    core.apply(ShowView{"query"});
    core.apply(ShowView{"lines", true});
    core.apply(SelectHead{1, 2});
    core.apply(SelectQuery{3});
    core.apply(SelectKey{1});
    core.apply(SetOption{find_option("score-stage"), 2.5});
    core.apply(SetOption{find_option("value-scale"),
                         stepped(*find_option("value-scale"), find_option("value-scale")->default_value, 1)});
    core.apply(ToggleEdit{head_off(0, 1)});
    core.apply(ToggleEdit{head_off(1, 3)});
    EditList list = core.state().edits;
    list.edits[1].on = false;
    apply_and_show(core, ListEdits{list}, CompareWith{true, Alignment::subsequence},
                   TypeInField{Field::second, Insert{"The old queen", false}}, change(&UiState::dark, true),
                   SetFontSize{17}, change(&UiState::panes, {300, 280, 0}));
  }
  static Session session(const Core& core) { return session_of(core.state(), core.snapshot()); }
};

TEST_F(Sessions, WhatIsSavedIsOpenedAgain) {
  Core first(own());
  arrange(first);
  save_as(first, "work.headscope");
  EXPECT_EQ(first.state().dialog, Dialog::none);
  EXPECT_THAT(first.state().message.text, HasSubstr("Saved"));
  const Session saved = session(first);
  EXPECT_EQ(saved.edits.size(), 2U);
  CoreFixture second(own("something else"));
  drop(second, file("work.headscope"));
  EXPECT_EQ(session(second), saved);
  EXPECT_EQ(second.state().session, file("work.headscope"));
  EXPECT_THAT(second.state().recent_sessions, ElementsAre(fs::path(file("work.headscope"))));
  EXPECT_THAT(second.state().message.text, IsEmpty());
}

TEST_F(Sessions, CtrlSWritesOverTheOneThatIsOpenAndAsksForNoOther) {
  folder_.write("there.headscope", "precious");
  CoreFixture core(own());
  save_as(core, "a.headscope");
  type(core, "!");
  press(core, Key{'s'}, {.ctrl = true});
  wait_until(core, [&] { return bytes_of_file(file("a.headscope")).find('!') != std::string::npos; });
  EXPECT_EQ(read_recipe(file("a.headscope")).session.prompt.text, "The old king had a dog!");
  EXPECT_EQ(core.state().dialog, Dialog::none);
  press_and_draw(core, Key{'s'}, {.ctrl = true, .shift = true});
  retype(core, file("there.headscope"));
  for (int i = 0; i < 3; ++i) press_and_draw(core, Key::enter);
  EXPECT_TRUE(says(core, "A file with this name exists. Replace it?"));
  EXPECT_EQ(bytes_of_file(file("there.headscope")), "precious");
  click_item(core, "Save session");
  wait_until(core, [&] { return core.state().session == file("there.headscope"); });
}

TEST_F(Sessions, AreWrittenAsTheyWereWithTheHashOfTheirWeights) {
  {
    Core core(own());
    shown(core);
    core.apply(SaveSession{file("a.headscope")});
  }  // closed at once
  EXPECT_EQ(read_recipe(file("a.headscope")).session.prompt.text, "The old king had a dog");
  Core core(own());
  shown(core);
  core.apply(SaveSession{file("b.headscope")});
  apply_and_show(core, TypeInField{Field::prompt, Replace{"typed after it was saved"}});
  const std::string hash = weights_hash(bundled_folder());
  wait_until(core, [&] {
    return fs::exists(file("b.headscope")) && read_recipe(file("b.headscope")).session.weights == hash;
  });
  EXPECT_EQ(read_recipe(file("b.headscope")).session.prompt.text, "The old king had a dog");
}

TEST_F(Sessions, SavedSoonAfterEachOtherAreWrittenInOrderAndAllSaid) {
  Core core(own());
  shown(core);
  for (int i = 0; i < 20; ++i) {
    core.apply(TypeInField{Field::prompt, Replace{std::to_string(i)}});
    core.apply(SaveSession{file("a.headscope"), true});
  }
  core.apply(SaveSession{file("b.headscope")});
  core.apply(ShowDialog{Dialog::save});  // a form that was not sent
  wait_until(core, [&] { return core.state().session == file("b.headscope"); });
  EXPECT_EQ(core.state().dialog, Dialog::save);
  EXPECT_EQ(read_recipe(file("a.headscope")).session.prompt.text, "19");
  EXPECT_THAT(core.state().recent_sessions,
              ElementsAre(fs::path(file("b.headscope")), fs::path(file("a.headscope"))));
}

TEST_F(Sessions, WhoseLastSaveFailsSayItWhenTheWindowCloses) {
  Core core(own());
  shown(core);
  core.apply(SaveSession{file("no/such/a.headscope")});
  EXPECT_EQ(core.state().save_form.state, Writing::writes);
  EXPECT_THAT(message_of<std::runtime_error>([&] { core.close(); }), HasSubstr("no/such"));
}

TEST_F(Sessions, ThatCannotBeWrittenSaysWhy) {
  CoreFixture core(own());
  save_as(core, "no/such/a.headscope");
  EXPECT_EQ(core.state().dialog, Dialog::save);
  EXPECT_THAT(core.state().save_form.problem, HasSubstr("no/such"));
}

TEST_F(Sessions, ThatAreHostileLeaveTheWindowAsItIs) {
  CoreFixture core(own());
  const Session before = session(core);
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"a.headscope", "{"},
           {"d.png", "\x89PNG\r\n\x1a\nxxxx"},
           {"e.svg", "<svg><metadata id=\"headscope\">&x;</metadata></svg>"}}) {
    drop(core, folder_.write(name, bytes));
    EXPECT_TRUE(core.state().message.is_error) << name;
    EXPECT_THAT(core.state().message.text, HasSubstr(name));
    EXPECT_EQ(session(core), before) << name;
    core.apply(ShowMessage{});
  }
}

TEST_F(Sessions, OfWhatIsNotHereSaySoAndShowTheRest) {
  CoreFixture core(own());
  Session unknown = session(core), changed = unknown, beyond = unknown;
  unknown.model = "../../" + bundled_folder().string();
  changed.weights = "sha256:" + std::string(64, '0');
  beyond.selection = {4000, 4000, 4000, 4000};
  beyond.edits = {"L99H1.z=0", "L0H1.z=0", "nonsense"};
  for (auto& [s, words] :
       {std::pair{&unknown, "not found"}, {&changed, "different weights"}, {&beyond, "Some edits"}}) {
    core.apply(ShowMessage{});
    s->prompt.text = words;
    drop(core, folder_.write("a.headscope", to_json(Recipe{*s, {}})));
    wait_until(core, [&] { return !core.state().message.text.empty(); });
    EXPECT_THAT(core.state().message.text, HasSubstr(words));
    EXPECT_EQ(prompt(core), words);
  }
  EXPECT_EQ(core.state().edits.edits.size(), 1U);
}

TEST_F(Sessions, NothingIsSaidOfTheirWeightsOnceAnotherModelIsOpened) {
  CoreFixture core(own());
  Session changed = session(core);
  changed.weights = "sha256:" + std::string(64, '0');
  core.apply(OpenSession{Recipe{changed, {}}, file("a.headscope"), bundled_folder()});
  core.apply(OpenModel{bundled_folder()});
  wait_until(core, [] { return running_tasks == 0; });
  shown(core);
  EXPECT_EQ(core.state().message.text, "");
}

TEST_F(Sessions, WhoseModelCannotBeLoadedShowTheRestAndAreSavedUnderANewName) {
  folder_.write("broken/config.json", bytes_of_file(bundled_folder() / "config.json"));
  CoreOptions o = own();
  o.settings.recent_models = {folder_.path() / "broken"};
  CoreFixture core(std::move(o));
  Session s = session(core);
  s.model = "broken";
  s.prompt.text = "another";
  s.edits = {"L0H1.z=0"};
  drop(core, folder_.write("a.headscope", to_json(Recipe{s, {}})));
  wait_until(core, [&] { return !core.state().message.text.empty(); });
  shown(core);
  EXPECT_THAT(core.state().message.text, HasSubstr("broken")) << "which says why";
  EXPECT_EQ(prompt(core), "another");
  EXPECT_EQ(core.state().edits.edits.size(), 1U) << "of the model that is open";
  EXPECT_EQ(core.state().model, bundled_folder());
  press_and_draw(core, Key{'s'}, {.ctrl = true});
  EXPECT_EQ(core.state().dialog, Dialog::save) << "it asks for a name";
  core.apply(ShowDialog{Dialog::none});
  // Once it can be loaded, the same session opens it.
  std::filesystem::remove_all(folder_.path() / "broken");
  std::filesystem::copy(bundled_folder(), folder_.path() / "broken");
  core.apply(OpenFile{file("a.headscope")});
  wait_until(core, [&] { return core.snapshot().model->folder == folder_.path() / "broken"; });
  EXPECT_EQ(core.snapshot().model->folder, folder_.path() / "broken");
}

TEST_F(Sessions, TheLastOneIsKeptAndOffered) {
  const fs::path state = folder_.path() / "state";
  {
    CoreOptions o = own();
    o.state_folder = state;
    Core core(std::move(o));
    arrange(core);
    EXPECT_TRUE(core.state().kept_sessions.empty());
  }
  CoreOptions o = own("else");
  o.state_folder = state;
  CoreFixture core(std::move(o));
  press_and_draw(core, Key{'o'}, {.ctrl = true});
  tab_and_press(core, "Last session", Key::enter);
  wait_until(core, [&] { return prompt(core) != "else"; });
  EXPECT_EQ(prompt(core), "The old king had a dog");
  EXPECT_EQ(core.state().edits.edits.size(), 2U);
  EXPECT_TRUE(core.state().session.empty()) << "Ctrl+S asks for a name";
}

TEST_F(Sessions, AChangeIsKeptWithinThreeSecondsThoughNothingFollows) {
  CoreOptions o = own();
  o.state_folder = folder_.path() / "state";
  CoreFixture usual(o);
  type(usual, "!");
  EXPECT_LE(usual.seconds_until_update().value_or(9), 3) << "an idle window wakes up for it";
  o.state_folder = folder_.path() / "other";
  o.keep_time = std::chrono::milliseconds(0);
  CoreFixture core(o);
  type(core, "!");
  fs::path kept;
  const std::string hash = weights_hash(bundled_folder());
  wait_until(core, [&] {
    const auto sessions = kept_sessions(o.state_folder);
    if (sessions.empty()) return false;
    kept = sessions.front().file;
    const Session session = read_recipe(kept).session;
    return session.prompt.text == "The old king had a dog!" && session.weights == hash;
  });
  core.settle();
  folder_.write("other/" + kept.filename().string(), "else");
  core.apply(scroll_field(Field::prompt, 0));
  core.settle();
  EXPECT_EQ(bytes_of_file(kept), "else") << "nothing has changed that is kept";
  fs::remove(kept);
  core.close();
  EXPECT_EQ(read_recipe(kept).session.prompt.text, "The old king had a dog!") << "it was deleted meanwhile";
}

TEST_F(Sessions, AreKeptBeforeTheirWeightsAreHashed) {
  CoreOptions o = own();
  o.state_folder = folder_.path() / "state";
  o.keep_time = std::chrono::hours(1);
  Core core(o);
  shown(core);
  core.close();
  const Session kept = read_recipe(kept_sessions(o.state_folder).at(0).file).session;
  EXPECT_EQ(kept.prompt.text, "The old king had a dog");
  EXPECT_EQ(kept.weights, "");
}

TEST_F(Sessions, WhyTheyCannotBeKeptIsSaidOnceAndTheyAreTriedAgain) {
  CoreOptions o = own();
  const fs::path file = folder_.write("a file", "");
  o.state_folder = file / "state";
  o.settings_file = file / "settings.json";
  o.keep_time = std::chrono::milliseconds(0);
  CoreFixture core(std::move(o));
  const std::string& said = core.state().message.text;
  wait_until(core, [&] { return !said.empty(); });
  EXPECT_THAT(said, AllOf(HasSubstr("a file"), HasSubstr("the session is"), HasSubstr("the settings are")));
  const std::string before = said;
  core.apply(ShowMessage{});
  EXPECT_THROW(core.close(), std::runtime_error);
  core.take_results();
  EXPECT_EQ(said, "");
  core.apply(ShowMessage{before, true});
  fs::remove(file);
  wait_until(core, [&] { return said.empty(); });
  EXPECT_EQ(kept_sessions(file / "state").size(), 1U);
}

TEST_F(Sessions, OfSeveralWindowsAreKeptApartAndTheLastIsOfferedFirst) {
  CoreOptions o = own();
  o.state_folder = folder_.path() / "state";
  const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (int i = 0; i < 40; ++i)
    fs::last_write_time(folder_.write("state/" + std::to_string(i) + ".headscope", "{}"),
                        time + std::chrono::seconds(i) - std::chrono::days(i < 20 ? 30 : 0));
  { Core one(o), other(o); }
  const std::vector<KeptSession> kept = kept_sessions(o.state_folder);
  ASSERT_EQ(kept.size(), 15U);
  EXPECT_EQ(model::entries_of(o.state_folder).size(), 22U) << "only old ones make room";
  EXPECT_EQ(kept[2].file.filename(), "39.headscope");
  EXPECT_TRUE(std::ranges::is_sorted(kept, std::greater()));
}

TEST_F(Sessions, OfOtherWindowsStayAmongTheRecentOnes) {
  CoreOptions o = own();
  o.settings_file = folder_.path() / "settings.json";
  CoreFixture first(o), second(o);
  first.apply(WriteEnded{.file = file("a.headscope"), .session = true});
  second.apply(WriteEnded{.file = file("b.headscope"), .session = true});
  first.close();
  second.close();
  EXPECT_THAT(load_settings(o.settings_file).recent_sessions,
              ElementsAre(fs::path(file("b.headscope")), fs::path(file("a.headscope"))));
}

class Figures : public Sessions {
 protected:
  /// Exports the shown view with the dialog's settings; the problem, if there is one.
  std::string export_to(Core& core, const std::string& name) {
    core.apply(ShowDialog{Dialog::export_});
    core.apply(TypeInField{Field::export_path, Replace{file(name)}});
    core.apply(DoExport{true});
    wait_until(core, [&] {
      return core.state().dialog == Dialog::none || !core.state().export_form.problem.empty();
    });
    return core.state().export_form.problem;
  }
};

TEST_F(Figures, CarryWhatTheyShowAndShowItWhenTheyAreDropped) {
  Core first(own());
  arrange(first);
  EXPECT_EQ(export_to(first, "a.png"), "");
  const Recipe recipe = read_recipe(file("a.png"));
  EXPECT_EQ(recipe.session.view, "query");
  EXPECT_EQ(recipe.session.edits.size(), 1U) << "what is off is not in the picture";
  EXPECT_THAT(recipe.session.weights, HasSubstr("sha256:"));
  CoreFixture second(own("else"));
  drop(second, file("a.png"));
  EXPECT_EQ(prompt(second), "The old king had a dog");
  EXPECT_EQ(second.state().view, "query");
  EXPECT_EQ(second.state().selection, (Selection{1, 2, 3, 1}));
  EXPECT_EQ(second.state().edits.edits.size(), 1U);
  EXPECT_FALSE(second.state().dark) << "the window keeps its look";
  EXPECT_TRUE(second.state().session.empty());
  Core third(own());
  arrange(third);
  EXPECT_EQ(export_to(third, "b.png"), "");
  EXPECT_EQ(bytes_of_file(file("b.png")), bytes_of_file(file("a.png")));
}

TEST_F(Figures, AreRefusedWhenTheWeightsHaveChanged) {
  const TemporaryFolder model;
  testing::write_other_model(model);
  CoreOptions o = own();
  o.window.model = model.path();
  Core core(std::move(o));
  shown(core);
  const fs::path weights = model.path() / "model.safetensors";
  fs::last_write_time(weights, fs::last_write_time(weights) + std::chrono::seconds(1));
  EXPECT_THAT(export_to(core, "a.png"), HasSubstr("have changed since they were loaded"));
  EXPECT_FALSE(fs::exists(file("a.png")));
}

TEST_F(Figures, AreNeverWrittenOverTheSessionThatWasOpen) {
  Core core(own());
  arrange(core);
  EXPECT_EQ(export_to(core, "a.png"), "");
  save_as(core, "mine.headscope");
  const std::string mine = bytes_of_file(file("mine.headscope"));
  core.apply(TypeInField{Field::prompt, Replace{"else"}});
  drop(core, file("a.png"));
  EXPECT_EQ(prompt(core), "The old king had a dog");
  press_and_draw(core, Key{'s'}, {.ctrl = true});
  EXPECT_EQ(core.state().dialog, Dialog::save) << "it asks for a name";
  EXPECT_EQ(bytes_of_file(file("mine.headscope")), mine);
}

TEST_F(Sessions, ThatAreStillBeingOpenedAreNotSaved) {
  Core first(own());
  arrange(first);
  save_as(first, "a.headscope");
  first.settle();  // the hash of its weights is added
  const std::string whole = bytes_of_file(file("a.headscope"));
  Core core(own("else"));  // its model is not loaded yet
  core.apply(OpenSession{
      .recipe = read_recipe(file("a.headscope")), .file = file("a.headscope"), .model = bundled_folder()});
  core.apply(SaveSession{file("a.headscope"), true});
  EXPECT_THAT(core.state().message.text + core.state().save_form.problem, HasSubstr("still opening"));
  EXPECT_EQ(bytes_of_file(file("a.headscope")), whole);
}

TEST_F(Sessions, ThatAWindowIsStartedWithAreNothingToUndo) {
  CoreFixture first(own());
  save_as(first, "a.headscope");
  CoreOptions o = own("else");
  o.window.recipe = read_recipe(file("a.headscope"));
  o.window.recipe_file = file("a.headscope");
  CoreFixture core(std::move(o));
  EXPECT_EQ(prompt(core), "The old king had a dog");
  EXPECT_FALSE(can_undo(core.state(), Field::prompt, false));
}

TEST_F(Sessions, WithoutASecondPromptBringNone) {
  CoreFixture first(own());
  save_as(first, "a.headscope");
  CoreFixture core(own("else"));
  apply_and_show(core, CompareWith{true},
                 TypeInField{Field::second, Insert{"what nobody else should read", false}});
  drop(core, file("a.headscope"));
  save_as(core, "b.headscope");
  EXPECT_EQ(bytes_of_file(file("b.headscope")).find("nobody"), std::string::npos);
}

}  // namespace
}  // namespace headscope::app::sessions_test
