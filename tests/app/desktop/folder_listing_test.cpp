#include "app/desktop/folder_listing.h"

#include "app/ascii.h"
#include "app/recipe/recipe.h"
#include "tests/app/desktop/listed_folders.h"
#include "viz/players/players.h"

namespace headscope::app::folder_listing_test {
namespace {

namespace fs = std::filesystem;

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
}  // namespace headscope::app::folder_listing_test
