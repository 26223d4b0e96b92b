// The Open dialog: browsing by mouse and keyboard, its messages, and that nothing waits for a disk.
#include <atomic>

#include "tests/app/window/window_fixture.h"

namespace headscope::app::open_dialog_test {
namespace {

namespace fs = std::filesystem;

class OpenDialog : public HandsTest {
 protected:
  OpenDialog() {
    fs::copy(bundled_folder(), folder_.path() / "a model");
    fs::create_directories(folder_.path() / "folder 2/inner");
    fs::create_directories(folder_.path() / "folder 10");
  }
  static void listed(Core& core) {
    wait_until(core, [&] { return !core.state().open_form.loading; });
  }
  static void open(Core& core) {
    shown(core);
    press_and_draw(core, Key::o, {.ctrl = true});
    listed(core);
  }
  static fs::path folder(const Core& core) { return core.state().open_form.listing.folder; }
};

TEST_F(OpenDialog, IsBrowsedByTheKeyboard) {
  Core core(options());
  open(core);
  ASSERT_TRUE(tab_to(core, "a model"));
  press_and_draw(core, Key::down);
  EXPECT_EQ(keyboard_at(core), "folder 2/");
  press_and_draw(core, Key::enter);
  listed(core);
  EXPECT_EQ(folder(core).filename(), "folder 2");
  ASSERT_TRUE(tab_and_press(core, "Up"));
  listed(core);
  ASSERT_TRUE(tab_and_press(core, "a model"));
  shown(core);
  EXPECT_EQ(core.snapshot().model->folder.filename(), "a model");
}

TEST_F(OpenDialog, OnlyAFolderWithAModelCanBeOpened) {
  Core core(options());
  open(core);
  EXPECT_FALSE(find_item(core, "Open this folder")->enabled);
  EXPECT_TRUE(says(core, "This folder holds no GPT-2 model"));
  core.apply(BrowseFolder{folder_.path() / "a model"});
  listed(core);
  EXPECT_TRUE(find_item(core, "Open this folder")->enabled);
  EXPECT_FALSE(says(core, "no GPT-2 model"));
  core.apply(BrowseFolder{folder_.path() / "missing"});
  listed(core);
  EXPECT_FALSE(says(core, "no GPT-2 model")) << "nobody has seen inside";
}

TEST_F(OpenDialog, AFileBesideTheWeightsSaysWhichAreUsed) {
  const fs::path file = folder_.write("a model/pytorch_model.bin", "");
  Core core(options());
  open(core);
  press(core, Key::a, {.ctrl = true});
  type(core, file.string());
  press_and_draw(core, Key::enter);
  shown(core);
  EXPECT_THAT(core.state().message.text, HasSubstr("model.safetensors in use"));
}

TEST_F(OpenDialog, TakesAPathThatIsTyped) {
  CoreOptions o = options();
  const std::string home = folder_.path().string();
  o.environment = [home](const std::string& name) {
    return name == "HOME" ? std::optional(home) : std::nullopt;
  };
  o.start_folder = "/";
  Core core(std::move(o));
  open(core);
  press(core, Key::a, {.ctrl = true});
  type(core, "~/folder 2");
  press_and_draw(core, Key::enter);
  listed(core);
  EXPECT_EQ(folder(core), fs::canonical(folder_.path() / "folder 2"));
  press(core, Key::a, {.ctrl = true});
  type(core, (folder_.path() / "a model").string());
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
    press(core, Key::a, {.ctrl = true});
    type_and_draw(core, "somebody/their-gpt2@v2");
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
  press_and_draw(core, Key::m, {.ctrl = true});
  EXPECT_EQ(core.moment().menu, Menu::models);
  press_and_draw(core, Key::escape);
  type(core, "x");
  EXPECT_TRUE(core.state().models.empty());
  may_end = true;  // not reached if the window waits for the search
  may_end.notify_all();
  wait_until(core, [&] { return !core.state().models.empty(); });
  EXPECT_EQ(core.state().models.front().name, "slow");
}

}  // namespace
}  // namespace headscope::app::open_dialog_test
