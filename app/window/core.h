#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/asking.h"
#include "app/run/worker.h"
#include "app/window/input.h"
#include "app/window/settings.h"
#include "app/window/state.h"
#include "app/window/window.h"
#include "app/window/window_picture.h"
#include "model/sampling.h"

namespace headscope::app {

/// What the core needs of the world; a test brings its own.
struct CoreOptions {
  WindowOptions window;
  Settings settings;
  std::filesystem::path settings_file;  ///< empty: nothing is kept
  std::filesystem::path start_folder;   ///< where the directory browser and exports begin
  std::vector<ExamplePrompt> examples;
  std::filesystem::path examples_model;                     ///< see UiState
  std::vector<DiscoveredModel> (*find_models)() = nullptr;  ///< null: none
  std::shared_ptr<const viz::Fonts> fonts;
  std::function<void()> wake;  ///< a result is there: draw again; called from another thread
  std::function<std::string()> get_clipboard;
  std::function<void(const std::string&)> set_clipboard;
};

/// The examples beside the program; none where they cannot be read: they are worth having, not worth failing
/// for.
std::vector<ExamplePrompt> bundled_examples();

/// The program without a window system: events in, pictures out. Owns the state and the worker. The window,
/// `shot` and the tests are thin shells about it.
class Core {
 public:
  explicit Core(CoreOptions options);
  ~Core();

  /// One event of the user, against the window as it was last drawn.
  void handle(const Event& event);
  void apply(const Action& action);

  /// Takes over what the worker has made since; true when something changed that is worth drawing.
  bool take_results();
  /// Waits until everything is computed, and takes it over. For pictures without a window, and for tests.
  void settle();

  const WindowPicture& draw(const WindowFrame& frame);
  const WindowPicture& window() const { return window_; }
  const UiState& state() const { return state_; }
  const Snapshot& snapshot() const { return *snapshot_; }
  const PictureCache& cache() const { return cache_; }
  Settings settings() const;

  void set_window_size(int width, int height);  ///< to be remembered

 private:
  void carry_out(const Effect& effect);
  void export_file(const ExportEffect& effect);
  void copy_numbers(const CopyNumbersEffect& effect);
  /// Whether all that an export asked is known, whole. If not, the effect waits for it and is carried out
  /// then. Throws std::runtime_error with the sentence of what failed.
  bool all_there(const Effect& effect, const std::vector<Question>& asked);
  void list_folder(const std::filesystem::path& folder);
  void find_models();
  void save();
  void generate_step();
  void follow_caret(Field field);

  CoreOptions options_;
  UiState state_;
  std::shared_ptr<const Snapshot> snapshot_;
  FieldMetrics metrics_;
  PictureCache cache_;
  std::vector<Question> questions_;  // that the window asks, the newest first
  std::optional<Effect> waiting_;    // an export, for what it asks
  std::vector<Question> waiting_for_;
  WindowFrame frame_;
  WindowPicture window_;
  int window_width_ = 0, window_height_ = 0;
  std::unique_ptr<model::Sampler> sampler_;  // of the generation that runs
  std::uint64_t sampler_seed_ = 0;
  Worker worker_;  // last: it wakes the window
};

}  // namespace headscope::app
