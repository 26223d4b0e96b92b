// Rules for the sources: which folder may include what, and how long a file may be.

#include <fstream>
#include <regex>

#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope {
namespace {

constexpr std::size_t kLongestFile = 600;  // lines

/// The sources by path, relative to the repository's root ("viz/scene/scene.h").
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

bool is_network(std::string_view include) {
  return include.starts_with("curl/");
}

/// Whether a header is the operating system's own: of POSIX, Linux, macOS or Windows.
bool is_system_header(std::string_view include) {
  static const std::regex header(
      R"re((sys|linux|asm|net|netinet|arpa|bits|mach|mach-o|objc|CommonCrypto|CoreFoundation|AppKit)/.*|csignal|(aio|dirent|dlfcn|err|fcntl|fnmatch|ftw|glob|grp|langinfo|libgen|netdb|poll|pthread|pty|pwd|sched|semaphore|signal|spawn|strings|syslog|termios|unistd|utime|wordexp|conio|direct|io|process|tchar)\.h|(win|shl|shell|aclapi|bcrypt|consoleapi|dbghelp|fileapi|handleapi|initguid|knownfolders|memoryapi|namedpipeapi|objbase|processthreadsapi|psapi|synchapi|tlhelp32|versionhelpers).*\.h)re",
      std::regex::icase);
  return std::regex_match(include.begin(), include.end(), header);
}

/// Whether a file is a body for one system: names say which.
bool is_body_of_one_system(std::string_view file) {
  return std::ranges::any_of(
      std::array{"_generic.cpp", "_linux.cpp", "_macos.cpp", "_posix.cpp", "_windows.cpp"},
      [&](std::string_view end) { return file.ends_with(end); });
}

/// One sentence for each file that uses what only Linux has, other than the bodies for Linux.
std::vector<std::string> linux_outside_its_bodies(const Sources& sources) {
  static const std::regex comment(R"re(//[^\n]*)re");
  static const std::regex only_linux(
      R"re("/(proc|sys)/|\b(O_TMPFILE|MAP_POPULATE|MADV_HUGEPAGE|__linux__|_GNU_SOURCE|CPU_COUNT)\b|\b(memfd_create|fallocate|sched_[gs]etaffinity|prctl|epoll_\w+|inotify_\w+|eventfd|sendfile|copy_file_range|renameat2|getrandom)[ \t]*\(|#[ \t]*include[ \t]*<(linux/|sys/(prctl|epoll|inotify|eventfd|sendfile|sysinfo|random)\.h|malloc\.h))re");
  std::vector<std::string> faults;
  for (const auto& [file, text] : sources) {
    if (file.starts_with("tests/") || (file.starts_with("system/") && file.ends_with("_linux.cpp"))) continue;
    const std::string code = std::regex_replace(text, comment, "");
    if (std::smatch found; std::regex_search(code, found, only_linux))
      faults.push_back(file + " has " + found.str() + ": only system/*_linux.cpp know Linux");
  }
  return faults;
}

bool may_see_imgui(std::string_view file) {
  if (file.starts_with("app/desktop/") || file.starts_with("app/recipe/")) return false;
  return file.starts_with("viz/players/imgui_") || file.starts_with("app/") || file.starts_with("tests/");
}

/// "attention" for "app/views/attention/heatmap.cpp"; empty for a file in app/views itself or elsewhere.
std::string_view view_group(std::string_view path) {
  constexpr std::string_view kViews = "app/views/";
  if (!path.starts_with(kViews)) return {};
  path.remove_prefix(kViews.size());
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// The folders of app/ whose headers each folder may include, besides its own. There are no cycles.
const std::map<std::string_view, std::vector<std::string_view>> kBelow{
    {"run", {}},
    {"hub", {"run"}},
    {"text", {}},
    {"views", {"run"}},
    {"desktop", {"recipe", "views", "run", "text"}},
    {"recipe", {"views", "run", "text"}},
    {"tour", {"views", "run"}},
    {"window", {"desktop", "hub", "recipe", "tour", "views", "run", "text"}},
    {"cli", {"window", "hub", "desktop", "recipe", "views", "run", "text"}},
};

/// "run" for "app/run/memo.h"; empty for a file in app/ itself or elsewhere.
std::string_view folder_in_app(std::string_view path) {
  if (!path.starts_with("app/")) return {};
  path.remove_prefix(4);
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// The error in an include within app/, judged by folders; empty: none.
std::string app_include_fault(std::string_view file, std::string_view include) {
  const std::string_view from = folder_in_app(file), to = folder_in_app(include);
  if (!include.starts_with("app/") || !file.starts_with("app/")) return {};
  if (file == "app/event.h") return "it is below all the rest of the program";
  if (from == "views" && file != "app/views/export.cpp" &&
      (include == "app/run/worker.h" || include == "app/run/memo.h" || include == "app/run/answers.h"))
    return "a view asks through its context";
  if (const std::string_view own = view_group(file), other = view_group(include);
      from == "views" && !other.empty() && other != own && other != "parts")
    return "views share what is in app/views/parts";
  if (to.empty() || to == from) return {};
  const auto below = kBelow.find(from);
  const bool may = below != kBelow.end() &&
                   std::find(below->second.begin(), below->second.end(), to) != below->second.end();
  return may ? std::string() : "app/" + std::string(from) + " stands below app/" + std::string(to);
}

/// The error in one include; empty: none.
std::string include_fault(std::string_view file, std::string_view include) {
  const bool in_model = file.starts_with("model/"), in_viz = file.starts_with("viz/"),
             in_system = file.starts_with("system/"), in_tests = file.starts_with("tests/");
  if (in_system &&
      (include.starts_with("model/") || include.starts_with("viz/") || include.starts_with("app/")))
    return "system/ is below all the rest of the program";
  if (!in_tests && is_system_header(include) && !(in_system && is_body_of_one_system(file)))
    return "only the bodies of system/ for one system or several see the operating system";
  if (in_model && (include.starts_with("viz/") || include.starts_with("app/")))
    return "model/ knows neither pictures nor the program";
  if (in_viz && (include.starts_with("model/") || include.starts_with("app/")))
    return "viz/ knows neither the model nor the program";
  if (!in_tests && include.starts_with("tests/"))
    return "what developers hold times against stays in tests/bench";
  if (is_network(include) && !file.starts_with("app/hub/")) return "only app/hub speaks to the network";
  if (is_glfw(include) && (in_model || in_viz || in_system)) return "only app/ sees GLFW";
  if (is_imgui(include) && !may_see_imgui(file)) return "only viz/players/imgui_* and app/ see ImGui";
  return app_include_fault(file, include);
}

/// The string literals of a source, without comments and character literals; raw strings completely.
std::vector<std::string> string_literals(const std::string& text) {
  static const std::regex token(
      R"re(//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|'(?:[^'\\\n]|\\.)+'|"((?:[^"\\\n]|\\.)*)")re");
  std::vector<std::string> literals;
  for (std::sregex_iterator it(text.begin(), text.end(), token), end; it != end; ++it)
    if ((*it)[1].matched) literals.push_back((*it)[1]);
  return literals;
}

/// The ids and option names declared in the views' files, each with its file.
std::map<std::string, std::string> names_of_views(const Sources& sources) {
  static const std::regex declared(
      R"re((?:(?:\bview\.id|\.name) = |\b(?:make_view\(\s*Group::\w+,|(?:make|switch|choice|number|gesture|first_row|pane)_option(?:<[\w:<>]+>)?\()\s*)"([^"]+)")re");
  std::map<std::string, std::string> names;
  for (const auto& [file, text] : sources) {
    if (!file.starts_with("app/views/") || !file.ends_with(".cpp")) continue;
    for (std::sregex_iterator it(text.begin(), text.end(), declared), end; it != end; ++it)
      names[(*it)[1]] = file;
  }
  return names;
}

/// Files in which the name of a view or option has another meaning.
const std::set<std::pair<std::string, std::string>>& other_meanings() {
  static const std::set<std::pair<std::string, std::string>> words{
      {"app/cli/commands/commands.cpp", "tokens"},  // commands
      {"app/cli/commands/commands.cpp", "lens"},
      {"app/cli/commands/commands.cpp", "saliency"},
      {"app/cli/commands/commands.cpp", "sweep"},
      {"app/cli/commands/commands.cpp", "metrics"},
      {"app/cli/commands/commands.cpp", "search"},
      {"app/cli/commands/commands.cpp", "composition"},
      {"app/cli/commands/commands.cpp", "circuit"},
      {"app/cli/commands/lens.cpp", "lens"},  // whose means these are
      {"app/cli/commands/sweep.cpp", "sweep"},
      {"app/run/analyses/measured_cells.cpp", "mlp"},  // members of JSON
      {"app/run/edits/kinds/values.h", "positions"},   // a mean over them
      {"app/views/parts/list_means.cpp", "count"},     // headings
      {"app/views/parts/list_means.cpp", "cell"},
      {"app/views/output/sweep_means.cpp", "cell"},  // of a grid
      {"app/cli/commands/how.cpp", "tokens"},
      {"app/cli/commands/list_means.cpp", "cell"},
      {"app/cli/arguments/list_part.cpp", "count"},
      {"app/cli/commands/list_means.cpp", "merge"},       // the option
      {"app/cli/arguments/command_syntax.cpp", "query"},  // the chosen position
      {"app/cli/commands/recipes.cpp", "query"},
      {"app/recipe/command.cpp", "query"},
      {"app/cli/commands/plot.cpp", "query"},
      {"app/cli/commands/animate.cpp", "query"},     // the queries to go through
      {"app/cli/commands/metrics.cpp", "merge"},     // parts that are merged
      {"app/cli/commands/bench.cpp", "tokens"},      // its prompt lengths, keys of JSON, headings
      {"app/cli/commands/sweep.cpp", "sweep-over"},  // same meaning as the view's
      {"app/cli/commands/generate.cpp", "tokens"},
      {"app/cli/commands/generate.cpp", "temperature"},  // 0 is allowed
      {"app/cli/commands/generate.cpp", "top-k"},        // without limits
      {"app/cli/commands/generate.cpp", "top-p"},
      {"app/cli/commands/generate.cpp", "seed"},
      {"app/cli/commands/search.cpp", "heads"},     // the heads to search
      {"app/cli/commands/search.cpp", "neurons"},   // the neurons to search
      {"app/views/attention/search.cpp", "query"},  // a heading
      {"app/views/block/top_examples.cpp", "query"},
      {"app/views/block/top_examples.cpp", "neurons"},          // a value of its option
      {"app/views/output/attribution.cpp", "neurons"},          // likewise
      {"app/views/output/attribution_picture.cpp", "neurons"},  // rows of its list
      {"app/cli/commands/sweep.cpp", "metric"},  // what is measured of a prediction, and the flag for it
      {"app/cli/commands/attribute.cpp", "metric"},
      {"app/cli/commands/measured_tokens.h", "metric"},
      {"app/views/output/lens_blocks.cpp", "metric"},
      {"app/views/output/saliency.cpp", "metric"},
      {"app/views/output/sweep_question.cpp", "metric"},
      {"app/views/output/sweep_question.cpp", "heads"},  // a word of a sentence
      {"app/cli/commands/generate.cpp", "sampling"},     // how tokens were drawn, a key of JSON
      {"app/cli/commands/saliency.cpp", "metric"},
      {"app/run/analyses/saliency.h", "saliency"},  // text for the status line
      {"app/run/analyses/sweep.h", "sweep"},        // text for the status line
      {"app/run/analyses/circuit.h", "circuit"},
      {"app/cli/commands/circuit.cpp", "metric"},
      {"app/views/output/circuit_graph.cpp", "metric"},       // words of sentences
      {"app/views/output/circuit_question.cpp", "metric"},    // the flag of its option
      {"app/views/output/circuit_layout.cpp", "embedding"},   // a part of the model
      {"app/views/output/circuit_options.h", "attribution"},  // values of its option
      {"app/views/output/circuit_options.h", "flow"},
      {"app/views/output/sweep_options.h", "heads"},  // values of its option
      {"app/views/output/sweep_options.h", "senders"},
      {"app/views/output/sweep_options.h", "neurons"},
      {"app/cli/commands/attribute.cpp", "heads"},  // keys of JSON
      {"app/cli/commands/attribute.cpp", "mlp"},
      {"app/cli/commands/attribute_neurons.cpp", "neurons"},
      {"app/cli/commands/sweep.cpp", "neurons"},
      {"app/cli/commands/composition.cpp", "composition"},
      {"app/cli/commands/score.cpp", "mlp"},
      {"app/cli/commands/score.cpp", "query"},
      {"app/views/attention/score_sources.cpp", "heads"},  // values of its options
      {"app/views/attention/score_sources.cpp", "query"},
      {"app/cli/arguments/measurement.cpp", "heads"},  // keys of JSON
      {"app/cli/arguments/measurement.cpp", "count"},
      {"app/cli/commands/metrics.cpp", "heads"},
      {"app/cli/commands/metrics.cpp", "seed"},
      {"app/cli/commands/metrics.cpp", "count"},
      {"app/cli/commands/search.cpp", "query"},  // keys of JSON, headings
      {"app/cli/commands/search.cpp", "count"},
      {"app/cli/commands/search.cpp", "tokens"},
      {"app/cli/commands/info.cpp", "count"},
      {"app/run/sources/pattern_file.cpp", "tokens"},  // a name in safetensors
      {"app/run/edits/edit_json.cpp", "positions"},    // a key of JSON
      {"app/run/edits/edit_kind.h", "positions"},
      {"app/run/edits/kinds/patch.h", "positions"},
      {"app/run/edits/kinds/position_ids.h", "positions"},  // words of a grammar
      {"app/run/edits/edit_forms.cpp", "scores"},
      {"app/run/edits/edit_forms.cpp", "neurons"},  // words of a caption
      {"app/run/edits/edit_forms.cpp", "query"},
      {"app/run/edits/edit_forms.cpp", "positions"},
      {"app/cli/commands/info.cpp", "parameters"},
      {"app/cli/commands/predict.cpp", "next"},
      {"app/cli/commands/trace.cpp", "tokens"},
      {"app/recipe/selection_fields.h", "query"},            // the chosen position
      {"app/views/attention/query_key_space.cpp", "query"},  // the kind of a mark
      {"app/tour/numbers.cpp", "tokens"},                    // names of numbers
      {"app/tour/numbers.cpp", "heads"},
      {"app/tour/numbers.cpp", "parameters"},
      {"app/tour/numbers.cpp", "positions"},
      {"app/views/parts/landmarks.h", "cell"},   // of a matrix
      {"app/views/attention/qkv.cpp", "query"},  // a vector
      {"app/views/attention/softmax.cpp", "scores"},
      {"app/views/input/tokenization.cpp", "merge"},      // a step of byte-pair encoding
      {"app/tour/wait.cpp", "query"},                     // the awaited action
      {"app/views/attention/heatmap.cpp", "query"},       // an axis, a column
      {"app/views/attention/head_metrics.cpp", "heads"},  // rows of its list
      {"app/views/attention/lines.cpp", "query"},
      {"app/run/analyses/sweep.h", "sweep"},       // the computed question
      {"app/views/output/sampling.cpp", "top-k"},  // which step removed a token
      {"app/views/output/sampling.cpp", "top-p"},
      {"app/views/attention/scores.cpp", "query"},
      {"app/views/parts/matrix_zoom.cpp", "query"},
      {"app/views/attention/heads.cpp", "query"},
      {"app/views/output/predictions.cpp", "positions"},  // rows of its table
      {"app/views/input/tokenization.cpp", "tokens"},
      {"app/desktop/doctor.cpp", "cache"},  // of models
  };
  return words;
}

/// One sentence for each view or option name in a file of the program other than its own, and for each use of
/// region roles outside the views.
std::vector<std::string> named_outside(const Sources& sources) {
  static const std::regex role(R"re((?:\.|->)role\b)re");
  const std::map<std::string, std::string> names = names_of_views(sources);
  std::vector<std::string> faults;
  for (const auto& [file, text] : sources) {
    if (!file.starts_with("app/")) continue;
    std::set<std::string> found;
    for (std::string literal : string_literals(text)) {
      if (literal.starts_with("--")) literal.erase(0, 2);
      const auto name = names.find(literal);
      if (name == names.end() || name->second == file || other_meanings().contains({file, literal})) continue;
      if (found.insert(literal).second)
        faults.push_back(file + " names \"" + literal + "\" of " + name->second +
                         ": a view's names stay in its file");
    }
    if (!file.starts_with("app/views/") && std::regex_search(text, role))
      faults.push_back(file + " looks at a region's role: only its view knows what it means");
  }
  return faults;
}

/// Calls that the program must not contain: a shell would interpret its argument as commands, and Dear
/// ImGui's Text would interpret token text as a format.
std::vector<std::string> forbidden_calls(const Sources& sources) {
  static const std::regex shell(R"re((?:^|[^\w.>])(system|popen|wordexp|exec[lv]\w*|v?fork)[ \t]*\()re");
  static const std::regex spawn(R"re(\bposix_spawnp?[ \t]*\()re");
  static const std::regex formats(
      R"re(ImGui::(Text|TextColored|TextDisabled|TextWrapped|LabelText|BulletText|SetTooltip)[ \t]*\()re");
  std::vector<std::string> faults;
  for (const auto& [file, text] : sources) {
    if (file.starts_with("tests/")) continue;
    std::smatch found;
    if (std::regex_search(text, found, shell))
      faults.push_back(file + " calls " + found[1].str() + "(): nothing goes through a shell");
    if (file != "system/picture_clipboard_posix.cpp" && std::regex_search(text, spawn))
      faults.push_back(file + " starts a program: only the clipboard of pictures does");
    if (std::regex_search(text, found, formats))
      faults.push_back(file + " calls ImGui::" + found[1].str() + "(): text is no format");
  }
  return faults;
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
  for (const char* folder : {"system", "model", "viz", "app", "tests"}) {
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
  const Sources sources = read_sources(headscope::testing::source_dir());
  ASSERT_TRUE(sources.contains("model/pass/transformer.h"))
      << "looked in " << headscope::testing::source_dir();
  EXPECT_THAT(broken_rules(sources), IsEmpty());
}

TEST(Architecture, NothingGoesThroughAShellOrIsAFormat) {
  EXPECT_THAT(forbidden_calls(read_sources(headscope::testing::source_dir())), IsEmpty());
}

TEST(Architecture, OnlyTheBodiesForLinuxKnowLinux) {
  EXPECT_THAT(linux_outside_its_bodies(read_sources(headscope::testing::source_dir())), IsEmpty());
}

TEST(ArchitectureRules, OnlyTheBodiesForLinuxKnowLinux) {
  const auto faults = [](const std::string& file, const std::string& text) {
    return linux_outside_its_bodies({{file, text}});
  };
  for (const char* text : {"std::ifstream(\"/proc/self/maps\")", "open(path, O_TMPFILE | O_RDWR)",
                           "::memfd_create(\"x\", 0)", "::fallocate(file, 0, 0, size)", "#ifdef __linux__\n",
                           "#include <linux/fs.h>\n", "sched_getaffinity(0, size, &set)"}) {
    EXPECT_THAT(faults("model/files/file_io.cpp", text), ElementsAre(HasSubstr("only system/*_linux.cpp")));
    EXPECT_THAT(faults("system/file_posix.cpp", text), SizeIs(1)) << text;
    EXPECT_THAT(faults("system/file_linux.cpp", text), IsEmpty()) << text;
    EXPECT_THAT(faults("app/window/screen_linux.cpp", text), SizeIs(1)) << text;
  }
  EXPECT_THAT(faults("model/files/file_io.cpp",
                     "int size;  // O_TMPFILE and \"/proc/self\"\nposix_fallocate(1, 0, 2); \"mount /proc\""),
              IsEmpty());
}

TEST(ArchitectureRules, NothingGoesThroughAShellOrIsAFormat) {
  const auto faults = [](const std::string& text) {
    return forbidden_calls({{"app/window/core.cpp", text}});
  };
  EXPECT_THAT(faults("std::system(command.c_str());"), ElementsAre(HasSubstr("system()")));
  EXPECT_THAT(faults("FILE* pipe = ::popen(name, \"r\");"), ElementsAre(HasSubstr("popen()")));
  EXPECT_THAT(faults("  execvp(argv[0], argv);"), ElementsAre(HasSubstr("execvp()")));
  EXPECT_THAT(faults("posix_spawn(&id, name, 0, 0, argv, environ);"),
              ElementsAre(HasSubstr("starts a program")));
  EXPECT_THAT(faults("ImGui::Text(token.c_str());"), ElementsAre(HasSubstr("no format")));
  EXPECT_THAT(faults("ImGui::TextUnformatted(a, b); std::system_error(e); the_system(1); x.exec(2);"),
              IsEmpty());
}

TEST(Architecture, NamesOfViewsStayInTheirFiles) {
  const Sources sources = read_sources(headscope::testing::source_dir());
  EXPECT_GE(names_of_views(sources).size(), 110U)
      << "a way to declare a view or an option that is not read here";
  EXPECT_THAT(named_outside(sources), IsEmpty());
  for (const auto& [file, word] : other_meanings()) {
    const auto source = sources.find(file);
    ASSERT_NE(source, sources.end()) << file;
    const std::vector<std::string> literals = string_literals(source->second);
    EXPECT_TRUE(std::ranges::count(literals, word) + std::ranges::count(literals, "--" + word) > 0)
        << "no need to except \"" << word << "\" in " << file;
  }
}

TEST(ArchitectureRules, NamesOfViewsStayInTheirFiles) {
  const std::string view =
      "const Option<int> kCount{{.name = \"count-of\", .usual = 1}};\nview.id = \"gain\"; \"gain\";\n"
      "const auto kUnit = choice_option<Unit>(\n    \"unit-of\", \"Unit\"); make_view(Group::attention, "
      "\"lift\", \"Lift\");\n";
  const auto faults = [&](const std::string& file, const std::string& text) {
    return named_outside({{"app/views/gain.cpp", view}, {file, text}});
  };
  EXPECT_THAT(faults("app/panel.cpp", "find_view(\"gain\"), \"gain\";"),
              ElementsAre(HasSubstr("app/panel.cpp names \"gain\" of app/views/gain.cpp")));
  EXPECT_THAT(faults("app/cli.cpp", "\"--count-of\""), ElementsAre(HasSubstr("\"count-of\"")));
  EXPECT_THAT(faults("app/cli.cpp", "\"--unit-of\", \"lift\""), SizeIs(2));
  EXPECT_THAT(faults("app/views/other.cpp", "find_option(\"count-of\")"),
              ElementsAre(HasSubstr("\"count-of\"")));
  EXPECT_THAT(faults("app/panel.h", "// \"gain\"\n/* \"gain\" */ '\"', \"the gain\", gain, \"\\\"gain\""),
              IsEmpty());
  EXPECT_THAT(faults("tests/app/gain_test.cpp", "find_view(\"gain\")"), IsEmpty());
  EXPECT_THAT(faults("app/panel.cpp", "if (region.role == 1)"), ElementsAre(HasSubstr("role")));
  EXPECT_THAT(faults("app/views/other.cpp", "if (region.role == kCell)"), IsEmpty());
}

TEST(ArchitectureRules, InsideAppArrowsGoOneWay) {
  const auto faults = [](const std::string& file, const std::string& header) {
    return broken_rules({{file, "#include \"" + header + "\"\n"}});
  };
  for (const char* header :
       {"app/views/view.h", "app/text/text_edit.h", "app/window/state.h", "app/cli/arguments/command.h"})
    EXPECT_THAT(faults("app/run/memo.cpp", header), ElementsAre(HasSubstr(header)));
  for (const char* header :
       {"app/text/text_edit.h", "app/window/state.h", "app/cli/commands/engine.h", "app/run/worker.h"})
    EXPECT_THAT(faults("app/views/gain.cpp", header), ElementsAre(HasSubstr(header)));
  for (const char* header :
       {"app/run/memo.h", "app/views/view.h", "app/window/state.h", "app/cli/arguments/command.h"})
    EXPECT_THAT(faults("app/text/text_edit.cpp", header), ElementsAre(HasSubstr(header)));
  for (const char* header : {"app/window/state.h", "app/cli/arguments/command.h"})
    EXPECT_THAT(faults("app/recipe/settings.cpp", header), ElementsAre(HasSubstr(header)));
  EXPECT_THAT(faults("app/views/gain.cpp", "app/recipe/settings.h"), ElementsAre(HasSubstr("app/recipe")));
  EXPECT_THAT(faults("app/window/panels/next.cpp", "app/cli/arguments/command.h"),
              ElementsAre(HasSubstr("app/cli")));
  EXPECT_THAT(faults("app/event.h", "app/run/memo.h"), ElementsAre(HasSubstr("below all")));
  for (const auto& [file, header] : {std::pair{"app/run/memo.cpp", "app/run/question.h"},
                                     {"app/views/gain.cpp", "app/run/analyses/next_token.h"},
                                     {"app/views/gain.cpp", "app/event.h"},
                                     {"app/views/block/gain.cpp", "app/views/parts/frame.h"},
                                     {"app/views/block/gain.cpp", "app/views/block/gain.h"},
                                     {"app/recipe/settings.cpp", "app/text/json_text.h"},
                                     {"app/window/core.cpp", "app/recipe/settings.h"},
                                     {"app/window/core.cpp", "app/text/text_edit.h"},
                                     {"app/window/panels/next.cpp", "app/run/worker.h"},
                                     {"app/cli/commands/shot.cpp", "app/window/window.h"},
                                     {"app/views/gain.cpp", "viz/charts/bars.h"}})
    EXPECT_THAT(faults(file, header), IsEmpty()) << file << " " << header;
}

std::string including(const std::string& header) {
  return "#include " + (header[0] == '<' ? header : '"' + header + '"') + "\n";
}

TEST(ArchitectureRules, EachFolderIncludesWhatItMay) {
  struct Broken {
    std::string file, header, words;
  };
  for (const auto& [file, header, words] : std::vector<Broken>{
           // model/ and viz/ never include each other, nor the program.
           {"model/pass/run.cpp", "viz/scene/scene.h", "model/pass/run.cpp includes viz/scene/scene.h"},
           {"model/pass/run.h", "app/window/state.h", "app/window/state.h"},
           {"viz/text/text.h", "app/window/state.h", "app/window/state.h"},
           // Dear ImGui stays in its player and the program's window.
           {"viz/scene/scene.cpp", "<imgui.h>", "see ImGui"},
           {"viz/svg.cpp", "viz/players/imgui_player.h", "see ImGui"},
           {"model/pass/run.cpp", "<imgui.h>", "see ImGui"},
           {"app/recipe/settings.cpp", "<imgui.h>", "see ImGui"},
           {"viz/players/imgui_player.cpp", "<GLFW/glfw3.h>", "GLFW"},
           // Only the hub code uses the network, and few files use the hub.
           {"app/window/core.cpp", "<curl/curl.h>", "only app/hub"},
           {"app/run/memo.cpp", "<curl/curl.h>", "only app/hub"},
           {"model/pass/run.cpp", "<curl/curl.h>", "only app/hub"},
           {"app/run/memo.cpp", "app/hub/fetch.h", "app/hub"},
           {"app/views/gain.cpp", "app/hub/fetch.h", "app/hub"},
           {"app/recipe/settings.cpp", "app/hub/fetch.h", "app/hub"},
           {"app/tour/wait.cpp", "app/hub/fetch.h", "app/hub"},
           {"app/hub/fetch.cpp", "app/views/view.h", "app/views"},
           // The operating system is seen only by its bodies in system/, which knows nothing of the program.
           {"app/peers.cpp", "<dlfcn.h>", "operating system"},
           {"model/files/read.cpp", "<unistd.h>", "operating system"},
           {"model/files/read.cpp", "<sys/mman.h>", "operating system"},
           {"viz/text/text.cpp", "<Windows.h>", "operating system"},
           {"app/cli/main.cpp", "<csignal>", "operating system"},
           {"app/cli/main.cpp", "<ShlObj.h>", "operating system"},
           {"system/file.h", "<fcntl.h>", "operating system"},
           {"system/file.cpp", "<windows.h>", "operating system"},
           {"app/window/window.cpp", "<objc/runtime.h>", "operating system"},
           {"system/machine.cpp", "<mach/mach.h>", "operating system"},
           {"system/file_posix.cpp", "model/files/error.h", "below all the rest"},
           {"system/file.h", "app/run/memo.h", "below all the rest"},
           {"system/file.h", "<imgui.h>", "see ImGui"},
           // The yardsticks are used only by tests.
           {"app/bench.cpp", "tests/bench/ratios.h", "tests/bench"}})
    EXPECT_THAT(broken_rules({{file, including(header)}}), ElementsAre(HasSubstr(words))) << file;
  EXPECT_THAT(
      broken_rules({{"viz/scene/scene.cpp", "#include <vector>\n  #  include \"model/pass/run.h\"\n"}}),
      ElementsAre(HasSubstr("viz/scene/scene.cpp includes model/pass/run.h")));
  EXPECT_THAT(broken_rules({{"app/window.cpp", including("<GLFW/glfw3.h>")},
                            {"app/input.cpp", including("<GLFW/glfw3.h>")}}),
              ElementsAre(HasSubstr("app/input.cpp app/window.cpp")));
  EXPECT_THAT(
      broken_rules(
          {{"app/view.cpp", including("model/pass/run.h") + including("viz/scene/scene.h")},
           {"system/file_posix.cpp", including("<sys/file.h>") + including("<unistd.h>")},
           {"system/file_windows.cpp", including("<windows.h>") + including("system/file.h")},
           {"system/file_macos.cpp", including("<mach/mach.h>") + including("<mach-o/dyld.h>")},
           {"system/file_linux.cpp", including("<sched.h>")},
           {"system/file_generic.cpp", including("<dlfcn.h>")},
           {"model/files/read.cpp", including("system/file.h") + including("<iostream>")},
           {"viz/text/text.cpp", including("system/file.h") + including("<cairo-ft.h>")},
           {"app/window.cpp", including("<GLFW/glfw3.h>") + including("<backends/imgui_impl_glfw.h>")},
           {"app/panel.cpp", including("<imgui.h>")},
           {"app/hub/http.cpp", including("<curl/curl.h>")},
           {"app/window/core.cpp", including("app/hub/fetch.h")},
           {"app/cli/commands/get.cpp", including("app/hub/fetch.h")},
           {"viz/players/imgui_player.cpp", including("<imgui.h>")},
           {"tests/bench/peers.cpp", including("<dlfcn.h>") + including("tests/bench/a.h")}}),
      IsEmpty());
}

TEST(ArchitectureRules, FilesStayShort) {
  EXPECT_THAT(broken_rules({{"viz/scene/scene.cpp", std::string(kLongestFile, '\n')}}), IsEmpty());
  EXPECT_THAT(broken_rules({{"viz/scene/scene.cpp", std::string(kLongestFile + 1, '\n')}}),
              ElementsAre(HasSubstr("viz/scene/scene.cpp has 601 lines")));
}

}  // namespace
}  // namespace headscope
