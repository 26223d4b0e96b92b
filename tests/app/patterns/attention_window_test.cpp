// A file of attention patterns in the window.

#include "app/run/sources/paths.h"
#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "app/tour/tour.h"
#include "app/views/parts/edit_menu.h"
#include "app/window/sessions.h"
#include "tests/app/window/window_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/pattern_files.h"

namespace headscope::app {
namespace {

using namespace headscope::testing;

class AttentionWindow : public HandsTest {
 protected:
  std::filesystem::path file(const PatternShape& shape, const std::string& name = "bert.safetensors") {
    return folder_.write(name, safetensors_bytes(pattern_tensors(shape, even_rows(shape.keys)), ""));
  }
  /// Saves what is shown as a session, in a folder of its own.
  static std::filesystem::path saved(Core& core, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    core.apply(SaveSession{folder / "a.headscope"});
    shown(core);
    wait_until(core, [&] { return !core.state().session.empty(); });
    EXPECT_TRUE(std::filesystem::exists(folder / "a.headscope")) << core.state().message.text;
    return folder / "a.headscope";
  }
};

TEST_F(AttentionWindow, OpensAFileThatIsGivenAndSaysWhatItIs) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 5, 12});
  Core core(std::move(own));
  const WindowPicture& window = shown(core);
  EXPECT_TRUE(says(core,
                   "Attention of bert.safetensors, not of this prompt: 2 layers of 3 heads, 5 queries, 12 "
                   "keys, no mask."));
  const PlacedPicture& map = picture(window, "heatmap");
  ASSERT_FALSE(map.picture->regions.empty());
  EXPECT_EQ(map.picture->regions[0].row_count, 5);
  EXPECT_EQ(map.picture->regions[0].col_count, 12);
  EXPECT_TRUE(says(core, "this needs the weights of a model")) << "of the next token";
  EXPECT_EQ(core.state().message.text, "");
}

TEST_F(AttentionWindow, OpensAFileThatIsDroppedAndAModelAgainAfterIt) {
  Core core(options());
  shown(core);
  core.handle(FilesDropped{{file({3, 2, 9, 9})}});
  shown(core);
  ASSERT_TRUE(core.snapshot().run->model->patterns);
  EXPECT_EQ(core.snapshot().run->run->length(), 9);
  core.apply(SelectHead{2, 1});
  core.apply(SelectQuery{3});
  core.apply(SelectKey{8});
  shown(core);
  EXPECT_TRUE(says(core, "L2 H1"));
  EXPECT_EQ(clamped(core.state().selection, *core.snapshot().run).key, 8) << "later keys are seen";
  core.handle(FilesDropped{{bundled_folder() / "model.safetensors"}});
  shown(core);
  EXPECT_FALSE(core.snapshot().run->model->patterns) << "the file of a model opens its model";
  EXPECT_FALSE(says(core, "this needs the weights"));
}

TEST_F(AttentionWindow, EveryTabShowsItOrSaysWhatItNeeds) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7});
  Core core(std::move(own));
  shown(core);
  for (const View* view : tabs()) {
    core.apply(ShowView{std::string(view->id)});
    const WindowPicture& window = shown(core);
    const PlacedPicture& placed = picture(window, view->id);
    EXPECT_FALSE(placed.picture->scene.items.empty()) << view->id;
    EXPECT_EQ(placed.context.run != nullptr, view->can_be_made_of(Capability::patterns)) << view->id;
    // Nothing that a hand does to it harms.
    const viz::Point middle = placed.where.center();
    click(core, middle);
    click(core, middle, 1, 1);
    press_and_draw(core, Key::escape);
    for (const Key key : {Key::down, Key::right, Key::page_down, Key::home}) press_and_draw(core, key);
    for (const KeyCommand& command : view->commands)
      for (const char key : command.keys) press_and_draw(core, Key::none, {.alt = true}, key);
  }
  EXPECT_TRUE(core.state().edits.list.edits.empty()) << "nothing was changed";
}

TEST_F(AttentionWindow, WhatNeedsWeightsIsSaid) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7});
  Core core(std::move(own));
  shown(core);
  core.apply(ToggleEdit{head_off(0, 1)});
  EXPECT_THAT(core.state().edits.problem, HasSubstr("needs the weights"));
  EXPECT_TRUE(core.state().edits.list.edits.empty());
  core.apply(Generate{true});
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_THAT(core.state().message.text, HasSubstr("needs the weights"));
  core.apply(CopyNumbers{"scores"});
  shown(core);
  EXPECT_THAT(core.state().message.text, HasSubstr("needs the weights"));
  EXPECT_EQ(clipboard_, "");
  core.apply(CopyNumbers{"heatmap"});
  shown(core);
  EXPECT_THAT(clipboard_, HasSubstr("query\ttoken\t0 0"));
}

