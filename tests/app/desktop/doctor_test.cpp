#include "app/desktop/doctor.h"

#include "system/machine.h"
#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using ::testing::Field;
using State = Finding::State;

/// A desktop on which nothing is missing.
Surroundings whole() {
  Surroundings facts;
  facts.version = "1.2.3";
  facts.build = "Release, GNU 12.2.0, for any processor of its kind";
  facts.loops = {"avx2", "plain"};
  facts.processor = "Some Processor";
  facts.processors = 4;
  facts.memory = 16'000'000'000;
  facts.memory_free = 8'000'000'000;
  facts.open_gl = {.display = "X11 :0", .renderer = "llvmpipe, OpenGL 4.5"};
  facts.fonts = {{},
                 "/f/Regular.ttf",
                 "/f/Medium.ttf",
                 "/f/Bold.ttf",
                 "/f/Mono.ttf",
                 {{"emoji", "fonts-symbola", true}}};
  facts.bundled = {"tales", "/assets/models/tales", {}};
  facts.window_memory = 100'000'000;
  facts.cache = "/h/.cache/huggingface/hub";
  facts.cached = {{"openai-community/gpt2", "/h/.cache/huggingface/hub/x", {}}};
  facts.settings = "/h/.config/headscope/settings.json";
  facts.clipboard = "/usr/bin/xclip";
  return facts;
}

Finding finding(const Surroundings& facts, const std::string& part, const std::string& name) {
  const std::vector<Finding> all = examine(facts);
  const auto at =
      std::ranges::find_if(all, [&](const Finding& f) { return f.part == part && f.name == name; });
  if (at != all.end()) return *at;
  ADD_FAILURE() << "nothing is said of " << part << ", " << name;
  return {};
}

TEST(Doctor, WhereNothingLacksNothingIsToBeDone) {
  const std::vector<Finding> all = examine(whole());
  EXPECT_GE(all.size(), 15U);
  EXPECT_THAT(all, Each(Field(&Finding::state, State::fine)));
  EXPECT_THAT(all, Each(Field(&Finding::remedy, IsEmpty())));
  EXPECT_THAT(all, Each(Field(&Finding::text, Not(IsEmpty()))));
  EXPECT_THAT(finding(whole(), "computing", "loops").text, HasSubstr("avx2"));
  EXPECT_EQ(finding(whole(), "computing", "memory").text, "16.0 GB, 8.0 GB free");
}

TEST(Doctor, WhateverIsNotFineHasARemedy) {
  Surroundings bare;
  bare.version = "1";
  bare.build = "b";
  bare.loops = {"plain"};
  const std::vector<Finding> all = examine(bare);
  for (const Finding& f : all)
    EXPECT_EQ(f.state == State::fine, f.remedy.empty()) << f.part << ", " << f.name;
  EXPECT_GE(std::ranges::count(all, State::missing, &Finding::state), 4);
}

TEST(Doctor, WithoutADisplayTheWindowIsOnlyLacking) {
  Surroundings facts = whole();
  facts.open_gl = {.problem = "libEGL.so.1 is not installed"};
  EXPECT_EQ(finding(facts, "window", "display").state, State::missing);
  const Finding gl = finding(facts, "window", "OpenGL");
  EXPECT_EQ(gl.state, State::missing);
  EXPECT_THAT(gl.text, HasSubstr("libEGL.so.1 is not installed"));
  EXPECT_THAT(gl.remedy, HasSubstr("libgl1-mesa-dri"));
  facts.open_gl.display = "X11 :0";
  EXPECT_EQ(finding(facts, "window", "OpenGL").state, State::broken);
  facts.open_gl.surfaceless = "llvmpipe";
  EXPECT_THAT(finding(facts, "window", "OpenGL").remedy, HasSubstr("DISPLAY"));
}

TEST(Doctor, FontsThatAreMissing) {
  Surroundings facts = whole();
  facts.fonts.scripts = {{"emoji", "fonts-symbola", false}};
  facts.fonts.bold = facts.fonts.regular;
  EXPECT_THAT(finding(facts, "fonts", "emoji").remedy, HasSubstr("fonts-symbola"));
  EXPECT_EQ(finding(facts, "fonts", "emoji").state, State::missing);
  EXPECT_EQ(finding(facts, "fonts", "bold").state, State::missing);
  facts.fonts = {};
  facts.fonts.problem = "no usable font found";
  EXPECT_EQ(finding(facts, "fonts", "regular").state, State::broken);
}

TEST(Doctor, ModelsThatAreMissing) {
  Surroundings facts = whole();
  facts.bundled.problem = "no config.json";
  EXPECT_EQ(finding(facts, "models", "bundled").state, State::broken);
  facts.cached = {{"a/b", "/x", "no weights"}};
  EXPECT_EQ(finding(facts, "models", "a/b").text, "no weights");
  EXPECT_EQ(finding(facts, "models", "a/b").state, State::missing);
  facts.cached.clear();
  EXPECT_EQ(finding(facts, "models", "cache").state, State::missing);
  facts.recent = {{"/gone", "/gone", "no GPT-2 in /gone any more"}};
  EXPECT_EQ(finding(facts, "models", "/gone").state, State::missing);
}

TEST(Doctor, TheClipboardIsAskedForWhereThereIsADisplay) {
  Surroundings facts = whole();
  facts.clipboard.clear();
  EXPECT_THAT(finding(facts, "desktop", "clipboard").remedy, HasSubstr("xclip"));
  facts.open_gl.display = "Wayland wayland-0, X11 :0";
  EXPECT_THAT(finding(facts, "desktop", "clipboard").remedy, HasSubstr("wl-clipboard"));
}

