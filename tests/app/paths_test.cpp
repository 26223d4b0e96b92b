// Paths as they are typed and found, folders as they are listed, and models in caches.
#include "app/run/sources/paths.h"
#include "app/ascii.h"
#include "app/desktop/folder_listing.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "system/machine.h"
#include "tests/app/desktop/listed_folders.h"
#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"
#include "viz/players/players.h"

namespace headscope::app::paths_test {
namespace {

TEST(Paths, AnEmptyVariableCountsAsUnset) {
  set_variable("HEADSCOPE_PATHS_TEST", "");
  EXPECT_EQ(process_environment()("HEADSCOPE_PATHS_TEST"), std::nullopt);
  set_variable("HEADSCOPE_PATHS_TEST", "x");
  EXPECT_EQ(process_environment()("HEADSCOPE_PATHS_TEST"), "x");
  unset_variable("HEADSCOPE_PATHS_TEST");
}

TEST(Paths, InstalledAssetsLieBesideTheProgramAndWin) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "share/headscope/models");
  EXPECT_EQ(assets_folder(folder.path() / "bin"), folder.path() / "share/headscope");
}

TEST(Paths, InTheBuildTreeTheSourcesAssetsAreUsed) {
  const TemporaryFolder folder;
  EXPECT_EQ(assets_folder(folder.path() / "bin"), headscope::testing::source_dir() / "assets");
}

TEST(Paths, ATypedPathIsExpanded) {
  const Environment home = environment({{"HOME", "/h/some body"}});
  EXPECT_EQ(expanded("~", home), "/h/some body");
  EXPECT_EQ(expanded("~/", home), "/h/some body");
  EXPECT_EQ(expanded("~/a/../b", home), "/h/some body/a/../b");
  EXPECT_EQ(expanded("~//a", home), "/h/some body/a");
  EXPECT_EQ(expanded("/a/~/b/", home), "/a/~/b/");
  EXPECT_EQ(expanded("a/b", home), std::filesystem::current_path() / "a/b");
  EXPECT_EQ(expanded("../~", home), std::filesystem::current_path() / "../~");
  EXPECT_EQ(expanded("\xff\n", home), std::filesystem::current_path() / "\xff\n");
  EXPECT_EQ(expanded("", home), "");
}

TEST(Paths, AHomeThatIsNotKnownStaysAsTyped) {
  EXPECT_EQ(expanded("~somebody/x", environment({{"HOME", "/h"}})), "~somebody/x");
  EXPECT_EQ(expanded("~", environment({})), "~");
  EXPECT_EQ(expanded("~/x", environment({})), "~/x");
}

namespace fs = std::filesystem;

constexpr const char* kGpt2 = R"({"model_type": "gpt2"})";

TEST(ModelDiscovery, TheCacheFollowsHuggingFacesVariables) {
  EXPECT_EQ(hugging_face_cache(environment({{"HF_HUB_CACHE", "/a"}, {"HF_HOME", "/b"}, {"HOME", "/h"}})),
            "/a");
  EXPECT_EQ(hugging_face_cache(environment({{"HF_HOME", "/b"}, {"HOME", "/h"}})), "/b/hub");
  EXPECT_EQ(hugging_face_cache(environment({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}})),
            "/x/huggingface/hub");
  EXPECT_EQ(hugging_face_cache(environment({{"HOME", "/h"}})), "/h/.cache/huggingface/hub");
  EXPECT_EQ(hugging_face_cache(environment({})), std::nullopt);
}

TEST(ModelDiscovery, FindsGpt2ModelsByName) {
  const TemporaryFolder cache;
  cache.write("models--openai-community--gpt2/snapshots/abc/config.json", kGpt2);
  cache.write("models--distilgpt2/snapshots/def/config.json", kGpt2);
  cache.write("models--google--bert/snapshots/1/config.json", R"({"model_type": "bert"})");
  cache.write("datasets--x--y/snapshots/1/config.json", kGpt2);
  EXPECT_THAT(discover_models(cache.path()),
              ElementsAre(DiscoveredModel{"distilgpt2", cache.path() / "models--distilgpt2/snapshots/def"},
                          DiscoveredModel{"openai-community/gpt2",
                                          cache.path() / "models--openai-community--gpt2/snapshots/abc"}));
}