TEST_F(AttentionWindow, ToursAndSessionsOfModelsBreakNothing) {
  const std::filesystem::path session = folder_.path() / "a.headscope";
  {
    Core core(options());
    shown(core);
    core.apply(ToggleEdit{head_off(0, 1)});
    core.apply(SaveSession{session});
    shown(core);
    ASSERT_TRUE(std::filesystem::exists(session));
  }
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7});
  own.tours = load_tours({assets_folder() / "tours"}).tours;
  Core core(std::move(own));
  shown(core);
  ASSERT_FALSE(core.state().tours.empty());
  for (int tour = 0; tour < static_cast<int>(core.state().tours.size()); ++tour) {
    core.apply(OpenTour{tour});
    for (int stop = 0; stop < static_cast<int>(core.state().tours[tour].stops.size()); ++stop) {
      core.apply(GoToStop{stop});
      shown(core);
    }
    core.apply(CloseTour{});
  }
  core.apply(OpenFile{session});
  wait_until(core, [&] {
    return core.state().second.text.edit.text.empty() && !core.state().prompt.edit.text.empty();
  });
  shown(core);
  EXPECT_TRUE(core.snapshot().run);
  core.apply(SaveSession{});
  shown(core);
}

TEST_F(AttentionWindow, OpensOnAViewThatItCanShow) {
  CoreOptions own = options();
  own.settings.session.view = "mlp";
  own.settings.session.beside = "lens";
  Core core(std::move(own));
  shown(core);
  ASSERT_EQ(core.state().view, "mlp");
  core.apply(OpenModel{file({2, 3, 7, 7})});
  shown(core);
  EXPECT_TRUE(find_view(core.state().view)->can_be_made_of(Capability::patterns)) << core.state().view;
  EXPECT_EQ(core.state().beside, "");
  core.apply(ShowView{"mlp"});
  EXPECT_EQ(core.state().view, "mlp") << "which says what it needs";
}

TEST_F(AttentionWindow, WhatIsComparedWithIsNotLeftToTheNextModel) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7}, "a.safetensors");
  own.window.second = file({2, 3, 6, 6}, "b.safetensors").string();
  own.window.second_is_file = true;
  Core core(std::move(own));
  core.apply(SetSide{Side::baseline});
  shown(core);
  EXPECT_TRUE(says(core, "6 tokens")) << "of the one that is shown";
  core.apply(SetSide{Side::difference});
  core.apply(OpenModel{bundled_folder()});
  shown(core);
  EXPECT_EQ(core.state().side, Side::run);
}

TEST_F(AttentionWindow, WhatWasRefusedIsSaidUntilSomethingElseIsLookedAt) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7});
  Core core(std::move(own));
  shown(core);
  core.apply(ToggleEdit{head_off(0, 1)});
  core.apply(ScrollField{Field::prompt, 0});
  EXPECT_NE(core.state().edits.problem, "");
  core.apply(SelectHead{1, 1});
  EXPECT_EQ(core.state().edits.problem, "");
}

TEST_F(AttentionWindow, HasNoBrushForAMaskThatIsNotThere) {
  Core core(options());
  shown(core);
  core.apply(ShowView{"heatmap"});
  shown(core);
  EXPECT_THAT(labels(core, 0), ::testing::IsSupersetOf({"Mouse Hide", "Mouse Show"}));
  core.handle(FilesDropped{{file({3, 2, 9, 9})}});
  shown(core);
  EXPECT_THAT(labels(core, 0), ::testing::AllOf(Not(Contains("Mouse Hide")), Not(Contains("Mouse Show"))));
  EXPECT_THAT(labels(core, 0), Contains("Colours Log")) << "what is left is about colours";
}

TEST_F(AttentionWindow, IsExportedFromTheWindow) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 5, 12});
  Core core(std::move(own));
  shown(core);
  for (const char* view : {"heatmap", "heads", "lines", "metrics"}) {
    core.apply(ShowDialog{Dialog::export_, view});
    ExportForm form = core.state().export_form;
    form.path.edit = make_edit_state((folder_.path() / (std::string(view) + ".png")).string());
    core.apply(SetExport{form});
    core.apply(TypeInField{Field::export_path, SelectAll{}});
    core.apply(TypeInField{Field::export_path, Insert{form.path.edit.text, false}});
    core.apply(DoExport{});
    shown(core);
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / (std::string(view) + ".png")))
        << core.state().export_form.problem;
  }
}

