// Attention files in the window.

#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "app/tour/tour.h"
#include "app/views/parts/menu_lines.h"
#include "app/window/sessions.h"
#include "tests/app/window/window_fixture.h"
#include "tests/support/pattern_files.h"

namespace headscope::app::attention_window_test {
namespace {

class AttentionWindow : public HandsTest {
 protected:
  std::filesystem::path file(const PatternShape& shape, const std::string& name = "bert.safetensors") {
    return folder_.write(name, safetensors_bytes(pattern_tensors(shape, even_rows(shape.keys)), ""));
  }
  CoreOptions with_model(const std::filesystem::path& path) {
    CoreOptions o = options();
    o.window.model = path;
    return o;
  }
  /// Saves a session in its own folder.
  static std::filesystem::path saved(Core& core, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    apply_and_show(core, SaveSession{folder / "a.headscope"});
    wait_until(core, [&] { return !core.state().session.empty(); });
    EXPECT_TRUE(std::filesystem::exists(folder / "a.headscope")) << core.state().message.text;
    return folder / "a.headscope";
  }
};

TEST_F(AttentionWindow, OpensAFileThatIsGivenAndSaysWhatItIs) {
  Core core(with_model(file({2, 3, 5, 12})));
  shown(core);
  EXPECT_TRUE(says(
      core,
      "Attention patterns from bert.safetensors, not from this prompt: 2 layers of 3 heads, 5 queries, 12 "
      "keys, no mask."));
  EXPECT_TRUE(says(core, "this needs a model's weights")) << "of the next token";
  EXPECT_EQ(core.state().message.text, "");
}

TEST_F(AttentionWindow, OpensAFileThatIsDroppedAndAModelAgainAfterIt) {
  CoreFixture core(options());
  handle_and_show(core, FilesDropped{{file({3, 2, 9, 9})}});
  ASSERT_TRUE(core.snapshot().run->model->patterns);
  EXPECT_EQ(core.snapshot().run->run->length(), 9);
  apply_and_show(core, SelectHead{2, 1}, SelectQuery{3}, SelectKey{8});
  EXPECT_TRUE(says(core, "L2 H1"));
  EXPECT_EQ(clamped(core.state().selection, *core.snapshot().run).key, 8) << "later keys are seen";
  handle_and_show(core, FilesDropped{{bundled_folder() / "model.safetensors"}});
  EXPECT_FALSE(core.snapshot().run->model->patterns) << "the file of a model opens its model";
  EXPECT_FALSE(says(core, "this needs a model's weights"));
}

TEST_F(AttentionWindow, WhatNeedsWeightsIsSaid) {
  CoreFixture core(with_model(file({2, 3, 7, 7})));
  core.apply(ToggleEdit{head_off(0, 1)});
  EXPECT_THAT(core.state().edits_bar.problem, HasSubstr("needs a model's weights"));
  EXPECT_TRUE(core.state().edits.edits.empty());
  core.apply(Generate{true});
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_THAT(core.state().message.text, HasSubstr("needs a model's weights"));
  apply_and_show(core, CopyNumbers{"scores"});
  EXPECT_THAT(core.state().message.text, HasSubstr("needs a model's weights"));
  EXPECT_EQ(clipboard_, "");
  apply_and_show(core, CopyNumbers{"heatmap"});
  EXPECT_THAT(clipboard_, HasSubstr("query\tquery token\tkey\tkey token\tweight\n0\t0\t0\t0\t"));
}

TEST_F(AttentionWindow, ToursSayNothingAboutItThatHoldsOnlyForModels) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7});
  own.tours = {parse_tour(
      "# T\n\nAbout.\n\n## S\n- prompt: the fox\n\nEverywhere.\n\n- if: tokens above 1, this prompt\nMany.\n"
      "- otherwise\nOne.\n",
      "own.md")};
  own.tour = 0;
  CoreFixture core(std::move(own));
  ASSERT_TRUE(core.snapshot().run->model->patterns);
  EXPECT_TRUE(says(core, "Everywhere."));
  EXPECT_FALSE(says(core, "Many."));
  EXPECT_FALSE(says(core, "One."));
}