TEST(Doctor, TooLittleMemoryIsSaid) {
  Surroundings facts = whole();
  facts.memory_free = facts.window_memory - 1;
  EXPECT_EQ(finding(facts, "computing", "memory").state, State::missing);
}

// The variables that name the user's folders.
const char* const kHome = system::is_windows() ? "USERPROFILE" : "HOME";
const char* const kSettings = system::is_windows() ? "APPDATA"
                              : system::is_macos() ? "HOME"
                                                   : "XDG_CONFIG_HOME";

TEST(Surroundings, AreThoseOfThisMachine) {
  const TemporaryFolder home;
  const Surroundings facts = surroundings(environment({{kHome, home.path().string()}}));
  EXPECT_THAT(facts.loops, Contains("plain"));
  EXPECT_GE(facts.processors, 1);
  EXPECT_GT(facts.memory, 0U);
  EXPECT_THAT(facts.build, HasSubstr("processor"));
  EXPECT_THAT(facts.bundled.problem, IsEmpty());
  EXPECT_GT(facts.window_memory, 1'000'000U);
  EXPECT_TRUE(fs::exists(facts.fonts.regular));
  EXPECT_EQ(facts.cache, home.path() / ".cache/huggingface/hub");
  EXPECT_THAT(facts.cached, IsEmpty());
}

TEST(Surroundings, HoldNoSecret) {
  const TemporaryFolder home;
  home.write("huggingface/token", "hf_in_a_file");
  const Environment secret = environment({{kHome, home.path().string()},
                                          {"HF_HOME", (home.path() / "huggingface").string()},
                                          {"HF_TOKEN", "hf_secret"},
                                          {"HUGGING_FACE_HUB_TOKEN", "hf_older"},
                                          {"https_proxy", "http://me:hf_proxy@proxy.example"}});
  for (const Finding& finding : examine(surroundings(secret)))
    for (const std::string& text : {finding.name, finding.text, finding.remedy})
      for (const char* word : {"hf_secret", "hf_in_a_file", "hf_older", "hf_proxy"})
        EXPECT_THAT(text, Not(HasSubstr(word)));
}

TEST(Surroundings, SayWhichModelsAreNotWhole) {
  const TemporaryFolder home;
  home.write("models--some--model/snapshots/abc/config.json", R"({"model_type": "gpt2"})");
  home.write(
      system::is_macos() ? "Library/Application Support/headscope/settings.json" : "headscope/settings.json",
      R"({"recent_models": ["/gone/away"]})");
  const Surroundings facts =
      surroundings(environment({{"HF_HUB_CACHE", home.path().string()}, {kSettings, home.path().string()}}));
  ASSERT_EQ(facts.cached.size(), 1U);
  EXPECT_EQ(facts.cached[0].name, "some/model");
  EXPECT_THAT(facts.cached[0].problem, HasSubstr("model.safetensors"));
  ASSERT_EQ(facts.recent.size(), 1U);
  EXPECT_THAT(facts.recent[0].problem, HasSubstr("/gone/away"));
}

TEST(Surroundings, WithoutAHomeThereIsNeitherCacheNorSettings) {
  if (system::is_windows()) GTEST_SKIP() << "Windows knows the user's folders without the environment";
  const Surroundings facts = surroundings(environment({}));
  EXPECT_FALSE(facts.cache);
  EXPECT_FALSE(facts.settings);
}

TEST(Doctor, FreeMemoryThatIsUnknownLacksNothing) {
  Surroundings facts = whole();
  facts.memory_free = 0;
  EXPECT_EQ(finding(facts, "computing", "memory").state, State::fine);
  EXPECT_EQ(finding(facts, "computing", "memory").text, "16.0 GB");
}

TEST(Doctor, RemediesOfAMacAreIts) {
  Surroundings bare;
  bare.macos = true;
  bare.version = "1";
  bare.build = "b";
  bare.loops = {"plain"};
  bare.open_gl.display = "macOS";
  bare.fonts.regular = "Arial.ttf";
  bare.fonts.scripts = {{"emoji", "fonts-symbola", false}};
  for (const Finding& f : examine(bare)) {
    EXPECT_EQ(f.state == State::fine, f.remedy.empty()) << f.part << ", " << f.name;
    for (const char* const of_others :
         {"apt-get", "DISPLAY", "/proc", "XDG", "Windows", "APPDATA", "USERPROFILE"})
      EXPECT_THAT(f.text + f.remedy, Not(HasSubstr(of_others))) << f.part << ", " << f.name;
  }
}

TEST(Doctor, RemediesAreThoseOfTheSystem) {
  Surroundings bare;
  bare.windows = true;
  bare.version = "1";
  bare.build = "b";
  bare.loops = {"plain"};
  bare.fonts.regular = "segoeui.ttf";
  bare.fonts.scripts = {{"emoji", "fonts-symbola", false}};
  for (const Finding& f : examine(bare)) {
    EXPECT_EQ(f.state == State::fine, f.remedy.empty()) << f.part << ", " << f.name;
    for (const char* const of_linux : {"apt-get", "DISPLAY", "/proc", "HOME is", "XDG"})
      EXPECT_THAT(f.text + f.remedy, Not(HasSubstr(of_linux))) << f.part << ", " << f.name;
  }
}

}  // namespace
}  // namespace headscope::app
