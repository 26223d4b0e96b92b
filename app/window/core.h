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

/// What the core needs from outside; tests have their own.
struct CoreOptions {
  WindowOptions window;
  Settings settings;
  std::filesystem::path settings_file;  ///< empty: they are not saved
  std::filesystem::path state_folder;   ///< for the last session; empty: it is not saved
  std::filesystem::path start_folder;   ///< where the folder browser and exports start
  std::vector<ExamplePrompt> examples;
  std::vector<Tour> tours;
  std::optional<std::size_t> tour;                          ///< opened at first, at `window.stop`
  bool offer_tours = false;                                 ///< shows their list at first
  std::filesystem::path examples_model;                     ///< see PromptSlice
  std::vector<DiscoveredModel> (*find_models)() = nullptr;  ///< null: none; called from another thread
  /// Fetches a model and returns its folder, as fetch_model; null: not possible. Called from another thread.
  std::function<std::filesystem::path(const HubModel&, const FetchOptions&)> fetch;
  std::shared_ptr<const viz::Fonts> fonts;
  Screen* screen = nullptr;    ///< shows the frames; has to outlive the core
  std::function<void()> wake;  ///< called from another thread when there is something to draw
  std::function<std::string()> get_clipboard;
  std::function<void(const std::string&)> set_clipboard;
  std::optional<PictureClipboard> pictures;      ///< copies pictures; nothing: not possible
  Environment environment;                       ///< for "~" in paths; null: that of the process
  std::chrono::milliseconds message_time{6000};  ///< how long information stays
};

/// Sets the core's tours, and opens the one that the window's options name. Throws std::runtime_error (one
/// sentence) if there is no tour of that name, or no such stop.
void open_tours(CoreOptions& options, LoadedTours loaded);

/// The program without a window system: events in, frames of Dear ImGui out. Owns the state and the worker.
/// The window, `shot` and the tests are thin shells around it.
class Core {
 public:
  explicit Core(CoreOptions options);
  ~Core();

  /// Handles one event of the user, after all events before it.
  void handle(const Event& event);
  void apply(const Action& action);

  /// Takes the results of the worker and the background, and dismisses a message that was shown long enough;
  /// true if the window has to be drawn.
  bool take_results();
  /// Seconds until take_results has something to do without a result.
  std::optional<double> next_change() const;
  /// Waits until everything is computed, and takes the results. For pictures without a window, and for tests.
  void settle();

  /// Draws a frame, which the screen can show then; repeats it until all sizes are settled.
  const WindowPicture& draw(const WindowFrame& frame);
  /// The whole window in pixels, as far as it is computed.
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

  /// Saves session and settings for the next start, as the window closes. Throws std::runtime_error (one
  /// sentence) if they cannot be written. The destructor does the same, ignoring errors, if this was not
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
  /// Whether all questions of an export have whole answers. If not, the effect is carried out again once they
  /// have. Throws std::runtime_error with the reason of an answer that failed.
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
  void want();  ///< tells the worker what the window asks, and what an export waits for

  CoreOptions options_;
  UiState state_;
  std::shared_ptr<const Snapshot> snapshot_;
  Memory memory_;
  std::vector<Question> questions_;  // of the window, the newest first
  std::optional<Effect> waiting_;    // an export that lacks answers
  std::vector<Question> waiting_for_;
  WindowFrame frame_;
  WindowPicture window_;
  std::optional<std::chrono::steady_clock::time_point> message_until_;
  std::uint64_t errors_seen_ = 0, load_seen_ = 0;
  int window_width_ = 0, window_height_ = 0;
  bool pulling_ = false;  // the mouse moves: what changes is saved when it is released
  bool unsaved_ = false;
  bool closed_ = false;
  std::shared_ptr<std::atomic<bool>> fetch_cancelled_ = std::make_shared<std::atomic<bool>>();
  std::chrono::steady_clock::time_point kept_;  // when the session was saved last
  Gui gui_;
  Background<Action> beside_;  // folders, models, other programs
  Worker worker_;              // last: it wakes the window
};

}  // namespace headscope::app