TEST_F(AttentionWindow, ComparesWithASecondFile) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7}, "a.safetensors");
  own.window.second = file({2, 3, 7, 7}, "b.safetensors").string();
  own.window.second_is_file = true;
  Core core(std::move(own));
  shown(core);
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->model->patterns->name(), "b.safetensors");
  EXPECT_TRUE(says(core, "Second file"));
  core.apply(SetSide{Side::difference});
  shown(core);
  EXPECT_TRUE(says(core, "first − second file"));
  // A file that is dropped takes the second's place.
  core.handle(FilesDropped{{file({2, 3, 6, 6}, "c.safetensors")}});
  shown(core);
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->run->length(), 6);
  core.handle(FilesDropped{{file({2, 4, 6, 6}, "d.safetensors")}});
  shown(core);
  EXPECT_THAT(core.state().message.text, HasSubstr("compared head by head"));
  core.apply(OpenModel{bundled_folder()});
  shown(core);
  EXPECT_FALSE(core.state().second.on) << "a path is no prompt";
  EXPECT_FALSE(core.snapshot().run->baseline);
}

TEST_F(AttentionWindow, SessionsOpenTheirFilesAgain) {
  const std::filesystem::path first = file({2, 3, 7, 7}, "a.safetensors"),
                              second = file({2, 3, 6, 6}, "b.safetensors");
  std::filesystem::path session;
  {
    CoreOptions own = options();
    own.window.model = first;
    own.window.second = second.string();
    own.window.second_is_file = true;
    Core core(std::move(own));
    shown(core);
    core.apply(SelectHead{1, 2});
    core.apply(ShowView{"lines"});
    core.apply(SetSide{Side::difference});
    shown(core);
    session = saved(core, folder_.path());
  }
  const Session kept = read_recipe(session).session;
  EXPECT_EQ(kept.model.attention, "a.safetensors");
  ASSERT_TRUE(kept.second);
  EXPECT_EQ(kept.second->attention, "b.safetensors");
  EXPECT_EQ(kept.second->weights, weights_hash(second));
  EXPECT_EQ(headscope::testing::bytes_of_file(session).find(folder_.path().string()), std::string::npos)
      << "nothing in a session is a path";
  Core core(options());  // GPT-2, with a prompt and a change of its own
  shown(core);
  core.apply(ToggleEdit{head_off(0, 1)});
  const std::string prompt = core.state().prompt.edit.text;
  core.apply(OpenFile{session});
  wait_until(core, [&] { return core.snapshot().model->patterns != nullptr; });
  shown(core);
  EXPECT_EQ(core.state().message.text, "");
  EXPECT_EQ(core.snapshot().model->folder, first);
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->model->folder, second);
  EXPECT_EQ(core.state().selection.layer, 1);
  EXPECT_EQ(core.state().selection.head, 2);
  EXPECT_EQ(core.state().view, "lines");
  EXPECT_EQ(core.state().side, Side::difference);
  EXPECT_EQ(core.state().prompt.edit.text, prompt) << "which is not of the file";
  EXPECT_EQ(core.state().edits.list.edits.size(), 1U) << "nor is what is changed in GPT-2";
  EXPECT_EQ(core.state().session, session);
  file({2, 3, 5, 5}, "b.safetensors");  // another one in its place
  core.apply(OpenFile{session});
  wait_until(core, [&] { return !core.state().message.text.empty(); });
  EXPECT_THAT(core.state().message.text, HasSubstr("has other weights here than it had"));
  shown(core);
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->run->length(), 5) << "as it is now";
}

TEST_F(AttentionWindow, SessionsFindTheirFileAmongThoseOpenedLately) {
  const std::filesystem::path first = file({2, 3, 7, 7}, "a.safetensors");
  std::filesystem::create_directories(folder_.path() / "other");
  folder_.write("other/a.safetensors", safetensors_bytes(pattern_tensors({2, 3, 6, 6}, even_rows(6)), ""));
  CoreOptions own = options();
  own.window.model = first;
  Core core(std::move(own));
  shown(core);
  const std::filesystem::path session = saved(core, folder_.path() / "elsewhere");
  core.apply(OpenModel{bundled_folder()});
  shown(core);
  core.apply(OpenModel{folder_.path() / "other/a.safetensors"});  // of the same name, and newer
  shown(core);
  core.apply(OpenFile{session});
  wait_until(core, [&] { return core.snapshot().model->folder == first; });
  shown(core);
  EXPECT_EQ(core.snapshot().model->folder, first) << "known by what is in it";
  EXPECT_FALSE(core.state().message.is_error) << core.state().message.text;
}