TEST(ModelDiscovery, AConfigurationMayHoldPythonsNumbers) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "gpt2", "attn_pdrop": NaN, "limit": -Infinity})");
  EXPECT_TRUE(is_gpt2(folder.path()));
}

TEST(ModelDiscovery, PrefersTheSnapshotOfRefsMain) {
  const TemporaryFolder cache;
  const fs::path model = "models--a--b";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  cache.write(model / "snapshots/111/config.json", kGpt2);
  cache.write(model / "snapshots/222/config.json", kGpt2);
  cache.write(model / "snapshots/333/config.json", kGpt2);
  fs::last_write_time(cache.path() / model / "snapshots/111", old);
  fs::last_write_time(cache.path() / model / "snapshots/333", old);
  const auto snapshot = [&] { return discover_models(cache.path()).at(0).folder.filename(); };

  EXPECT_EQ(snapshot(), "222");  // the newest
  cache.write(model / "refs/main", "111\n");
  EXPECT_EQ(snapshot(), "111");
  cache.write(model / "refs/main", "../../../etc");  // outside the cache
  EXPECT_EQ(snapshot(), "222");
  cache.write(model / "refs/main", "111");
  cache.write(model / "snapshots/111/config.json", "{ broken");
  EXPECT_EQ(snapshot(), "222");
}

TEST(ModelDiscovery, BrokenCachesAreEmpty) {
  const TemporaryFolder cache;
  EXPECT_THAT(discover_models(cache.path() / "missing"), IsEmpty());
  cache.write("models--a--file", "no folder");
  cache.write("models--a--list/snapshots/1/config.json", "[1]");
  cache.write("models--a--number/snapshots/1/config.json", R"({"model_type": 2})");
  cache.write("models--a--empty/refs/main", "");
  fs::create_symlink("models--a--loop", cache.path() / "models--a--loop");
  fs::create_directories(cache.path() /
                         "models--a--none/snapshots/1/config.json");  // a folder instead of a file
  EXPECT_THAT(discover_models(cache.path()), IsEmpty());
}

TEST(ModelDiscovery, AModelIsFoundByTheLastPartOfItsName) {
  const std::vector<DiscoveredModel> models = {{"openai-community/gpt2", "/cache/gpt2"},
                                               {"a/b-gpt2", "/cache/b"}};
  EXPECT_EQ(model_named("openai-community/gpt2", models), "/cache/gpt2");
  EXPECT_EQ(model_named("gpt2", models), "/cache/gpt2");
  EXPECT_EQ(model_named("tales", models), bundled_model());
  for (const char* none : {"missing/folder", "", "t2"})
    EXPECT_EQ(model_named(none, models), std::nullopt) << none;
}

TEST(ModelDiscovery, AModelIsCalledByItsFolder) {
  const TemporaryFolder folder;
  const fs::path tales = folder.path() / "tales";
  const fs::path snapshot = folder.path() / "models--a--b-c/snapshots/0123";
  fs::create_directories(tales);
  fs::create_directories(snapshot);
  EXPECT_EQ(model_name(tales), "tales");
  EXPECT_EQ(model_name(tales / ""), "tales");
  EXPECT_EQ(model_name(tales / "."), "tales");
  EXPECT_EQ(model_name(snapshot), "a/b-c");
  EXPECT_EQ(model_name(snapshot / ""), "a/b-c");
  if (!system::is_windows()) {
    const fs::path link = folder.path() / "link";
    fs::create_directory_symlink(snapshot, link);
    for (const auto& named : {link, link / "", link / "."}) EXPECT_EQ(model_name(named), "a/b-c") << named;
  }
  EXPECT_EQ(model_name(folder.path() / "missing"), "missing");
}

