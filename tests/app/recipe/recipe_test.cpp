// Recipes, sessions and settings in files.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/desktop/folder_listing.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "system/file.h"
#include "system/machine.h"
#include "system/path_text.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wine.h"
#include "viz/players/players.h"

namespace headscope::app::recipe_test {
namespace {

using headscope::testing::TemporaryFolder;
using nlohmann::json;

const std::string kHash = "sha256:" + std::string(64, 'a');

/// A session without any default values.
Session everything() {
  Session s;
  s.model = "some/model", s.weights = kHash, s.precision = model::Precision::bf16;
  s.prompt = {"a \xff\x01\n'\"<&>]]>\xc3\xa9", {3, 1, 2}, true};
  s.edits = {"L0H1.z=0", "off: L1.pattern[3,2]~=0.25"};
  s.second = "other \xfe", s.second_on = false, s.alignment = Alignment::subsequence;
  s.second_model = "some/other \xff", s.second_weights = kHash;
  s.side = Side::difference;
  s.view = views().back().id;
  s.second_view = views().front().id;
  for (const OptionSpec* option : all_options()) {
    OptionValue value = stepped(*option, option->default_value, 1);
    if (value == option->default_value) value = stepped(*option, option->default_value, -1);
    if (std::holds_alternative<std::vector<int>>(value)) value = std::vector{2, 5};
    if (std::holds_alternative<Zoom>(value)) value = Zoom{1, 2, 5, 6.5};
    s.options.set(*option, value);
  }
  s.selection = {3, 2, 7, 5};
  s.tries = {{{1, 2, 3}, {0.1, 1e-7}}};
  s.prompts = parse_prompt_list(
      "{\"ids\": [5], \"position\": -1}\n\"A queen\"\n{\"ids\": [7], \"token\": 3}\n", "pairs.jsonl");
  s.dark = true, s.font_size = 17.5F;
  s.panes = {200, 300.25F, 0};
  return s;
}

/// A session of attention files.
Session of_attention() {
  Session s;
  s.model = "bert", s.weights = s.second_weights = kHash;
  s.attention = "a \xff.safetensors";
  s.second_attention = system::is_windows() ? "-b.safetensors" : "-b\\.safetensors";
  return s;
}

std::string problem_of(const std::string& text) {
  return testing::message_of<model::LoadError>([&] { recipe_of(text, "figure.png"); });
}

/// The JSON of a picture of the window with one value replaced.
std::string with(const std::string& key, json value, const Session& s = everything()) {
  json object = json::parse(to_json({s, figure_for(Target::screen, true)}));
  object[key] = std::move(value);
  return object.dump();
}

TEST(Recipe, ComesBackAsItWas) {
  for (const Session& session : {Session{}, everything(), of_attention()})
    for (const std::optional<Figure>& figure :
         {std::optional<Figure>(), std::optional(figure_for(Target::screen)),
          std::optional(Figure{true, 640, 480, 0, {.scale = 0.3F, .page = Page::exact}}),
          std::optional(Figure{false, 16, 20, 9, {3, true, false, false, Page::at_least, Target::slide}})}) {
      const bool of_view = figure && !figure->window;
      const Session part = of_view ? figure_part(session, *find_view(session.view)) : session;
      const std::string text = to_json({part, figure});
      const Recipe read = recipe_of(text, "file");
      EXPECT_EQ(read.session, part) << text;
      EXPECT_EQ(read.figure, figure) << text;
      EXPECT_THAT(read.unknown, IsEmpty());
    }
}

TEST(Recipe, KeepsWhatIsNoNumber) {
  Session session;
  session.tries = {{{1, 2}, {std::numeric_limits<double>::quiet_NaN(), 0.5}}};
  const Tries read = recipe_of(to_json(Recipe{session, {}}), "file").session.tries;
  ASSERT_EQ(read.size(), 1U);
  EXPECT_TRUE(std::isnan(read[0].probabilities.at(0)));
  EXPECT_EQ(read[0].probabilities.at(1), 0.5);
}

TEST(Recipe, IsReadOutOfPicturesInWhichItIsALineOfAscii) {
  const Recipe recipe{everything(), figure_for(Target::screen, true)};
  const std::vector<viz::Note> notes{recipe_note(recipe)};
  EXPECT_TRUE(std::ranges::all_of(notes[0].text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; }));
  const auto png = viz::encode_png({1, 1, {{1, 2, 3}}}, 1, notes);
  EXPECT_EQ(recipe_of({reinterpret_cast<const char*>(png.data()), png.size()}, "a").session, recipe.session);
  const auto fonts = viz::Fonts::load();
  EXPECT_EQ(recipe_of(viz::to_svg({10, 10, {}, {}}, *fonts, {.notes = notes}), "a").session, recipe.session);
}

TEST(Recipe, OfAFileThatHasNoneOrAnotherFormatIsASentence) {
  for (const std::string& text : {std::string(), std::string("GIF89a"), std::string("\0\0\0", 3),
                                  std::string("{}"), std::string(R"({"program": "0.2.0"})")})
    EXPECT_THAT(problem_of(text), StartsWith("figure.png: expected a session, or a picture"));
  EXPECT_THAT(problem_of("{"), HasSubstr("expected "));
  for (const int version : {0, 3, 5})
    EXPECT_THAT(problem_of(with("version", version)),
                AllOf(HasSubstr("written by another version of headscope"),
                      HasSubstr("format " + std::to_string(version))));
}

TEST(Recipe, ThatIsHostileIsOneSentenceWithTheKey) {
  std::vector<std::pair<std::string, json>> wrong{
      {"model", 1},
      {"precision", "f64"},
      {"prompt", json::object()},
      {"ids", json::array({1.5})},
      {"ids", json::array({4294967296})},
      {"bos", 1},
      {"edit", json::object()},
      {"edit", json::array({7})},
      {"second", 5},
      {"second-weights", "sha256:"},
      {"align", "x"},
      {"show", 3},
      {"view", "no-such-view"},
      {"beside", "../view"},
      {"weights", "sha256:" + std::string(64, 'g')},
      {"tries", json::array({1})},
      {"layer", -1},
      {"query", 1e300},
      {"font-size", 1e9},
      {"theme", true},
      {"over-lines", "{"},
      {"over-lines", std::string(PromptList::kMaxBytes + 1, 'x')},
      {"heads-pane", -1},
      {"figure", "disk"},
      {"size", "40000x3"},
      {"size", std::string(1 << 20, '1')},
      {"scale", 17},
      {"attention", "../a.safetensors"},
      {"attention", ".."},
  };
  for (const OptionSpec* option : all_options())
    wrong.emplace_back(option->name,
                       std::holds_alternative<TokenRef>(option->default_value) ? "7" : "nonsense");
  for (const auto& [key, value] : wrong) {
    const std::string problem = problem_of(with(key, value));
    EXPECT_THAT(problem, StartsWith("figure.png: expected " + key + " to be ")) << value;
    EXPECT_LT(problem.size(), 300U) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  }
  for (const auto& [ids, shares] : {std::pair{json{1, 2, 3}, json{-0.5, 1}},
                                    {json{1, -2, 3}, json{0.5, 1}},
                                    {json{1}, json{1, 1}},
                                    {json("x"), json{1}}})
    EXPECT_THAT(problem_of(with("tries", json::array({{{"ids", ids}, {"probabilities", shares}}}))),
                HasSubstr("tries"))
        << ids;
  EXPECT_THAT(problem_of(with("second-attention", "a/b", of_attention())), HasSubstr("second-attention"));
}

TEST(Recipe, NamesOptionsThatThereAreNot) {
  const Recipe read = recipe_of(with("out", "/etc/passwd"), "file");
  EXPECT_EQ(read.session, everything());
  EXPECT_THAT(read.unknown, ElementsAre("out"));
}

TEST(Command, SaysTheFigureAgain) {
  Session s;
  s.model = "tales";
  s.prompt.text = "it's";
  s.selection = {1, 2, -1, -1};
  EXPECT_EQ(command_of({s, Figure{}}), "headscope " + s.view + " --prompt $'it\\'s' --layer 1 --head 2");
  s.model = "org/x";
  s.prompt.text = "a\xff\n'";
  EXPECT_EQ(command_of({s, Figure{true, 900, 700, 0, {.scale = 1.5F, .page = Page::exact}}}),
            "headscope shot --view " + s.view +
                " --prompt $'a\\xff\\x0a\\'' --layer 1 --head 2 --size 900x700 --scale 1.5 --model org/x");
  s.model = "my model";
  s.prompt.text = "=ls";
  EXPECT_THAT(command_of({s, Figure{}}), HasSubstr("--prompt '=ls'"));
  EXPECT_THAT(command_of({s, Figure{}}), EndsWith(" --model FOLDER_OF_'my model'"));
  s.prompt.text = std::string("a\0b", 3);
  EXPECT_THAT(command_of({s, Figure{}}), StartsWith("headscope " + s.view + " --recipe THIS_FILE"));
}

TEST(Command, WhatBeginsWithADashIsNoOption) {
  Session s;
  for (const std::string text : {"-5 degrees", "--layer", "-"}) {
    s.prompt.text = text;
    EXPECT_THAT(arguments_of({s, Figure{}}), AllOf(Contains("--prompt=" + text), Not(Contains(text))));
  }
}

TEST(Command, LeavesOutWhatIsOff) {
  Session s = everything();
  EXPECT_THAT(arguments_of({s, Figure{}}), Not(Contains("--second")));
  s.second_on = true;
  const auto words = arguments_of({s, Figure{}});
  EXPECT_EQ(std::ranges::count(words, "--edit"), 1);
  EXPECT_THAT(words, AllOf(Contains("L0H1.z=0"), Contains("--second"), Contains("--align"), Contains("3,1,2"),
                           Not(Contains("--prompt")), Contains("--bos")));
  s.prompt.start_token = false;
  EXPECT_THAT(arguments_of({s, Figure{}}), Not(Contains("--no-bos")));
  s.adds_start_token = true;
  EXPECT_THAT(arguments_of({s, Figure{}}), Contains("--no-bos")) << "it would be added";
}

/// A file of weights with these bytes as a tensor.
std::string file_with(const std::string& bytes) {
  return testing::safetensors_bytes({{"x", "U8", {std::ssize(bytes)}, bytes}}, "");
}

TEST(WeightsHash, IsThatOfTheFile) {
  const TemporaryFolder folder;
  folder.write("model.safetensors", file_with(""));
  EXPECT_EQ(weights_hash(folder.path()),
            "sha256:de3515b86c9330cab0cf29a1ad2d50be0c65e65cbed9a53adeca032047e037fd");
}

TEST(WeightsHash, IsThatOfTheFileThatIsUsed) {
  const TemporaryFolder folder, whole;
  folder.write("model.safetensors", "cut off");
  for (const TemporaryFolder* each : {&folder, &whole})
    each->write("model.safetensors.index.json", R"({"weight_map": {"x": "1"}})"),
        each->write("1", file_with("abc"));
  EXPECT_EQ(weights_hash(folder.path()), weights_hash(whole.path()));
  const std::string stamp = weights_stamp(folder.path());
  EXPECT_NE(stamp, "");
  folder.write("model.safetensors", file_with("def"));
  const std::string other = weights_stamp(folder.path());
  EXPECT_NE(other, stamp);
  folder.write("config.json", "{}");
  EXPECT_NE(weights_stamp(folder.path()), other) << "the same weights make other numbers";
}

TEST(WeightsHash, IsTakenFromTheNameInACache) {
  if (system::is_wine()) GTEST_SKIP() << "Wine 8 has no symbolic links";
  const TemporaryFolder folder;
  const std::string name(64, '0');
  folder.write("blobs/" + name, file_with("abc"));
  std::filesystem::create_directories(folder.path() / "snapshots/1");
  system::make_link("../../blobs/" + name, folder.path() / "snapshots/1/model.safetensors");
  EXPECT_EQ(weights_hash(folder.path() / "snapshots/1"), "sha256:" + name);
}

TEST(WeightsHash, OfAModelInMemoryIsOfTheFilesThatItWasReadFrom) {
  const TemporaryFolder folder;
  const auto file = folder.write("model.safetensors", file_with("abc"));
  LoadedModel model;
  model.folder = folder.path();
  model.weights_stamp = weights_stamp(folder.path());
  EXPECT_EQ(weights_hash(model), weights_hash(folder.path()));
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds(1));
  EXPECT_THROW(weights_hash(model), model::LoadError) << "others may lie there now";
  std::filesystem::remove(file);
  EXPECT_THROW(weights_hash(model), model::LoadError);
}

