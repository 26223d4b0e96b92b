#include "viz/text/fontconfig.h"

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "viz/text/text.h"

namespace headscope::viz::fontconfig_test {
namespace {

namespace fs = std::filesystem;
using headscope::testing::TemporaryFolder;

/// A system with its own fonts, and a configuration that lists only these.
class Fontconfig : public ::testing::Test {
 protected:
  TemporaryFolder system_;
  fs::path configuration_ =
      system_.write("fonts.conf", "<?xml version='1.0'?><fontconfig><dir>" +
                                      (system_.path() / "fonts").string() + "</dir><cachedir>" +
                                      (system_.path() / "cache").string() + "</cachedir></fontconfig>");

  /// Installs the font file of this machine for a style under another name.
  fs::path install(FontStyle style, const char* name) const {
    static const auto fonts = Fonts::load();
    fs::create_directories(system_.path() / "fonts");
    const fs::path file = system_.path() / "fonts" / name;
    fs::copy_file(fonts->file(style), file);
    return file;
  }
  FontFiles find() const { return find_font_files_by_fontconfig(configuration_); }
};

TEST_F(Fontconfig, FindsFontsByWhatTheyAreNotByTheirNames) {
  const fs::path sans = install(FontStyle::regular, "face-a.otf");
  const fs::path folder = system_.path() / "fonts";
  EXPECT_THAT(find_font_files(std::span(&folder, 1)).files, IsEmpty());
  const FontFiles found = find();
  EXPECT_THAT(found.files, ElementsAre(sans));
  EXPECT_THAT(found.order, Each(ElementsAre(0)));
}

TEST_F(Fontconfig, KnownNamesAreFoundInAllFoldersBelow) {
  const fs::path folder = system_.path() / "fonts", deep = folder / "a/\u00e9t\u00e9";
  fs::create_directories(deep / "DejaVuSans.ttf");  // a folder is no font
  const fs::path mono = install(FontStyle::mono, "a/\u00e9t\u00e9/DejaVuSansMono.ttf");
  EXPECT_THAT(find_font_files(std::span(&folder, 1)).files, ElementsAre(mono));
  EXPECT_THAT(find_font_files(std::span(&mono, 1)).files, IsEmpty());
}

TEST_F(Fontconfig, FallsBackOnFacesWithOtherCharacters) {
  const fs::path sans = install(FontStyle::regular, "face-a.otf");
  const fs::path mono = install(FontStyle::mono, "face-b.ttf");
  const FontFiles found = find();
  EXPECT_THAT(found.files, ::testing::UnorderedElementsAre(sans, mono));
  for (const auto& order : found.order) EXPECT_GE(order.size(), 1U);
}

TEST_F(Fontconfig, PassesOverWhatIsNoFont) {
  system_.write("fonts/broken.ttf", std::string(4096, 'x'));
  system_.write("fonts/empty.otf", "");
  EXPECT_THAT(find().files, IsEmpty());
  const fs::path sans = install(FontStyle::regular, "face-a.otf");
  EXPECT_THAT(find().files, ElementsAre(sans));
}

TEST_F(Fontconfig, WithoutFontsOrConfigurationThereIsNothing) {
  EXPECT_THAT(find().files, IsEmpty());
  system_.write("fonts.conf", "this is no XML");
  EXPECT_THAT(find().files, IsEmpty());
  EXPECT_THAT(find_font_files_by_fontconfig(system_.path() / "gone.conf").files, IsEmpty());
}

TEST(FontconfigHere, FindsOnlyFilesThatAreThere) {
  for (const fs::path& file : find_font_files_by_fontconfig().files) EXPECT_TRUE(fs::exists(file)) << file;
}

}  // namespace
}  // namespace headscope::viz::fontconfig_test
