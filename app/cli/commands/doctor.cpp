#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/answer_file.h"
#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/text/output_text.h"
#include "app/window/window.h"
#include "model/files/tensor_source.h"
#include "model/kernels/kernels.h"
#include "system/machine.h"
#include "system/path_text.h"
#include "system/picture_clipboard.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

/// Lacking: a feature is missing. Broken: the program, or its window if there is a display, does not work.
enum class State { fine, lacking, broken };
constexpr const char* kStates[] = {"ok", "lacking", "broken"};

/// What one check found, and how to mend it (empty if fine).
struct Finding {
  std::string part, name;
  State state = State::fine;
  std::string text, remedy;
};

class Doctor {
 public:
  std::vector<Finding> examine() && {
    add("program", "version", version());
    add("program", "build", HEADSCOPE_BUILD);
    std::string loops;
    for (const model::PanelKernels& kernels : model::runnable_kernels())
      loops += (loops.empty() ? "" : ", ") + std::string(kernels.name);
    add("computing", "loops", loops);
    add("computing", "processors",
        std::to_string(system::available_processors()) + ", " + system::processor_name());
    const system::MemoryFacts memory = system::memory_here();
    add("computing", "memory",
        format("%.1f GB, %.1f GB free", static_cast<double>(memory.all) / 1e9,
               static_cast<double>(memory.free) / 1e9));
    window();
    try {
      fonts();
    } catch (const std::exception& error) {
      add("fonts", "regular", "", error.what(), "install fonts-inter and fonts-dejavu-core", State::broken);
    }
    models();
    const auto settings = config_folder(environment_);
    add("desktop", "settings", settings ? system::text_of(*settings) : "",
        settings ? load_settings(*settings / kSettingsFile).problem : "not saved",
        settings ? "fix or remove the file; headscope rewrites it" : kSetHome);
    return std::move(findings_);
  }

 private:
  static constexpr const char* kSetHome = "set HOME (on Windows USERPROFILE)";

  /// What was found; or a problem, which is a lack unless `state` says that it is more, and its remedy.
  void add(const char* part, const char* name, const std::string& found, const std::string& problem = {},
           const std::string& remedy = {}, State state = State::lacking) {
    const bool fine = problem.empty();
    findings_.push_back({part, name, fine ? State::fine : state, fine ? found : problem, fine ? "" : remedy});
  }

  void window() {
    const auto x11 = environment_("DISPLAY"), wayland = environment_("WAYLAND_DISPLAY");
    if (!system::is_windows() && !x11 && !wayland)
      return add("window", "display", "", "none: neither DISPLAY nor WAYLAND_DISPLAY is set",
                 "start headscope in a desktop session, or with ssh -X; only the window needs it");
    add("window", "display", wayland ? "Wayland " + *wayland : x11 ? "X11 " + *x11 : "Windows");
    const auto copier = system::picture_clipboard(environment_);
    add("window", "clipboard", "takes pictures" + (copier ? "  " + system::text_of(copier->program) : ""),
        copier ? "" : "takes no pictures", std::string(system::no_picture_clipboard()));
    try {
      add("window", "OpenGL", opengl_of_window());
    } catch (const NoWindow& error) {
      add("window", "OpenGL", "", error.problem, error.remedy, State::broken);
    }
  }

  void fonts() {
    const auto fonts = viz::Fonts::load();
    const std::filesystem::path regular = fonts->file(viz::FontStyle::regular);
    add("fonts", "regular", system::text_of(regular));
    const auto style = [&](const char* name, viz::FontStyle wanted, const char* remedy) {
      const std::filesystem::path file = fonts->file(wanted);
      add("fonts", name, system::text_of(file),
          file == regular ? "none; the regular font is used instead" : "", remedy);
    };
    style("bold", viz::FontStyle::bold, "install fonts-inter");
    style("mono", viz::FontStyle::mono, "install fonts-dejavu-core");
    const viz::TextLayout layout = fonts->layout("中あ∑→≤😀", viz::FontStyle::regular, 14);
    if (std::ranges::any_of(layout.glyphs, [&](const viz::Glyph& g) { return fonts->family(g).empty(); }))
      add("fonts", "other scripts", "", "Chinese, Japanese, symbols or emoji are shown as boxes",
          "install fonts-droid-fallback and fonts-symbola");
  }

  void models() {
    try {
      model::TensorSource::open(bundled_model());
      add("models", "bundled", system::text_of(bundled_model()));
    } catch (const std::exception& error) {
      add("models", "bundled", "", error.what(), "reinstall headscope, or give --model", State::broken);
    }
    const auto cache = hugging_face_cache(environment_);
    if (!cache) return add("models", "downloaded", "", "none", kSetHome);
    std::string names;
    for (const DiscoveredModel& model : discover_models(*cache)) names += ", " + model.name;
    const std::string folder = system::text_of(*cache);
    add("models", "downloaded", folder + names, names.empty() ? folder + ": no GPT-2" : "",
        "run headscope get gpt2, or give a model's folder with --model");
  }

  const Environment environment_ = process_environment();
  std::vector<Finding> findings_;
};

/// Returns the exit status: 1 if something is broken.
int write_findings(bool json, std::ostream& out) {
  const std::vector<Finding> findings = Doctor().examine();
  const bool works = std::ranges::count(findings, State::broken, &Finding::state) == 0;
  Json list = Json::array();
  for (const auto& [part, name, state, text, remedy] : findings) {
    const char* const word = kStates[static_cast<int>(state)];
    list.push_back({{"part", part}, {"name", name}, {"state", word}, {"text", utf8_or_replacement(text)}});
    list.back()["remedy"] = remedy;
    if (json) continue;
    out << format("%-7s  %-13s  %s\n", word, name.c_str(), terminal_safe(text).c_str());
    if (!remedy.empty()) out << format("%22s   -> %s\n", "", remedy.c_str());
  }
  if (json)
    out << json_line({{"how", {{"program", program_name()}}}, {"works", works}, {"findings", list}}) << '\n';
  return works ? 0 : 1;
}

}  // namespace

Run describe_doctor(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  add_out(app, *a, "txt|json", "write the answer to this file");
  add_footer(app, "Exit status: 0 if headscope works here, else 1. The names of packages are Debian's.");
  return [&app, a](const Streams& streams) {
    const Format format = format_of(app, *a, "txt|json");
    AnswerFile file(a->out, streams);
    const int status = write_findings(format == Format::json, file.streams().out);
    file.commit();
    return status;
  };
}

}  // namespace headscope::app
