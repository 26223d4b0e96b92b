#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/recipe/recipe.h"
#include "app/run/prompt_run.h"
#include "app/views/view.h"
#include "system/folders.h"
#include "viz/scene/scene.h"

namespace headscope::app {

struct WindowOptions {
  std::filesystem::path model;  ///< folder of the model to open
  bool model_given = false;  ///< whether the user named it; it then takes precedence over the last session's
  std::optional<Prompt> prompt;  ///< the same for the prompt; nothing: the last session's or the example
  /// Returns the edits once the model is loaded; null: none. May throw model::LoadError or RunError, which
  /// the window shows.
  std::function<model::Edits(const LoadedModel&)> edits = {};
  /// What is shown: all of it if it is opened; else its comparison, precision and attention file, its look
  /// (for `shot`), and its selection unless that is the default one, which leaves the choice to the window.
  Recipe recipe = {};
  bool opens_recipe = false;
  std::filesystem::path recipe_file = {};          ///< the file it was read from
  std::filesystem::path second = {};               ///< its second model or attention file; empty: none
  std::shared_ptr<const PromptList> prompts = {};  ///< for views that can show a list of prompts; null: none
  std::string tour = {};                           ///< the tour to open: an id or a file; empty: none
  int stop = 1;                                    ///< its stop, from 1
  int threads = 0;
};

/// The smallest window, in logical pixels, in which all panes fit side by side.
struct WindowSize {
  int width = 0;
  int height = 0;
  bool operator==(const WindowSize&) const = default;
};
WindowSize least_window(float font_size);

/// The whole window as a picture, for `headscope shot`.
struct ShotOptions {
  WindowOptions base;              ///< with the views, theme and font size of its recipe
  std::vector<SetOption> options;  ///< of views, over those of a session or a tour
  Figure figure;
  std::function<void(const PromptRun&)> report_run;  ///< called with the run that the picture shows
};

/// Why no window can be opened here. `what()` is one sentence with both.
class NoWindow : public std::runtime_error {
 public:
  NoWindow(const std::string& why, const std::string& how)
      : std::runtime_error("Cannot open a window: " + why + "; " + how + "."), problem(why), remedy(how) {}

  std::string problem, remedy;
};

/// What to install or set, for the reason that GLFW gives when there is no OpenGL 3.3.
std::string opengl_remedy(std::string_view reason, const system::Environment& environment);

/// Opens the window and returns the exit status when it is closed. Throws std::runtime_error (one sentence)
/// when there is no display or no OpenGL 3.3, and system::Interrupted, once everything is saved.
int run_window(const WindowOptions& options);

/// The name and version of a window's OpenGL on this display, for diagnosis: briefly opens a hidden window.
/// Throws NoWindow.
std::string opengl_of_window();

struct Shot {
  viz::Bitmap bitmap;
  Session session;  ///< without the hash of the weights
};

/// Draws the window with the bundled or given model, once everything is computed; needs no display or OpenGL.
/// Throws model::LoadError, or std::runtime_error (one sentence) if the window is too small or the prompt
/// cannot be run.
Shot render_shot(const ShotOptions& options);

}  // namespace headscope::app
