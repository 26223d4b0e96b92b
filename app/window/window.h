#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "app/recipe/recipe.h"
#include "app/recipe/settings.h"
#include "app/run/prompt_run.h"
#include "app/views/view.h"
#include "viz/scene/scene.h"

namespace headscope::app {

struct WindowOptions {
  std::filesystem::path model;   ///< the folder to open first
  bool model_given = false;      ///< whether the user named it (it then wins over the last session's)
  std::optional<Prompt> prompt;  ///< likewise; else the last session's or the example
  /// The edits while it runs, once the model is there; null: none. May throw model::LoadError or
  /// RunError, which the window shows.
  std::function<model::Edits(const LoadedModel&)> edits = {};
  std::optional<std::string> second = {};   ///< a prompt to compare with
  bool second_is_file = false;              ///< it is the path of patterns, as `model` is
  std::filesystem::path second_model = {};  ///< to compare with; empty: none
  Alignment alignment = Alignment::position;
  Side side = Side::run;
  std::optional<Selection> selection = {};  ///< null: what the window chooses itself
  /// What is shown at first, in place of the above; `model` is where its model is.
  std::optional<Recipe> session = {};
  std::filesystem::path session_file = {};         ///< that it was read from
  std::shared_ptr<const PromptList> prompts = {};  ///< for views that can be about many; null: none
  std::string tour = {};                           ///< that is open at first: an id or a file; empty: none
  int stop = 1;                                    ///< of it, from 1
  int threads = 0;
  model::Precision precision = model::Precision::f32;
};

/// The least size of a window, in logical pixels, whose panes have room beside each other.
struct WindowSize {
  int width = 0;
  int height = 0;
  bool operator==(const WindowSize&) const = default;
};
WindowSize least_window(float font_size);

/// The whole window as a picture, for `headscope shot`.
struct ShotOptions {
  WindowOptions base;
  std::string view = std::string(view_at(Place::tab).id);
  std::string beside = {};  ///< the view beside it; empty: none
  Options options;
  int width = 1600;  ///< logical pixels
  int height = 1000;
  float scale = 1;  ///< device pixels for a logical one
  bool dark = false;
  float font_size = kDefaultFontSize;
  std::function<void(const PromptRun&)> seen;  ///< told of the run that the picture shows; null: nobody
};

/// Opens the window and returns the exit status when it is closed. Throws std::runtime_error (one sentence)
/// when there is no display or no OpenGL 3.3.
int run_window(const WindowOptions& options);

/// What OpenGL a window gets on this display, for diagnosis: opens a hidden one for a moment.
struct WindowTrial {
  std::string renderer;  ///< its name and version; empty: no window can be opened
  std::string problem;   ///< one sentence that says why
};
WindowTrial try_window();

struct Shot {
  viz::Bitmap bitmap;
  Session session;  ///< what it shows, without the hash of the weights
};

/// Draws the window on the bundled or given model without a display or OpenGL, everything computed and
/// settled. Throws model::LoadError, or std::runtime_error (one sentence) where the window is too small or
/// the prompt could not be run.
Shot render_shot(const ShotOptions& options);

}  // namespace headscope::app
