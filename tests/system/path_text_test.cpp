#include "system/path_text.h"

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::path_text_test {
namespace {

namespace fs = std::filesystem;

TEST(PathText, IsThePathsNameInEveryScript) {
  for (const std::string& name :
       std::vector<std::string>{"", "a.txt", "Zo\u00eb", "\u4e2d\u6587", "\U0001f600.png"})
    EXPECT_EQ(text_of(path_of(name)), name);
  EXPECT_EQ(path_of("a") / path_of("\u00e9"), fs::path("a") / fs::path(u8"\u00e9"));
}

TEST(FileName, HasNoFolder) {
  for (const std::string& name : std::vector<std::string>{"a", "a.safetensors", ".a", "Zo\u00eb"})
    EXPECT_TRUE(is_file_name(name)) << name;
  for (const std::string& name : std::vector<std::string>{"", ".", "..", "a/b", "/a", "../a", {"a\0b", 3}})
    EXPECT_FALSE(is_file_name(name)) << name;
}

}  // namespace
}  // namespace headscope::system::path_text_test
