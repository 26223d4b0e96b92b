#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "app/recipe/recipe.h"
#include "app/run/prompt_run.h"
#include "system/folders.h"

namespace headscope::app {

struct WindowOptions {
  std::filesystem::path model;   ///< folder of the model to open
  std::optional<Prompt> prompt;  ///< nothing: the last session's or the example
  /// Returns the edits once the model is loaded; null: none. May throw model::LoadError or RunError, which
  /// the window shows.
  std::function<model::Edits(const LoadedModel&)> edits = {};
  /// What is shown: all of it if it has a file; else its comparison, precision and attention file, its look
  /// (for `shot`), and its selection unless that is the default one, which leaves the choice to the window.
  Recipe recipe = {};
  std::filesystem::path recipe_file = {};          ///< the file it was read from; empty: none
  std::filesystem::path second = {};               ///< its second model or attention file; empty: none
  std::shared_ptr<const PromptList> prompts = {};  ///< for views that can show a list of prompts; null: none
  std::string tour = {};                           ///< the tour to open: an id or a file; empty: none
  int stop = 1;                                    ///< its stop, from 1
  int threads = 0;
};

/// The smallest window, in logical pixels, in which all panes fit side by side.
struct WindowSize {
  int width = 0, height = 0;
  bool operator==(const WindowSize&) const = default;
};
WindowSize least_window(float font_size);

/// Why no window can be opened here. `what()` is one sentence with both.
class NoWindow : public std::runtime_error {
 public:
  NoWindow(const std::string& why, const std::string& how)
      : std::runtime_error("Cannot open a window: " + why + "; " + how + "."), problem(why), remedy(how) {}

  std::string problem, remedy;
};

/// What to install or set, for the reason that GLFW gives when there is no OpenGL 3.3.
std::string opengl_remedy(std::string_view reason, const system::Environment& environment);

struct CoreOptions;

/// Opens the window and returns the exit status when it is closed. Sets the options that depend on a window
/// system. Throws std::runtime_error (one sentence) when there is no display or no OpenGL 3.3, and
/// system::Interrupted, once everything is saved.
int run_window(CoreOptions options);

/// The name and version of a window's OpenGL on this display, for diagnosis: briefly opens a hidden window.
/// Throws NoWindow.
std::string opengl_of_window();

}  // namespace headscope::app
