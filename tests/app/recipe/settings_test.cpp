#include "app/recipe/recipe.h"

#include "app/views/view.h"
#include "system/path_text.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::settings_test {
namespace {

void set_option(Options& options, std::string_view name, std::string_view text) {
  const OptionSpec& option = *find_option(name);
  options.set(option, parse_option(option, text));
}

Settings non_default_settings() {
  Settings settings;
  settings.session.look.dark = true;
  settings.session.look.font_size = 17.5F;
  settings.window_width = 1234;
  settings.window_height = 777;
  settings.session.panes.heads = 301.25F;
  settings.session.panes.next = 222;
  settings.session.view = "scores";
  settings.session.second_view = "query";
  settings.session.selection.layer = 3;
  settings.session.selection.head = 2;
  settings.session.selection.query = 7;
  settings.session.selection.key = 4;
  settings.recent_models = {"/models/with \xff bytes", "/models/plain"};
  settings.recent_folders = {"/home/somebody/figures"};
  settings.export_folder = "/home/\xfe";
  settings.export_scale = 3;
  settings.last_model = "/models/with \xff bytes";
  settings.has_prompt = true;
  settings.session.prompt.text = std::string("line\n\"quoted\" \xe2\x82 \0 end", 22);
  settings.session.prompt.start_token = true;
  settings.offer_models = false;
  settings.start_token = true;
  for (const auto& [name, text] : {std::pair{"value-scale", "log"}, {"curves", "3,1"}, {"value-max", "0.05"}})
    set_option(settings.session.options, name, text);
  return settings;
}

TEST(Settings, ComeBackAsTheyWere) {
  const LoadedSettings loaded = parse_settings(to_json(non_default_settings()), "s");
  EXPECT_EQ(loaded.message, "");
  EXPECT_EQ(loaded.settings, non_default_settings());
  EXPECT_EQ(parse_settings(to_json(Settings{}), "s").settings, Settings{});
}

TEST(Settings, WhatCannotBeUsedKeepsItsDefaultAndIsNamed) {
  const LoadedSettings loaded = parse_settings(
      R"({"theme": "blue", "font-size": 1e30, "window-width": -5, "window-height": 900, "heads-pane": "wide",
          "view": [1, 2, 999], "start-token": 1, "layer": -1, "head": 2.5, "query": -2, "key": 5,
          "beside": 7, "export-scale": 0, "export-folder": {}, "future": {"a": 1},
          "value-scale": "cubic", "temperature": 3, "count": "7"})",
      "/c/settings.json");
  Settings expected;
  expected.window_height = 900;
  expected.session.selection.key = 5;
  set_option(expected.session.options, "count", "7");
  EXPECT_EQ(loaded.settings, expected);
  EXPECT_THAT(loaded.message,
              AllOf(HasSubstr("/c/settings.json"), HasSubstr("theme"), HasSubstr("font-size"),
                    HasSubstr("window-width"), HasSubstr("heads-pane"), HasSubstr("view"),
                    HasSubstr("start-token"), HasSubstr("layer"), HasSubstr("head"), HasSubstr("query"),
                    HasSubstr("beside"), HasSubstr("export-scale"), HasSubstr("export-folder"),
                    HasSubstr("value-scale"), HasSubstr("temperature"), Not(HasSubstr("key")),
                    Not(HasSubstr("window-height")), Not(HasSubstr("future"))));
}

TEST(Settings, RecentEntriesComeFirstAndOnce) {
  std::vector<std::filesystem::path> recent;
  for (int i = 0; i < 12; ++i) remember(recent, "/m/" + std::to_string(i));
  ASSERT_EQ(recent.size(), kMaxRecent);
  EXPECT_EQ(recent.front(), "/m/11");
  EXPECT_EQ(recent.back(), "/m/4");
  remember(recent, "/m/9/");
  remember(recent, "");
  ASSERT_EQ(recent.size(), kMaxRecent);
  EXPECT_THAT(std::vector(recent.begin(), recent.begin() + 3), ElementsAre("/m/9", "/m/11", "/m/10"));
  EXPECT_EQ(recent.back(), "/m/4");
  remember(recent, "/");
  EXPECT_EQ(recent.front(), "/");
}

TEST(Settings, RecentPathsAreFew) {
  const LoadedSettings loaded = parse_settings(
      R"({"recent-models": ["/b", [47, 255]], "recent-folders": "/c", "recent-sessions": [3]})", "s");
  EXPECT_THAT(loaded.settings.recent_models, ElementsAre("/b", system::path_of("/\xff")));
  EXPECT_THAT(loaded.settings.recent_folders, IsEmpty());
  EXPECT_THAT(loaded.message, AllOf(HasSubstr("recent-folders"), HasSubstr("recent-sessions")));
  std::string many = "{\"recent-folders\": [";
  for (int i = 0; i < 30; ++i) many += "\"/f" + std::to_string(i) + "\", ";
  EXPECT_THAT(parse_settings(many + "\"/last\"]}", "s").settings.recent_folders,
              AllOf(SizeIs(kMaxRecent), Contains("/f0"), Contains("/f7")));
}

TEST(Settings, BrokenTextGivesDefaultsAndAMessage) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1]"), std::string("null"), std::string(100000, '['),
        std::string("{\"theme\": \"dark\""), std::string("\xff\xfe"), std::string("{\"font-size\": 1e999}"),
        std::string("\0\0\0", 3)}) {
    const LoadedSettings loaded = parse_settings(text, "settings.json");
    EXPECT_EQ(loaded.settings, Settings{}) << text.substr(0, 40);
    EXPECT_THAT(loaded.message, HasSubstr("settings.json")) << text.substr(0, 40);
  }
}

TEST(Settings, AMissingFileIsNoError) {
  EXPECT_EQ(load_settings(TemporaryFolder().path() / "a/b/settings.json").message, "");
}

TEST(Settings, AFolderInTheirPlaceIsAMessage) {
  const TemporaryFolder folder;
  EXPECT_THAT(load_settings(folder.path()).message, HasSubstr(folder.path().string()));
}

}  // namespace
}  // namespace headscope::app::settings_test
