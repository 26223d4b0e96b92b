#pragma once
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/desktop/background.h"
#include "app/desktop/picture_clipboard.h"
#include "app/hub/fetch.h"
#include "app/recipe/settings.h"
#include "app/run/worker.h"
#include "app/window/state.h"
#include "app/window/ui.h"
#include "app/window/window.h"

namespace headscope::app {

/// What the core needs of the world; a test brings its own.
struct CoreOptions {
  WindowOptions window;
  Settings settings;
  std::filesystem::path settings_file;  ///< empty: nothing is kept
  std::filesystem::path state_folder;   ///< where the last session is kept; empty: nowhere
  std::filesystem::path start_folder;   ///< where the directory browser and exports begin
  std::vector<ExamplePrompt> examples;
  std::vector<Tour> tours;
  std::optional<std::size_t> tour;                          ///< that is open at first, at `window.stop`
  bool offer_tours = false;                                 ///< their list is open at first
  std::filesystem::path examples_model;                     ///< see UiState
  std::vector<DiscoveredModel> (*find_models)() = nullptr;  ///< null: none; called from another thread
  /// Brings a model and gives its folder, as fetch_model; null: none can be had. Called from another thread.
  std::function<std::filesystem::path(const HubModel&, const FetchOptions&)> fetch;
  std::shared_ptr<const viz::Fonts> fonts;
  Screen* screen = nullptr;    ///< what shows the frames; has to outlive the core
  std::function<void()> wake;  ///< a result is there: draw again; called from another thread
  std::function<std::string()> get_clipboard;
  std::function<void(const std::string&)> set_clipboard;
  std::optional<PictureClipboard> pictures;      ///< what copies pictures; nothing: they cannot be copied
  Environment environment;                       ///< for "~" in paths; null: the process's
  std::chrono::milliseconds message_time{6000};  ///< how long information stays
};

/// Gives the core its tours, and opens the one that the window's options name. Throws std::runtime_error (one
/// sentence) where there is none of that name, or not so many stops.
void open_tours(CoreOptions& options, LoadedTours loaded);

/// The program without a window system: events in, frames of Dear ImGui out. Owns the state and the worker.
/// The window, `shot` and the tests are thin shells about it.
class Core {
 public:
  explicit Core(CoreOptions options);
  ~Core();

  /// One event of the user. What it hits is the window as the events before it left it.
  void handle(const Event& event);
  void apply(const Action& action);

  /// Takes over what was made since, by the worker and beside it, and lets go what has been said long enough;
  /// true when something changed that is worth drawing.
  bool take_results();
  /// When take_results has something to do by itself: seconds from now.
  std::optional<double> next_change() const;
  /// Waits until everything is computed, and takes it over. For pictures without a window, and for tests.
  void settle();

  /// Makes a frame, which the screen may show then; lengths found in it are settled.
  const WindowPicture& draw(const WindowFrame& frame);
  /// The whole window in pixels, of what is computed.
  viz::Bitmap picture(const WindowFrame& frame) const;
  void make_current() const { gui_.make_current(); }  ///< the frame's context
  void renew_screen() { gui_.renew(); }               ///< see Gui::renew
  const WindowPicture& window() const { return window_; }
  const UiState& state() const { return state_; }
  const Snapshot& snapshot() const { return *snapshot_; }
  const PictureCache& cache() const { return memory_.cache; }
  const Moment& moment() const { return memory_.moment; }
  Settings settings() const;

  /// To be remembered.
  void set_window_size(int width, int height) { window_width_ = width, window_height_ = height; }

  /// The window closes: keeps for the next start what it shows, and how. Throws std::runtime_error (one
  /// sentence) where that cannot be written. The destructor does the same without a word, where this was not
  /// called.
  void close();

 private:
  void run_frame(const Event* event);
  void carry_out(const Effect& effect);
  void perform(const SaveEffect&);
  void perform(const ExportEffect& effect);
  void perform(const CopyNumbers& effect);
  void perform(const CopyText& effect);
  void perform(const Paste& effect);
  void perform(const BrowseFolder& effect);
  void perform(const FindModels&);
  void perform(const FetchModel& effect);
  void perform(const CancelFetch&);
  void perform(const SaveSession& effect);
  void perform(const OpenFile& effect);
  /// Whether all that an export asked is known, whole. If not, the effect waits for it and is carried out
  /// then. Throws std::runtime_error with the sentence of what failed.
  bool all_there(const Effect& effect, const std::vector<Question>& asked);
  void save();
  /// Keeps what is on the screen in the state's folder.
  void keep_session();
  void keep_settings();
  /// Both, for the next start. Gives the sentence of what could not be written; empty: all is.
  std::string keep();
  void check_weights();
  void apply_given_edits();
  void generate_step();
  void follow_caret(Field field);
  void ask_for(const std::vector<Question>& asked);
  void want();  ///< of the worker what the window asks, and what an export waits for

  CoreOptions options_;
  UiState state_;
  std::shared_ptr<const Snapshot> snapshot_;
  Memory memory_;
  std::vector<Question> questions_;  // that the window asks, the newest first
  std::optional<Effect> waiting_;    // an export, for what it asks
  std::vector<Question> waiting_for_;
  WindowFrame frame_;
  WindowPicture window_;
  std::optional<std::chrono::steady_clock::time_point> message_until_;
  std::uint64_t errors_seen_ = 0, load_seen_ = 0;
  int window_width_ = 0, window_height_ = 0;
  bool pulling_ = false;  // the mouse moves: what that changes is saved once it is let go
  bool unsaved_ = false;
  bool closed_ = false;
  std::shared_ptr<std::atomic<bool>> fetch_cancelled_ = std::make_shared<std::atomic<bool>>();
  std::chrono::steady_clock::time_point kept_;  // when the session was kept last
  Gui gui_;
  Background<Action> beside_;  // folders, models, other programs
  Worker worker_;              // last: it wakes the window
};

}  // namespace headscope::app