std::vector<std::string> names(const FolderListing& listing) {
  std::vector<std::string> found;
  for (const FolderEntry& entry : listing.entries) found.push_back(entry.name);
  return found;
}

TEST(FolderListing, AFigureIsListedWithTheCommandThatMakesIt) {
  const TemporaryFolder folder;
  Recipe recipe;
  recipe.session.prompt.text = "A robot";
  recipe.session.view = "heatmap";
  recipe.figure.emplace();
  viz::Scene scene;
  scene.width = scene.height = 40;
  const auto fonts = viz::Fonts::load();
  folder.write("with.SVG", viz::to_svg(scene, *fonts, {.notes = {recipe_note(recipe)}}));
  folder.write("without.svg", viz::to_svg(scene, *fonts));
  folder.write("cut.png", "\x89PNG\r\n\x1a\n");
  const FolderListing listing = list_folder(folder.path());
  ASSERT_THAT(names(listing), ElementsAre("with.SVG")) << "pictures without a recipe cannot be opened";
  EXPECT_EQ(listing.entries[0].kind, FolderEntry::Kind::figure);
  EXPECT_EQ(listing.entries[0].about, command_of(recipe));
  EXPECT_THAT(listing.entries[0].about, HasSubstr("headscope heatmap"));
}

TEST(FolderListing, ShowsTheFoldersAndMarksModels) {
  const TemporaryFolder folder;
  folder.write("b model/config.json", kModel);
  folder.write("A folder/readme", "");
  folder.write("other model/config.json", R"({"model_type": "bert"})");
  folder.write(".hidden/config.json", kModel);
  folder.write("a file", "");
  const FolderListing listing = list_folder(folder.path());
  EXPECT_EQ(listing.folder, fs::canonical(folder.path()));
  EXPECT_FALSE(listing.is_model);
  EXPECT_EQ(listing.problem, "");
  EXPECT_THAT(listing.entries,
              ElementsAre(FolderEntry{"A folder"}, FolderEntry{"b model", FolderEntry::Kind::model},
                          FolderEntry{"other model"}));
  EXPECT_TRUE(list_folder(folder.path() / "b model").is_model);
}

TEST(FolderListing, ResolvesLinksAndPassesOverBrokenOnes) {
  const TemporaryFolder folder;
  folder.write("real/model/config.json", kModel);
  fs::create_symlink(folder.path() / "real/model", folder.path() / "link");
  fs::create_symlink("nowhere", folder.path() / "broken");
  fs::create_symlink("circle", folder.path() / "circle");
  EXPECT_THAT(list_folder(folder.path()).entries,
              ElementsAre(FolderEntry{"link", FolderEntry::Kind::model}, FolderEntry{"real"}));
  EXPECT_EQ(list_folder(folder.path() / "link/..").folder, fs::canonical(folder.path() / "real"));
  expect_problem(folder.path() / "circle", "cannot be read: ");
  expect_problem(folder.path() / "broken", "There is no folder");
}

TEST(FolderListing, SaysWhatIsWrongInOneSentence) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  expect_problem("", "Type the path of a folder");
  expect_problem("models/tales", "models/tales is not an absolute path");
  expect_problem("~somebody", "~somebody is not an absolute path");
  expect_problem(folder.path() / "gone", "There is no folder " + (folder.path() / "gone").string());
  for (const char* name : {"file", "file/below"})
    expect_problem(folder.path() / name, "is a file, not a folder");
}

TEST(NaturalOrder, TakesNumbersByValueAndLettersOfBothKindsAlike) {
  const auto ordered = split(
      ",1,1a,2,007,10,99999999999999999999998,99999999999999999999999,a,a0,a00,a1,a1b,A2,a10b2,a10b10,B,b,"
      "\xc3\xa4",
      ",");
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t j = 0; j < ordered.size(); ++j)
      EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " and " << ordered[j];
}

}  // namespace
}  // namespace headscope::app::paths_test
