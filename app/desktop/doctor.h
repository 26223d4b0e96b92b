#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/run/sources/paths.h"

namespace headscope::app {

// What the program needs from the machine, and what to do about what is missing. Functions gather facts, and
// one pure function judges them.

/// OpenGL on this machine.
struct OpenGlFacts {
  std::string display = {};      ///< "X11 :0", "Wayland wayland-0", "Windows", "macOS"; empty: none
  std::string renderer = {};     ///< name and version of OpenGL; empty: no OpenGL 3.3
  std::string problem = {};      ///< why OpenGL 3.3 is not available; empty: unknown
  std::string surfaceless = {};  ///< OpenGL without a display, if it is not available with one
};

/// A writing system.
struct ScriptFact {
  const char* name = "";
  const char* package = "";  ///< Debian package with a font for it
  bool shown = false;
};

struct FontFacts {
  std::string problem;  ///< why there are no fonts; empty: no problem
  std::filesystem::path regular, medium, bold, mono;
  std::vector<ScriptFact> scripts;
};

/// A folder that contains a model, or should.
struct ModelFact {
  std::string name;
  std::filesystem::path folder;
  std::string problem;  ///< empty: none
};

struct Surroundings {
  bool windows = false;  ///< the system is Windows or macOS, which have other remedies than Linux
  bool macos = false;
  std::string version;
  std::string build;               ///< build type, compiler, target processor
  std::vector<std::string> loops;  ///< inner loops that this processor supports, preferred ones first
  std::string processor;           ///< its name; may be empty
  int processors = 0;              ///< available to this process
  std::uint64_t memory = 0;        ///< bytes of the machine, or the limit of this process; 0: unknown
  std::uint64_t memory_free = 0;   ///< bytes; 0: unknown
  OpenGlFacts open_gl;
  FontFacts fonts;
  ModelFact bundled;
  std::uint64_t window_memory =
      0;  ///< bytes that the window needs at most with the bundled model; 0: unknown
  std::optional<std::filesystem::path> cache;  ///< the Hugging Face cache; nothing without a home folder
  std::vector<ModelFact> cached;
  std::optional<std::filesystem::path>
      settings;                   ///< the settings file, which need not exist; nothing without a home folder
  std::string settings_problem;   ///< empty: none
  std::vector<ModelFact> recent;  ///< recent models outside the cache
  std::string clipboard;          ///< what copies pictures: a program, or "Windows"; empty: nothing
};

/// Gathers everything except `open_gl`, which needs a toolkit. Never throws.
Surroundings surroundings(const Environment& environment);

/// The result of one check.
struct Finding {
  enum class State {
    fine,
    missing,  ///< a feature is not available
    broken    ///< the program, or its window if there is a display, does not work
  };
  std::string part;  ///< "fonts"
  std::string name;  ///< "bold"; unique within its part
  State state = State::fine;
  std::string text;    ///< what was found, or that nothing was
  std::string remedy;  ///< how to fix it; empty if fine
  bool operator==(const Finding&) const = default;
};

std::vector<Finding> examine(const Surroundings& surroundings);

}  // namespace headscope::app