TEST(WeightsHash, IsComputedOnceForASizeAndATime) {
  const TemporaryFolder folder;
  const auto file = folder.write("model.safetensors", file_with("abc"));
  // Whole seconds, which can be set again: MinGW's library knows no other times.
  const auto time = std::chrono::floor<std::chrono::seconds>(std::filesystem::last_write_time(file)) -
                    std::chrono::minutes(1);
  std::filesystem::last_write_time(file, time);
  const std::string hash = weights_hash(folder.path());
  folder.write("model.safetensors", file_with("def"));
  std::filesystem::last_write_time(file, time);
  EXPECT_EQ(weights_hash(folder.path()), hash) << "read again";
  std::filesystem::last_write_time(file, time + std::chrono::seconds(1));
  EXPECT_NE(weights_hash(folder.path()), hash);
}

TEST(WeightsHash, OfSeveralFilesIsOfAllOfThem) {
  const TemporaryFolder folder;
  folder.write("model.safetensors.index.json", R"({"weight_map": {"a": "2", "b": "1", "c": "2"}})");
  folder.write("1", file_with("abc"));
  folder.write("2", file_with("def"));
  const std::string before = weights_hash(folder.path());
  EXPECT_THAT(before, StartsWith("sha256:"));
  EXPECT_EQ(before.size(), 71U);
  folder.write("2", file_with("deg"));
  EXPECT_NE(weights_hash(folder.path()), before);
  folder.write("model.safetensors.index.json", "[]");
  EXPECT_THROW(weights_hash(folder.path()), model::LoadError);
  EXPECT_THROW(weights_hash(folder.path() / "none"), model::LoadError);
}

