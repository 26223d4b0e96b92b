// The dialogs to open and to export: browsing, questions, messages, defaults and files.
#include <atomic>

#include "app/counted.h"
#include "tests/app/window/window_fixture.h"
#include "tests/viz/pictures.h"

namespace headscope::app::dialogs_test {
namespace {

using viz::testing::png_size;

CoreOptions with_home(CoreOptions options, const std::string& home) {
  options.environment = [home](const std::string& name) {
    return name == "HOME" ? std::optional(home) : std::nullopt;
  };
  return options;
}

namespace fs = std::filesystem;

class OpenDialog : public HandsTest {
 protected:
  OpenDialog() {
    fs::copy(bundled_folder(), folder_.path() / "a model");
    fs::create_directories(folder_.path() / "folder 2");
  }
  static void listed(Core& core) {
    wait_until(core, [&] { return !core.state().open_form.loading; });
  }
  static void open(Core& core) {
    shown(core);
    press_and_draw(core, Key{'o'}, {.ctrl = true});
    listed(core);
  }
  static fs::path folder(const Core& core) { return core.state().open_form.listing.folder; }
};

TEST_F(OpenDialog, OnlyAFolderWithAModelCanBeOpened) {
  Core core(options());
  open(core);
  EXPECT_FALSE(find_item(core, "Open")->enabled);
  EXPECT_TRUE(says(core, "This folder holds no GPT-2 model"));
  core.apply(BrowseFolder{folder_.path() / "a model"});
  listed(core);
  EXPECT_TRUE(find_item(core, "Open")->enabled);
  EXPECT_FALSE(says(core, "no GPT-2 model"));
  core.apply(BrowseFolder{folder_.path() / "missing"});
  listed(core);
  EXPECT_FALSE(says(core, "no GPT-2 model")) << "nobody has seen inside";
}

TEST_F(OpenDialog, AFileBesideTheWeightsSaysWhichAreUsed) {
  const fs::path file = folder_.write("a model/pytorch_model.bin", "");
  Core core(options());
  open(core);
  retype(core, file.string());
  press_and_draw(core, Key::enter);
  shown(core);
  EXPECT_THAT(core.state().message.text, HasSubstr("model.safetensors in use"));
}

TEST_F(OpenDialog, TakesAPathThatIsTyped) {
  CoreOptions o = with_home(options(), folder_.path().string());
  o.start_folder = "/";
  Core core(std::move(o));
  open(core);
  retype(core, "~/folder 2");
  press_and_draw(core, Key::enter);
  listed(core);
  EXPECT_EQ(folder(core), fs::canonical(folder_.path() / "folder 2"));
  ASSERT_TRUE(tab_and_press(core, "Up"));
  listed(core);
  EXPECT_EQ(folder(core), fs::canonical(folder_.path()));
  click_item(core, "folder");
  retype(core, (folder_.path() / "a model").string());
  press_and_draw(core, Key::enter);
  listed(core);
  EXPECT_TRUE(core.state().open_form.listing.is_model);
  press_and_draw(core, Key::enter);
  shown(core);
  EXPECT_EQ(core.snapshot().model->folder.filename(), "a model");
}

TEST_F(OpenDialog, TakesTheNameOfAModelOnTheHub) {
  CoreOptions o = options();
  std::vector<HubModel> fetched;
  o.fetch = [&](const HubModel& model, const FetchOptions&) {
    fetched.push_back(model);
    return folder_.path() / "a model";
  };
  o.start_folder = folder_.path();
  Core core(std::move(o));
  for (const char* by : {"key", "button"}) {
    open(core);
    retype(core, "somebody/their-gpt2@v2");
    if (by == std::string("key")) {
      press_and_draw(core, Key::enter);
    } else {
      click_item(core, "Fetch this model");
    }
    EXPECT_EQ(core.state().dialog, Dialog::none);
    wait_until(core, [&] { return !core.state().fetching.model; });
    shown(core);
    EXPECT_EQ(core.snapshot().model->folder.filename(), "a model");
  }
  EXPECT_THAT(fetched,
              ElementsAre(HubModel{"somebody/their-gpt2", "v2"}, HubModel{"somebody/their-gpt2", "v2"}));
}

TEST_F(OpenDialog, NothingWaitsForASearchForModels) {
  static std::atomic<bool> may_end = false;
  CoreOptions o = options();
  o.find_models = [] {
    may_end.wait(false);
    return std::vector<DiscoveredModel>{{"slow", "/slow"}};
  };
  CoreFixture core(std::move(o));
  press_and_draw(core, Key{'m'}, {.ctrl = true});
  EXPECT_EQ(core.widgets().menu, Menu::models);
  press_and_draw(core, Key::escape);
  type(core, "x");
  EXPECT_TRUE(core.state().models.empty());
  may_end = true;  // not reached if the window waits for the search
  may_end.notify_all();
  wait_until(core, [&] { return !core.state().models.empty(); });
  EXPECT_EQ(core.state().models.front().name, "slow");
}

class ExportDialog : public HandsTest {
 protected:
  static void open(Core& core) { press_and_show(core, Key{'e'}, {.ctrl = true}); }
  using HandsTest::retype;
  static void retype(Core& core, const std::string& field, const std::string& text) {
    click_item(core, field);
    retype(core, text);
  }
  static const ExportForm& form(const Core& core) { return core.state().export_form; }

