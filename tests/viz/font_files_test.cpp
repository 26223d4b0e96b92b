#include "viz/text/font_files.h"

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::viz {
namespace {

namespace fs = std::filesystem;
using headscope::testing::TemporaryFolder;

/// The names of the files of a style, preferred ones first.
std::vector<std::string> names(const FontFiles& found, std::size_t style) {
  std::vector<std::string> names;
  for (const std::uint16_t file : found.order[style]) names.push_back(found.files[file].filename().string());
  return names;
}

TEST(FontFiles, OfMacos) {
  const TemporaryFolder system;
  for (const char* name : {"Menlo.ttc", "Helvetica.ttc", "Apple Symbols.ttf", "Supplemental/Arial.ttf",
                           "Supplemental/Arial Bold.ttf", "Supplemental/Arial Unicode.ttf"})
    system.write(name, "");
  const FontFiles found = find_font_files(std::span(&system.path(), 1));
  EXPECT_THAT(names(found, 0), ElementsAre("Arial.ttf", "Arial Unicode.ttf", "Apple Symbols.ttf"));
  EXPECT_THAT(names(found, 2),
              ElementsAre("Arial Bold.ttf", "Arial Unicode.ttf", "Apple Symbols.ttf", "Arial.ttf"));
  EXPECT_THAT(names(found, 3),
              ElementsAre("Menlo.ttc", "Arial Unicode.ttf", "Apple Symbols.ttf", "Arial.ttf"));
}

}  // namespace
}  // namespace headscope::viz