TEST_F(AttentionWindow, ComparesWithASecondFile) {
  CoreOptions own = options();
  own.window.model = file({2, 3, 7, 7}, "a.safetensors");
  own.window.recipe.session.attention = "a.safetensors";
  own.window.second = file({2, 3, 7, 7}, "b.safetensors");
  CoreFixture core(std::move(own));
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->model->patterns->name(), "b.safetensors");
  EXPECT_TRUE(says(core, "Second file"));
  apply_and_show(core, SetSide{Side::difference});
  EXPECT_TRUE(says(core, "first − second file"));
  // A dropped file replaces the second one.
  handle_and_show(core, FilesDropped{{file({2, 3, 6, 6}, "c.safetensors")}});
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->run->length(), 6);
  handle_and_show(core, FilesDropped{{file({2, 4, 6, 6}, "d.safetensors")}});
  EXPECT_THAT(core.state().message.text, HasSubstr("compared head by head"));
  apply_and_show(core, OpenModel{bundled_folder()});
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
    own.window.recipe.session.attention = "a.safetensors";
    own.window.second = second;
    CoreFixture core(std::move(own));
    apply_and_show(core, SetSide{Side::difference});
    session = saved(core, folder_.path());
  }
  const Session kept = read_recipe(session).session;
  EXPECT_EQ(kept.attention, "a.safetensors");
  EXPECT_EQ(kept.second_attention, "b.safetensors");
  EXPECT_EQ(kept.second_weights, weights_hash(second));
  EXPECT_EQ(bytes_of_file(session).find(folder_.path().string()), std::string::npos)
      << "nothing in a session is a path";
  Core core(options());  // GPT-2, with a prompt and an edit
  shown(core);
  core.apply(ToggleEdit{head_off(0, 1)});
  const std::string typed = prompt(core);
  core.apply(OpenFile{session});
  wait_until(core, [&] { return core.snapshot().model->patterns != nullptr; });
  shown(core);
  EXPECT_EQ(core.state().message.text, "");
  EXPECT_EQ(core.snapshot().model->folder, first);
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->model->folder, second);
  EXPECT_EQ(core.state().side, Side::difference);
  EXPECT_EQ(prompt(core), typed) << "which is not of the file";
  EXPECT_EQ(core.state().edits.edits.size(), 1U) << "nor is what is changed in GPT-2";
  EXPECT_EQ(core.state().session, session);
  file({2, 3, 5, 5}, "b.safetensors");  // replaces the file
  core.apply(OpenFile{session});
  wait_until(core, [&] { return !core.state().message.text.empty(); });
  EXPECT_THAT(core.state().message.text, HasSubstr("has different weights now"));
  shown(core);
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->run->length(), 5) << "as it is now";
}

TEST_F(AttentionWindow, SessionsFindTheirFileAmongRecentOnes) {
  const std::filesystem::path first = file({2, 3, 7, 7}, "a.safetensors");
  std::filesystem::create_directories(folder_.path() / "other");
  folder_.write("other/a.safetensors", safetensors_bytes(pattern_tensors({2, 3, 6, 6}, even_rows(6)), ""));
  CoreFixture core(with_model(first));
  const std::filesystem::path session = saved(core, folder_.path() / "elsewhere");
  apply_and_show(core, OpenModel{bundled_folder()});
  core.apply(OpenModel{folder_.path() / "other/a.safetensors"});  // same name, but newer
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
    CoreFixture core(with_model(file({2, 3, 7, 7}, "a.safetensors")));
    session = saved(core, folder_.path() / "elsewhere");
  }
  CoreFixture core(options());
  apply_and_show(core, ToggleEdit{head_off(0, 1)});
  const Session before = session_of(core.state(), core.snapshot());
  core.apply(OpenFile{session});
  wait_until(core, [&] { return !core.state().message.text.empty(); });
  EXPECT_THAT(core.state().message.text,
              AllOf(HasSubstr("a.safetensors"), HasSubstr("open that file first")));
  EXPECT_EQ(session_of(core.state(), core.snapshot()), before);
  EXPECT_FALSE(core.snapshot().model->patterns);
}

}  // namespace
}  // namespace headscope::app::attention_window_test