  /// A replacement for the desktop's program that saves its input, or fails.
  system::PictureClipboard clipboard_program(const std::string& script) {
    const fs::path program = folder_.write("tool", "#!/bin/sh\n" + script);
    fs::permissions(program, fs::perms::owner_all);
    return {program, {}};
  }
};

TEST_F(ExportDialog, AsksBeforeItWritesOverAFile) {
  CoreFixture core(options());
  const fs::path file = folder_.write("there.png", "precious");
  open(core);
  retype(core, file.string());
  press_and_draw(core, Key::enter);
  EXPECT_EQ(core.state().dialog, Dialog::export_);
  EXPECT_TRUE(says(core, "A file with this name exists. Replace it?"));
  EXPECT_TRUE(says(core, "Replace"));
  EXPECT_EQ(bytes_of_file(file), "precious");
  type_and_draw(core, "x");
  EXPECT_FALSE(says(core, "Replace it?")) << "the question is of the name that it was asked for";
  press(core, Key::backspace);
  for (int i = 0; i < 3; ++i) press_and_draw(core, Key::enter);  // repeated presses
  EXPECT_EQ(bytes_of_file(file), "precious");
  click_item(core, "Export file");
  wait_until(core, [&] { return core.state().dialog == Dialog::none; });
  EXPECT_THAT(bytes_of_file(file), StartsWith("\x89PNG"));
}

TEST_F(ExportDialog, KeepsWhatWasTypedAfterAnError) {
  CoreFixture core(options());
  open(core);
  click_item(core, "Scale 3×");
  retype(core, "size of the picture", "900x700");
  const std::string path = (folder_.path() / "no/such/folder/p.png").string();
  retype(core, "file", path);
  press_and_draw(core, Key::enter);
  wait_until(core, [&] { return !form(core).problem.empty(); });
  EXPECT_EQ(core.state().dialog, Dialog::export_);
  EXPECT_THAT(form(core).problem, HasSubstr("no/such/folder"));
  EXPECT_TRUE(says(core, form(core).problem.substr(0, 30)));
  EXPECT_EQ(form(core).path.edit.text, path);
  EXPECT_EQ(form(core).size.edit.text, "900x700");
  EXPECT_EQ(form(core).scale, 3);
  fs::create_directories(folder_.path() / "no/such/folder");
  press_and_draw(core, Key::enter);
  wait_until(core, [&] { return core.state().dialog == Dialog::none; });
  EXPECT_EQ(png_size(bytes_of_file(path)), std::pair(2700, 2100));
}

TEST_F(ExportDialog, SaysTheWholePathAndKnowsTheHomeFolder) {
  const std::string home = folder_.path().string();
  CoreOptions o = with_home(options(), home);
  o.start_folder = "/elsewhere";
  CoreFixture core(std::move(o));
  open(core);
  retype(core, "~/mine");
  press_and_draw(core, Key::enter);
  wait_until(core, [&] { return core.state().dialog == Dialog::none; });
  EXPECT_TRUE(fs::exists(folder_.path() / "mine.png"));
  EXPECT_EQ(core.state().message.text, "Saved " + home + "/mine.png.");
  EXPECT_TRUE(says(core, "Saved " + home + "/mine.png."));
  open(core);
  EXPECT_THAT(form(core).path.edit.text, StartsWith(home)) << "the next one goes there, too";
  EXPECT_THAT(core.state().recent_folders, Contains(folder_.path()));
}

TEST_F(ExportDialog, TheSizeOfThePreviewIsTheFiles) {
  CoreFixture core(options());
  for (const char* target : {"Screen", "Column", "Page", "Slide"}) {
    open(core);
    click_item(core, "For " + std::string(target));
    core.draw({});
    const std::string path = (folder_.path() / (std::string(target) + ".png")).string();
    retype(core, "file", path);
    core.draw({});
    std::string words;
    for (const viz::Scene& scene : core.window().scenes)
      for (const viz::Item& item : scene.items)
        if (const auto* run = std::get_if<viz::GlyphRun>(&item);
            run && run->text.find(" pixels, ") != std::string::npos)
          words = run->text;
    press_and_draw(core, Key::enter);
    wait_until(core, [&] { return core.state().dialog == Dialog::none; });
    const auto [width, height] = png_size(bytes_of_file(path));
    EXPECT_THAT(words, StartsWith(grouped(width) + " × " + grouped(height) + " pixels,"));
  }
}

TEST_F(ExportDialog, TheFormatAndTheNameOfTheFileFollowOneAnother) {
  CoreFixture core(options());
  open(core);
  retype(core, "/there/figure.pdf");
  EXPECT_EQ(form(core).kind, FileFormat::pdf);
  retype(core, "/there/figure.odd");
  EXPECT_EQ(form(core).kind, FileFormat::pdf) << "no format";
  click_item(core, "Format SVG");
  EXPECT_THAT(form(core).path.edit.text, EndsWith("/figure.svg"));
  click_item(core, "Picture Window");
  retype(core, "file", "/there/window.csv");
  EXPECT_NE(form(core).kind, FileFormat::csv) << "the window has no data";
}

TEST_F(ExportDialog, TheWindowIsAPicture) {
  CoreFixture core(options());
  open(core);
  click_item(core, "Format SVG");
  click_item(core, "Picture Window");
  EXPECT_EQ(form(core).kind, FileFormat::png);
  EXPECT_FALSE(find_item(core, "Format SVG")->enabled);
  EXPECT_FALSE(find_item(core, "Copy data")->enabled);
  click_item(core, "Scale 1×");
  press_and_draw(core, Key::enter);
  wait_until(core, [&] { return core.state().dialog == Dialog::none; });
  EXPECT_EQ(png_size(bytes_of_file(folder_.path() / "tales-window.png")), std::pair(1600, 1000));
}

TEST_F(ExportDialog, PaperAndSlidesAreLightUnlessAskedOtherwise) {
  CoreFixture core(options());
  core.apply(change(&UiState::dark, true));
  open(core);
  EXPECT_TRUE(form(core).dark);
  click_item(core, "For Slide");
  EXPECT_FALSE(form(core).dark);
  click_item(core, "Theme Dark");
  EXPECT_TRUE(form(core).dark);
}

TEST_F(ExportDialog, APictureIsCopiedWithoutWaitingForTheDesktopsProgram) {
  CoreOptions o = options();
  const fs::path got = folder_.path() / "got.png", go = folder_.path() / "go";
  {
    CoreFixture core(o);
    open(core);
    EXPECT_FALSE(find_item(core, "Copy picture")->enabled) << "there is no program";
  }
  o.pictures = clipboard_program("while [ ! -e '" + go.string() + "' ]; do sleep 0.02; done\ncat > " +
                                 got.string() + "\n");
  CoreFixture core(std::move(o));
  open(core);
  click_item(core, "Copy picture");
  type_and_draw(core, "x");
  folder_.write("go", "");  // not reached if the window waits for the program
  wait_until(core, [&] { return !core.state().message.text.empty(); });
  EXPECT_EQ(core.state().message.text, "Copied the picture.");
  EXPECT_FALSE(core.state().message.is_error);
  EXPECT_THAT(bytes_of_file(got), StartsWith("\x89PNG"));
  EXPECT_FALSE(fs::exists(form(core).path.edit.text)) << "and no file is written";
}

}  // namespace
}  // namespace headscope::app::dialogs_test
