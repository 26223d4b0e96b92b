#include "app/desktop/doctor.h"

#include <algorithm>
#include <cstdio>

#include "system/path_text.h"

namespace headscope::app {
namespace {

using State = Finding::State;

std::string gigabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

class Examiner {
 public:
  explicit Examiner(const Surroundings& facts) : facts_(facts) {}

  std::vector<Finding> examine() && {
    part_ = "program", program();
    part_ = "computing", computing();
    part_ = "window", window();
    part_ = "fonts", fonts();
    part_ = "models", models();
    part_ = "desktop", desktop();
    return std::move(findings_);
  }

 private:
  const Surroundings& facts_;
  std::vector<Finding> findings_;
  const char* part_ = "";

  /// The command that installs packages on Debian and its derivatives; on Windows and macOS what to do
  /// instead.
  std::string install(const std::string& packages, const std::string& on_windows,
                      const std::string& on_macos) const {
    return facts_.windows ? on_windows : facts_.macos ? on_macos : "sudo apt-get install " + packages;
  }
  bool is_linux() const { return !facts_.windows && !facts_.macos; }
  void fine(std::string name, std::string text) { check(true, std::move(name), std::move(text), "", ""); }
  void lacks(std::string name, std::string text, std::string remedy) {
    check(false, std::move(name), "", std::move(text), std::move(remedy));
  }
  /// Adds a finding: `text` if it is fine, else `otherwise` and the remedy.
  void check(bool is_fine, std::string name, std::string text, std::string otherwise, std::string remedy,
             State state = State::missing) {
    if (is_fine) state = State::fine, remedy.clear();
    findings_.push_back(
        {part_, std::move(name), state, is_fine ? std::move(text) : std::move(otherwise), std::move(remedy)});
  }

  void program() {
    fine("version", facts_.version);
    fine("build", facts_.build);
  }

  void computing() {
    fine("loops", facts_.loops.front() +
                      (facts_.loops.size() > 1 ? "; this processor supports " + joined(facts_.loops) : ""));
    fine("processors", std::to_string(facts_.processors) +
                           (facts_.processor.empty() ? std::string() : ", " + facts_.processor));
    if (facts_.memory == 0)
      return lacks("memory", "unknown", is_linux() ? "mount /proc" : "restart the computer");
    const bool knows_free = facts_.memory_free != 0;
    const std::string text =
        gigabytes(facts_.memory) + (knows_free ? ", " + gigabytes(facts_.memory_free) + " free" : "");
    check(!knows_free || facts_.memory_free >= facts_.window_memory, "memory", text,
          text + "; the window may need " + gigabytes(facts_.window_memory) + " with the bundled model",
          "close other programs, or use shorter prompts");
  }

  void window() {
    const OpenGlFacts& gl = facts_.open_gl;
    const bool display = !gl.display.empty();
    check(display, "display", gl.display,
          !is_linux() ? "none" : "none: neither DISPLAY nor WAYLAND_DISPLAY is set",
          "start headscope in a desktop session, or with ssh -X; all commands except the window work without "
          "it");
    check(!gl.renderer.empty(), "OpenGL", gl.renderer, gl.problem.empty() ? "no OpenGL 3.3" : gl.problem,
          gl.surfaceless.empty()
              ? install("libgl1 libegl1 libgl1-mesa-dri", "install the driver of the graphics card's maker",
                        "start headscope from the Mac's own desktop")
              : "drivers are installed (" + gl.surfaceless +
                    "): check that DISPLAY names a display that this user may open",
          display ? State::broken : State::missing);
  }

  void fonts() {
    const FontFacts& fonts = facts_.fonts;
    const bool any = fonts.problem.empty();
    check(any, "regular", system::text_of(fonts.regular), "none",
          install("fonts-inter fonts-dejavu-core", "install the fonts Inter and DejaVu",
                  "install the fonts Inter and DejaVu"),
          State::broken);
    if (!any) return;
    const auto style = [&](const char* name, const std::filesystem::path& file, const char* package,
                           const char* font) {
      check(
          file != fonts.regular, name, system::text_of(file), "none; the regular font is used instead",
          install(package, std::string("install the font ") + font, std::string("install the font ") + font));
    };
    style("medium", fonts.medium, "fonts-inter", "Inter");
    style("bold", fonts.bold, "fonts-inter", "Inter");
    style("mono", fonts.mono, "fonts-dejavu-core", "DejaVu Sans Mono");
    for (const ScriptFact& script : fonts.scripts)
      check(
          script.shown, script.name, "shown", "shown as boxes with code points",
          install(script.package, "in Settings, under Optional features, add the script's supplemental fonts",
                  "install a font that has these characters and outlines"));
  }

  std::string home() const { return facts_.windows ? "USERPROFILE" : "HOME"; }

  void models() {
    const ModelFact& bundled = facts_.bundled;
    check(bundled.problem.empty(), "bundled", system::text_of(bundled.folder), bundled.problem,
          "reinstall headscope, or give a model with --model", State::broken);
    if (!facts_.cache) {
      lacks("cache", "none: " + home() + " is not set",
            "set " + home() + " or HF_HOME, or give models by folder");
    } else {
      check(!facts_.cached.empty(), "cache", system::text_of(*facts_.cache),
            "no GPT-2 in " + system::text_of(*facts_.cache),
            "run headscope get gpt2, or give a model's folder with --model");
    }
    for (const ModelFact& model : facts_.cached) folder(model, "headscope get " + model.name);
    for (const ModelFact& model : facts_.recent)
      folder(model, "restore the folder, or ignore this: newer models will replace it in the model menu");
  }

  void folder(const ModelFact& model, const std::string& remedy) {
    check(model.problem.empty(), model.name, system::text_of(model.folder), model.problem, remedy);
  }

  void desktop() {
    if (!facts_.settings) {
      lacks("settings",
            facts_.windows ? "not saved: the user has no folder for them"
            : facts_.macos ? "not saved: HOME is not set"
                           : "not saved: neither XDG_CONFIG_HOME nor HOME is set",
            facts_.windows ? "set APPDATA"
            : facts_.macos ? "set HOME"
                           : "set one of them");
    } else {
      check(facts_.settings_problem.empty(), "settings", system::text_of(*facts_.settings),
            facts_.settings_problem, "fix or remove the file; headscope rewrites it");
    }
    if (facts_.open_gl.display.empty()) return;
    check(!facts_.clipboard.empty(), "clipboard", facts_.clipboard,
          "pictures cannot be copied, only exported",
          install(facts_.open_gl.display.starts_with("Wayland") ? "wl-clipboard" : "xclip", "restart Windows",
                  "add /usr/bin to PATH"));
  }
};

}  // namespace

std::vector<Finding> examine(const Surroundings& surroundings) {
  return Examiner(surroundings).examine();
}

}  // namespace headscope::app