void set_option(Options& options, std::string_view name, std::string_view text) {
  const OptionSpec& option = *find_option(name);
  options.set(option, parse_option(option, text));
}

Settings non_default_settings() {
  Settings settings;
  settings.session.dark = true;
  settings.session.font_size = 17.5F;
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
  EXPECT_EQ(parse_settings(to_json(non_default_settings()), "s"), non_default_settings());
  EXPECT_EQ(parse_settings(to_json(Settings{}), "s"), Settings{});
}

TEST(Settings, WhatCannotBeUsedKeepsItsDefaultAndIsNamed) {
  const Settings loaded = parse_settings(
      R"({"theme": "blue", "font-size": 1e30, "window-width": -5, "window-height": 900, "heads-pane": "wide",
          "view": [1, 2, 999], "start-token": 1, "layer": -1, "head": 2.5, "query": -2, "key": 5,
          "beside": 7, "export-scale": 0, "export-folder": {}, "future": {"a": 1},
          "value-scale": "cubic", "temperature": 3, "count": "7"})",
      "/c/settings.json");
  Settings expected;
  expected.window_height = 900;
  expected.session.selection.key = 5;
  set_option(expected.session.options, "count", "7");
  expected.problem = loaded.problem;
  EXPECT_EQ(loaded, expected);
  for (const char* named :
       {"/c/settings.json", "theme", "font-size", "window-width", "heads-pane", "view", "start-token",
        "layer", "head", "query", "beside", "export-scale", "export-folder", "value-scale", "temperature"})
    EXPECT_THAT(loaded.problem, HasSubstr(named));
  for (const char* fine : {"key", "window-height", "future"})
    EXPECT_THAT(loaded.problem, Not(HasSubstr(fine)));
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
  const Settings loaded = parse_settings(
      R"({"recent-models": ["/b", [47, 255]], "recent-folders": "/c", "recent-sessions": [3]})", "s");
  EXPECT_THAT(loaded.recent_models, ElementsAre("/b", system::path_of("/\xff")));
  EXPECT_THAT(loaded.recent_folders, IsEmpty());
  EXPECT_THAT(loaded.problem, AllOf(HasSubstr("recent-folders"), HasSubstr("recent-sessions")));
  std::string many = "{\"recent-folders\": [";
  for (int i = 0; i < 30; ++i) many += "\"/f" + std::to_string(i) + "\", ";
  EXPECT_THAT(parse_settings(many + "\"/last\"]}", "s").recent_folders, IsEmpty());
}

TEST(Settings, BrokenTextGivesDefaultsAndAMessage) {
  const TemporaryFolder folder;
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1]"), std::string("null"), std::string(100000, '['),
        std::string("{\"theme\": \"dark\""), std::string("\xff\xfe"), std::string("{\"font-size\": 1e999}"),
        std::string("\0\0\0", 3)}) {
    Settings loaded = load_settings(folder.write("settings.json", text));
    EXPECT_THAT(loaded.problem, HasSubstr("settings.json")) << text.substr(0, 40);
    loaded.problem.clear();
    EXPECT_EQ(loaded, Settings{}) << text.substr(0, 40);
  }
}

TEST(Settings, AMissingFileIsNoError) {
  EXPECT_EQ(load_settings(TemporaryFolder().path() / "a/b/settings.json").problem, "");
}

}  // namespace
}  // namespace headscope::app::recipe_test
