#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/run/sources/paths.h"

namespace headscope::app {

// What the program finds on a machine, and what to do about what is missing: thin functions gather facts, one
// pure function judges them.

/// The OpenGL of this machine.
struct OpenGlFacts {
  std::string display = {};      ///< "X11 :0", "Wayland wayland-0"; empty: none
  std::string renderer = {};     ///< name and version of OpenGL; empty: no OpenGL 3.3
  std::string problem = {};      ///< why there is none; empty: unknown
  std::string surfaceless = {};  ///< the OpenGL without a display, if there is none with it
};

/// A script that prompts are written in.
struct ScriptFact {
  const char* name = "";
  const char* package = "";  ///< of Debian, with a font for it
  bool shown = false;
};

struct FontFacts {
  std::string problem;  ///< why there are none; empty: no problem
  std::filesystem::path regular, medium, bold, mono;
  std::vector<ScriptFact> scripts;
};

/// A folder with a model in it, or one that should be.
struct ModelFact {
  std::string name;
  std::filesystem::path folder;
  std::string problem;  ///< empty: none
};

struct Surroundings {
  std::string version;
  std::string build;               ///< type, compiler, processor that it was compiled for
  std::vector<std::string> loops;  ///< inner loops that this processor can run, those that are used first
  std::string processor;           ///< its name; may be empty
  int processors = 0;              ///< that this process may use
  std::uint64_t memory = 0;        ///< bytes: of the machine, or what this process may have of it; 0: unknown
  std::uint64_t memory_free = 0;   ///< bytes; 0: unknown
  OpenGlFacts open_gl;
  FontFacts fonts;
  ModelFact bundled;
  std::uint64_t window_memory =
      0;  ///< bytes that the window takes at most with the bundled model; 0: unknown
  std::optional<std::filesystem::path> cache;  ///< Hugging Face's; nothing without a home
  std::vector<ModelFact> cached;
  std::optional<std::filesystem::path> settings;  ///< the file, there or not; nothing without a home
  std::string settings_problem;                   ///< empty: none
  std::vector<ModelFact> recent;                  ///< recent ones that are in no cache
  std::filesystem::path clipboard;                ///< the program that takes pictures; empty: none
};

/// All but `open_gl`, which needs a toolkit. Never throws.
Surroundings surroundings(const Environment& environment);

/// The memory of a machine by the text of /proc/meminfo and, of a process whose memory is limited, that of
/// memory.max and memory.current of its control group ("max" and nothing: unlimited).
struct MemoryFacts {
  std::uint64_t all = 0;
  std::uint64_t free = 0;
};
MemoryFacts memory_facts(const std::string& meminfo, const std::string& limit, const std::string& used);

/// One thing that was looked at.
struct Finding {
  enum class State {
    fine,
    missing,  ///< something does without it
    broken    ///< the program, or its window where there is a display, does not work without it
  };
  std::string part;  ///< "fonts"
  std::string name;  ///< "bold"; unique within the part
  State state = State::fine;
  std::string text;    ///< what is there, or that it is not
  std::string remedy;  ///< what to do about it; empty when it is fine
  bool operator==(const Finding&) const = default;
};

std::vector<Finding> examine(const Surroundings& surroundings);

}  // namespace headscope::app
