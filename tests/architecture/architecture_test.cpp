// The rules of the house, read off the sources: which folder may include what, and how long a file may grow.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kLongestFile = 700;  // lines

/// Sources by their path from the repository's root ("viz/scene.h").
using Sources = std::map<std::string, std::string>;

std::vector<std::string> included_paths(const std::string& text) {
  static const std::regex directive(R"re(^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"])re",
                                    std::regex::multiline);
  std::vector<std::string> paths;
  for (std::sregex_iterator it(text.begin(), text.end(), directive), end; it != end; ++it)
    paths.push_back((*it)[1]);
  return paths;
}

bool is_imgui(std::string_view include) {
  return include.find("imgui") != std::string_view::npos;
}

bool is_glfw(std::string_view include) {
  return include.starts_with("GLFW/") || include.ends_with("imgui_impl_glfw.h");
}

bool may_see_imgui(std::string_view file) {
  return file.starts_with("viz/imgui_") || file.starts_with("app/") || file.starts_with("tests/");
}

/// What is wrong with one include, empty when nothing is.
std::string include_fault(std::string_view file, std::string_view include) {
  const bool in_model = file.starts_with("model/"), in_viz = file.starts_with("viz/");
  if (in_model && (include.starts_with("viz/") || include.starts_with("app/")))
    return "model/ knows neither pictures nor the program";
  if (in_viz && (include.starts_with("model/") || include.starts_with("app/")))
    return "viz/ knows neither the model nor the program";
  if (!file.starts_with("tests/") && (include.starts_with("tests/") || include == "dlfcn.h"))
    return "what developers hold times against stays in tests/bench";
  if (is_glfw(include) && (in_model || in_viz)) return "only app/ sees GLFW";
  if (is_imgui(include) && !may_see_imgui(file)) return "only viz/imgui_* and app/ see ImGui";
  return {};
}

/// One sentence for each broken rule.
std::vector<std::string> broken_rules(const Sources& sources) {
  std::vector<std::string> faults, files_with_glfw;
  for (const auto& [file, text] : sources) {
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (lines > kLongestFile)
      faults.push_back(file + " has " + std::to_string(lines) + " lines: it holds more than one subject");
    const std::vector<std::string> includes = included_paths(text);
    for (const std::string& include : includes)
      if (const std::string fault = include_fault(file, include); !fault.empty())
        faults.push_back(file + " includes " + include + ": " + fault);
    if (file.starts_with("app/") && std::any_of(includes.begin(), includes.end(), is_glfw))
      files_with_glfw.push_back(file);
  }
  if (files_with_glfw.size() > 1) {
    std::string fault = "one file of app/ sees GLFW, not";
    for (const std::string& file : files_with_glfw) fault += " " + file;
    faults.push_back(fault);
  }
  return faults;
}

Sources read_sources(const std::filesystem::path& root) {
  Sources sources;
  for (const char* folder : {"model", "viz", "app", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      sources[entry.path().lexically_relative(root).generic_string()] = text.str();
    }
  }
  return sources;
}

TEST(Architecture, TheSourcesKeepTheRules) {
  const Sources sources = read_sources(HEADSCOPE_SOURCE_DIR);
  ASSERT_TRUE(sources.contains("model/transformer.h")) << "looked in " << HEADSCOPE_SOURCE_DIR;
  EXPECT_THAT(broken_rules(sources), IsEmpty());
}

TEST(ArchitectureRules, ModelAndVizNeverIncludeEachOther) {
  EXPECT_THAT(broken_rules({{"model/run.cpp", "#include \"viz/scene.h\"\n"}}),
              ElementsAre(HasSubstr("model/run.cpp includes viz/scene.h")));
  EXPECT_THAT(broken_rules({{"viz/scene.cpp", "#include <vector>\n  #  include \"model/run.h\"\n"}}),
              ElementsAre(HasSubstr("viz/scene.cpp includes model/run.h")));
  EXPECT_THAT(broken_rules({{"app/view.cpp", "#include \"model/run.h\"\n#include \"viz/scene.h\"\n"}}),
              IsEmpty());
}

TEST(ArchitectureRules, NeitherIncludesTheProgram) {
  EXPECT_THAT(broken_rules({{"model/run.h", "#include \"app/state.h\"\n"}}),
              ElementsAre(HasSubstr("app/state.h")));
  EXPECT_THAT(broken_rules({{"viz/text.h", "#include \"app/state.h\"\n"}}),
              ElementsAre(HasSubstr("app/state.h")));
}

TEST(ArchitectureRules, ImGuiStaysInItsPlayerAndTheProgram) {
  EXPECT_THAT(broken_rules({{"viz/scene.cpp", "#include <imgui.h>\n"}}), ElementsAre(HasSubstr("see ImGui")));
  EXPECT_THAT(broken_rules({{"viz/svg.cpp", "#include \"viz/imgui_player.h\"\n"}}),
              ElementsAre(HasSubstr("see ImGui")));
  EXPECT_THAT(broken_rules({{"model/run.cpp", "#include <imgui.h>\n"}}), ElementsAre(HasSubstr("see ImGui")));
  EXPECT_THAT(broken_rules({{"viz/imgui_player.cpp", "#include <imgui.h>\n"},
                            {"app/panel.cpp", "#include <imgui.h>\n"}}),
              IsEmpty());
}

TEST(ArchitectureRules, YardsticksStayWithTheTests) {
  EXPECT_THAT(broken_rules({{"app/bench.cpp", "#include \"tests/bench/ratios.h\"\n"}}),
              ElementsAre(HasSubstr("tests/bench")));
  EXPECT_THAT(broken_rules({{"app/peers.cpp", "#include <dlfcn.h>\n"}}),
              ElementsAre(HasSubstr("tests/bench")));
  EXPECT_THAT(broken_rules({{"tests/bench/peers.cpp", "#include <dlfcn.h>\n#include \"tests/bench/a.h\"\n"}}),
              IsEmpty());
}

TEST(ArchitectureRules, OneFileSeesGlfw) {
  EXPECT_THAT(
      broken_rules({{"app/window.cpp", "#include <GLFW/glfw3.h>\n#include <backends/imgui_impl_glfw.h>\n"}}),
      IsEmpty());
  EXPECT_THAT(broken_rules({{"app/window.cpp", "#include <GLFW/glfw3.h>\n"},
                            {"app/input.cpp", "#include <GLFW/glfw3.h>\n"}}),
              ElementsAre(HasSubstr("app/input.cpp app/window.cpp")));
  EXPECT_THAT(broken_rules({{"viz/imgui_player.cpp", "#include <GLFW/glfw3.h>\n"}}),
              ElementsAre(HasSubstr("GLFW")));
}

TEST(ArchitectureRules, FilesStayShort) {
  EXPECT_THAT(broken_rules({{"viz/scene.cpp", std::string(kLongestFile, '\n')}}), IsEmpty());
  EXPECT_THAT(broken_rules({{"viz/scene.cpp", std::string(kLongestFile + 1, '\n')}}),
              ElementsAre(HasSubstr("viz/scene.cpp has 701 lines")));
}

}  // namespace
}  // namespace headscope
