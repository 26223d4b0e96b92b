// Rules for the sources: which folder may include what, which calls there are none of, and how long a file
// may be.

#include <ranges>
#include <regex>

#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::architecture_test {
namespace {

constexpr std::ptrdiff_t kLongestFile = 600;  // lines

/// What the files of a folder, or of those whose path begins so, may include besides their own folder and the
/// C++ library: beginnings of paths. The longest row that fits counts, so arrows go one way.
const std::map<std::string, std::vector<std::string>> kMayInclude{
    {"system/", {}},
    {"model/", {"system/", "nlohmann/", "Eigen/", "utf8proc.h", "immintrin.h", "arm_neon.h"}},
    {"viz/", {"system/", "cairo", "fontconfig/", "stb_", "utf8proc.h", "zlib.h"}},
    {"viz/players/imgui_", {"viz/", "system/", "imgui"}},
    {"app/", {"viz/"}},  // whose own headers all folders of app/ may include
    {"app/run/", {"model/", "viz/", "system/", "nlohmann/", "Eigen/"}},
    {"app/hub/", {"app/run/", "model/", "system/", "nlohmann/", "curl/"}},
    {"app/text/", {"model/", "viz/", "system/", "nlohmann/", "utf8proc.h"}},
    {"app/views/", {"app/run/", "app/text/", "model/", "viz/", "system/", "nlohmann/", "Eigen/"}},
    {"app/recipe/", {"app/views/", "app/run/", "app/text/", "model/", "viz/", "system/", "nlohmann/"}},
    {"app/tour/", {"app/views/", "app/run/", "model/", "system/"}},
    {"app/desktop/", {"app/recipe/", "app/views/", "app/run/", "app/text/", "model/", "viz/", "system/"}},
    {"app/window/", {"app/", "model/", "viz/", "system/", "imgui.h", "backends/imgui_", "GLFW/", "GL/"}},
    {"app/cli/", {"app/", "model/", "viz/", "system/", "nlohmann/", "CLI/", "mimalloc"}},
};

/// "attention" for "app/views/attention/heatmap.cpp"; empty for a file in app/views itself or elsewhere.
std::string view_group(const std::string& path) {
  static const std::regex group("app/views/(\\w+)/.*");
  std::smatch found;
  return std::regex_match(path, found, group) ? found[1].str() : "";
}

bool may_include(const std::string& file, const std::string& header) {
  static const std::regex ours("(system|model|viz|app|tests)/.*"), shared_in_app("app/\\w+\\.h"),
      body_in_system("system/\\w+\\.cpp");
  if (!std::regex_match(header, ours) &&
      (header.find_first_of("./") == header.npos || std::regex_match(file, body_in_system)))
    return true;
  if (file.starts_with("app/") && std::regex_match(header, shared_in_app)) return true;
  if (file.starts_with("app/window/") && header.starts_with("app/cli/")) return false;
  if (const std::string from = view_group(file), to = view_group(header);
      !from.empty() && !to.empty() && from != to && to != "parts")
    return false;
  const auto row = std::ranges::find_if(kMayInclude | std::views::reverse,
                                        [&](const auto& each) { return file.starts_with(each.first); });
  const auto& [folder, others] = *row;
  return (header.starts_with(folder) && folder != "app/") ||
         std::ranges::any_of(others, [&](const auto& prefix) { return header.starts_with(prefix); });
}

/// One sentence for each broken rule in a source of the program.
std::vector<std::string> broken_rules(const std::string& file, const std::string& text) {
  static const std::regex include(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"])re");
  // A shell interprets its argument as commands, and Dear ImGui's Text interprets a token's text as a format.
  static const std::regex forbidden(
      R"re((?:^|[^\w.>])(system|popen|wordexp|exec[lv]\w*|v?fork|ImGui::(?:Text|TextColored|TextDisabled|TextWrapped|LabelText|BulletText|SetTooltip))[ \t]*\()re");
  std::vector<std::string> faults;
  if (std::ranges::count(text, '\n') > kLongestFile) faults.push_back(file + " is too long");
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it)
    if (!may_include(file, (*it)[1])) faults.push_back(file + " includes " + (*it)[1].str());
  if (std::smatch call; std::regex_search(text, call, forbidden))
    faults.push_back(file + " calls " + call[1].str());
  return faults;
}

TEST(Architecture, TheSourcesKeepTheRules) {
  const std::filesystem::path root = headscope::testing::source_dir();
  int files = 0;
  for (const char* folder : {"system", "model", "viz", "app"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      EXPECT_THAT(broken_rules(entry.path().lexically_relative(root).generic_string(), text.str()),
                  IsEmpty());
      ++files;
    }
  }
  EXPECT_GT(files, 100) << "looked in " << root;
}

}  // namespace
}  // namespace headscope::architecture_test
