#include "app/desktop/doctor.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

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

/// How one asks Debian and its relatives for packages.
std::string install(const std::string& packages) {
  return "sudo apt-get install " + packages;
}

class Examiner {
 public:
  explicit Examiner(const Surroundings& facts) : facts_(facts) {}

  std::vector<Finding> examine() && {
    program();
    computing();
    window();
    fonts();
    models();
    rest();
    return std::move(findings_);
  }

 private:
  const Surroundings& facts_;
  std::vector<Finding> findings_;

  void fine(const char* part, std::string name, std::string text) {
    findings_.push_back({part, std::move(name), State::fine, std::move(text), {}});
  }
  void lacks(State state, const char* part, std::string name, std::string text, std::string remedy) {
    findings_.push_back({part, std::move(name), state, std::move(text), std::move(remedy)});
  }

  void program() {
    fine("program", "version", facts_.version);
    fine("program", "build", facts_.build);
  }

  void computing() {
    fine("computing", "loops",
         facts_.loops.front() +
             (facts_.loops.size() > 1 ? "; this processor has " + joined(facts_.loops) : ""));
    fine("computing", "processors",
         std::to_string(facts_.processors) +
             (facts_.processor.empty() ? std::string() : ", " + facts_.processor));
    if (facts_.memory == 0)
      return lacks(State::lacking, "computing", "memory", "cannot be told", "mount /proc to have it told");
    const std::string text = gigabytes(facts_.memory) + ", " + gigabytes(facts_.memory_free) + " free";
    if (facts_.memory_free >= facts_.window_memory) return fine("computing", "memory", text);
    lacks(State::lacking, "computing", "memory",
          text + "; the window may take " + gigabytes(facts_.window_memory) + " with the bundled model",
          "end other programs, or run shorter prompts");
  }

  void window() {
    const OpenGlFacts& gl = facts_.open_gl;
    const bool display = !gl.display.empty();
    if (display) {
      fine("window", "display", gl.display);
    } else {
      lacks(
          State::lacking, "window", "display", "none: neither DISPLAY nor WAYLAND_DISPLAY is set",
          "start headscope in a desktop session, or with ssh -X; every command but the window works without");
    }
    if (!gl.renderer.empty()) return fine("window", "OpenGL", gl.renderer);
    lacks(display ? State::broken : State::lacking, "window", "OpenGL",
          gl.problem.empty() ? "no OpenGL 3.3" : gl.problem,
          gl.surfaceless.empty() ? install("libgl1 libegl1 libgl1-mesa-dri")
                                 : "drivers are here (" + gl.surfaceless +
                                       "): see that DISPLAY names a display that this user may open");
  }

  void fonts() {
    const FontFacts& fonts = facts_.fonts;
    if (!fonts.problem.empty())
      return lacks(State::broken, "fonts", "regular", "none", install("fonts-inter fonts-dejavu-core"));
    fine("fonts", "regular", fonts.regular.string());
    style("medium", fonts.medium, "fonts-inter");
    style("bold", fonts.bold, "fonts-inter");
    style("mono", fonts.mono, "fonts-dejavu-core");
    for (const ScriptFact& script : fonts.scripts) {
      if (script.shown) {
        fine("fonts", script.name, "shown");
      } else {
        lacks(State::lacking, "fonts", script.name, "shown as boxes with the characters' numbers",
              install(script.package));
      }
    }
  }

  void style(const char* name, const std::filesystem::path& file, const char* package) {
    if (file != facts_.fonts.regular) return fine("fonts", name, file.string());
    lacks(State::lacking, "fonts", name, "none; the regular one stands in", install(package));
  }

  void models() {
    const ModelFact& bundled = facts_.bundled;
    if (bundled.problem.empty()) {
      fine("models", "bundled", bundled.folder.string());
    } else {
      lacks(State::broken, "models", "bundled", bundled.problem,
            "install headscope again, or name a model with --model");
    }
    if (!facts_.cache) {
      lacks(State::lacking, "models", "cache", "none: HOME is not set",
            "set HOME or HF_HOME, or name models by their folders");
    } else if (facts_.cached.empty()) {
      lacks(State::lacking, "models", "cache", "no GPT-2 in " + facts_.cache->string(),
            "headscope get gpt2, or name a model's folder with --model");
    } else {
      fine("models", "cache", facts_.cache->string());
    }
    for (const ModelFact& model : facts_.cached) folder(model, "headscope get " + model.name);
    for (const ModelFact& model : facts_.recent)
      folder(model, "it is in the menu of models until others take its place; put it back, or leave it");
  }

  void folder(const ModelFact& model, const std::string& remedy) {
    if (model.problem.empty()) return fine("models", model.name, model.folder.string());
    lacks(State::lacking, "models", model.name, model.problem, remedy);
  }

  void rest() {
    if (!facts_.settings) {
      lacks(State::lacking, "desktop", "settings", "not kept: neither XDG_CONFIG_HOME nor HOME is set",
            "set one of them");
    } else if (!facts_.settings_problem.empty()) {
      lacks(State::lacking, "desktop", "settings", facts_.settings_problem,
            "mend or remove the file; headscope writes it anew");
    } else {
      fine("desktop", "settings", facts_.settings->string());
    }
    if (facts_.open_gl.display.empty()) return;
    if (!facts_.clipboard.empty()) return fine("desktop", "clipboard", facts_.clipboard.string());
    lacks(State::lacking, "desktop", "clipboard", "pictures cannot be copied, only written to files",
          install(facts_.open_gl.display.starts_with("Wayland") ? "wl-clipboard" : "xclip"));
  }
};

/// Bytes of a row as in "MemTotal:  16303348 kB"; 0: it is not there.
std::uint64_t row_of(const std::string& meminfo, const std::string& name) {
  std::istringstream lines(meminfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kibibytes = 0;
    if (words >> key >> kibibytes && key == name) return kibibytes * 1024;
  }
  return 0;
}

/// Nothing for "max" and for what is no number.
std::optional<std::uint64_t> bytes_of(const std::string& text) {
  std::istringstream words(text);
  std::uint64_t bytes = 0;
  if (words >> bytes) return bytes;
  return std::nullopt;
}

}  // namespace

MemoryFacts memory_facts(const std::string& meminfo, const std::string& limit, const std::string& used) {
  MemoryFacts facts{row_of(meminfo, "MemTotal:"), row_of(meminfo, "MemAvailable:")};
  const auto most = bytes_of(limit);
  if (!most || (facts.all != 0 && *most >= facts.all)) return facts;
  const std::uint64_t taken = std::min(*most, bytes_of(used).value_or(0));
  facts.all = *most;
  facts.free = std::min(facts.free == 0 ? *most : facts.free, *most - taken);
  return facts;
}

std::vector<Finding> examine(const Surroundings& surroundings) {
  return Examiner(surroundings).examine();
}

}  // namespace headscope::app