TEST_F(AttentionWindow, SessionsWhoseFileIsGoneLeaveAllAsItIs) {
  std::filesystem::path session;
  {
    CoreOptions own = options();
    own.window.model = file({2, 3, 7, 7}, "a.safetensors");
    Core core(std::move(own));
    shown(core);
    session = saved(core, folder_.path() / "elsewhere");
  }
  Core core(options());
  shown(core);
  core.apply(ToggleEdit{head_off(0, 1)});
  shown(core);
  const Session before = session_of(core.state(), core.snapshot());
  core.apply(OpenFile{session});
  wait_until(core, [&] { return !core.state().message.text.empty(); });
  EXPECT_THAT(core.state().message.text,
              ::testing::AllOf(HasSubstr("a.safetensors"), HasSubstr("open that file first")));
  EXPECT_EQ(session_of(core.state(), core.snapshot()), before);
  EXPECT_FALSE(core.snapshot().model->patterns);
  // Another file of that name is opened, and said to be another one.
  folder_.write("elsewhere/a.safetensors",
                safetensors_bytes(pattern_tensors({2, 3, 6, 6}, even_rows(6)), ""));
  core.apply(DismissMessage{});
  core.apply(OpenFile{session});
  wait_until(core, [&] { return core.snapshot().model->patterns != nullptr; });
  shown(core);
  EXPECT_THAT(core.state().message.text, HasSubstr("other weights"));
}

TEST_F(AttentionWindow, FiguresThatAreDroppedOpenTheirFile) {
  const std::filesystem::path first = file({2, 3, 5, 12}, "a.safetensors");
  const std::filesystem::path figure = folder_.path() / "figure.png";
  {
    CoreOptions own = options();
    own.window.model = first;
    Core core(std::move(own));
    shown(core);
    core.apply(SelectHead{1, 0});
    core.apply(ShowDialog{Dialog::export_, "heatmap"});
    core.apply(TypeInField{Field::export_path, SelectAll{}});
    core.apply(TypeInField{Field::export_path, Insert{figure.string(), false}});
    core.apply(DoExport{});
    wait_until(core, [&] { return std::filesystem::exists(figure); });
  }
  EXPECT_THAT(command_of(read_recipe(figure)), HasSubstr("plot heatmap --attention a.safetensors --layer 1"));
  Core core(options());
  shown(core);
  const std::string prompt = core.state().prompt.edit.text;
  core.handle(FilesDropped{{figure}});
  wait_until(core, [&] { return core.snapshot().model->patterns != nullptr; });
  shown(core);
  EXPECT_EQ(core.state().selection.layer, 1);
  EXPECT_EQ(core.state().view, "heatmap");
  core.apply(OpenModel{bundled_folder()});
  shown(core);
  EXPECT_EQ(core.state().prompt.edit.text, prompt);
  // Of a model that is not here nothing can be shown beside attention alone.
  core.apply(OpenModel{first});
  shown(core);
  Session other = session_of(core.state(), core.snapshot());
  other.model = {"some/model", "", model::Precision::f32};
  other.prompt.text = "else";
  core.apply(OpenFile{folder_.write("b.headscope", to_json({other, {}}))});
  wait_until(core, [&] { return !core.state().message.text.empty(); });
  EXPECT_THAT(core.state().message.text, HasSubstr("not found here by its name: open one first"));
  EXPECT_EQ(core.state().prompt.edit.text, prompt);
}

TEST_F(AttentionWindow, AFileThatIsNoneIsASentenceAndTheModelStays) {
  Core core(options());
  shown(core);
  core.handle(FilesDropped{{folder_.write("bad.safetensors", "nonsense")}});
  shown(core);
  EXPECT_THAT(core.state().message.text, HasSubstr("bad.safetensors"));
  EXPECT_TRUE(core.state().message.is_error);
  EXPECT_FALSE(core.snapshot().run->model->patterns);
}

}  // namespace
}  // namespace headscope::app
