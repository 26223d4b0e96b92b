#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "app/desktop/background.h"
#include "app/hub/fetch.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/paths.h"
#include "app/run/worker.h"
#include "app/window/state.h"
#include "app/window/ui.h"
#include "app/window/window.h"
#include "system/picture_clipboard.h"

namespace headscope::app {

/// What the core needs from its environment; tests supply their own.
struct CoreOptions {
  WindowOptions window;
  Settings settings;
  std::filesystem::path settings_file;  ///< empty: settings are not saved
  std::filesystem::path state_folder;   ///< holds the windows' sessions; empty: they are not saved
  std::filesystem::path start_folder;   ///< where the folder browser and exports start
  std::vector<TourStop> examples;
  std::vector<Tour> tours;
  Guide guide;                           ///< shown as help, and its definitions in tooltips
  std::optional<std::size_t> tour;       ///< open at the start, at `window.stop`
  bool offer_tours = false;              ///< shows the list of tours at the start
  std::filesystem::path examples_model;  ///< see PromptSlice
  std::vector<DiscoveredModel> (*find_models)() = nullptr;  ///< null: none; called from another thread
  /// Fetches a model and returns its folder, as fetch_model; null: not possible. Called from another thread.
  std::function<std::filesystem::path(const HubModel&, const FetchOptions&)> fetch;
  std::string problem;  ///< with settings or tours, a sentence that is shown; empty: none
  std::shared_ptr<const viz::Fonts> fonts;
  Screen* screen = nullptr;            ///< shows the frames; must outlive the core
  std::function<void()> wake = [] {};  ///< called from another thread when there is something to draw
  std::function<std::string()> get_clipboard;
  std::function<void(const std::string&)> set_clipboard;
  std::optional<system::PictureClipboard> pictures;  ///< copies pictures; nothing: not possible
  Environment environment = process_environment();   ///< for "~" in paths
  std::function<double()> clock;  ///< seconds, for options that play; null: they go to their end at once
  std::chrono::milliseconds message_time{6000};  ///< how long information stays
  std::chrono::milliseconds rest_time{700};      ///< how long the mouse rests before a label is defined
  std::chrono::milliseconds keep_time{3000};     ///< a change is kept for the next start within this time
};

/// The program without a window system: events in, frames of Dear ImGui out. Owns the state and the worker.
/// The window, `shot` and the tests are thin shells around it.
class Core {
 public:
  explicit Core(CoreOptions options);
  ~Core();

  /// Handles one user event. Events are handled in order.
  void handle(const Event& event);
  void apply(const Action& action);

  /// Takes the results of the worker and of background tasks, dismisses a message whose time is up, shows a
  /// definition whose time has come or the next value of an option that plays, and keeps what has changed.
  /// Returns true if the window must be redrawn.
  bool take_results();
  /// Seconds until take_results has to be called even if no result arrives, for a message, a definition, an
  /// option that plays or a change to keep; nothing: never.
  std::optional<double> seconds_until_update() const;
  /// Waits until everything is computed and takes the results; for pictures without a window and for tests.
  void settle();

  /// Draws a frame for the screen to show, whose size the settings keep. Draws again until every size has
  /// settled.
  const WindowPicture& draw(const WindowFrame& frame);
  /// The whole window in pixels, with whatever has been computed so far.
  viz::Bitmap picture(const WindowFrame& frame) const;
  void make_current() const { gui_.make_current(); }  ///< the context of the frame
  const WindowPicture& window() const { return window_; }
  const UiState& state() const { return state_; }
  const Snapshot& snapshot() const { return *snapshot_; }
  const PictureCache& cache() const { return memory_.cache; }
  const WidgetState& widgets() const { return memory_.widgets; }
  Settings settings() const;
  Recipe session() const;  ///< everything that the window shows, without hashes of weights

  /// Saves the session and the settings when the window closes. Throws std::runtime_error (sentences) if
  /// they, or the sessions and pictures that are still being written, cannot be written. The destructor does
  /// the same and ignores errors if this was not called.
  void close();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void run_frame(const Event* event);
  void carry_out(const Effect& effect);
  void perform(const DoExport& effect);
  void perform(const CopyNumbers& effect);
  void perform(const CopyText& effect);
  void perform(const Paste& effect);
  void perform(const BrowseFolder& effect);
  void perform(const FindModels&);
  void perform(const FetchModel& effect);
  void perform(const SaveSession& effect);
  void perform(const OpenFile& effect);
  /// Runs work on another thread. What it throws becomes a message.
  void run(const std::string& topic, std::function<Action()> work);
  /// Carries the effect out again once the questions that it asked have complete answers.
  void await_answers(const Effect& effect, const SnapshotAnswers& answers);
  void keep_soon();  ///< something has changed
  void keep();       ///< begins to write the session and the settings, if they have changed
  static constexpr const char* kSaving = "saving";  // the topic of sessions that the user saves
  /// The hash of a model's weights; empty until it is known.
  std::string known_hash(const LoadedModel& model);
  std::string keeping_topic() const;
  /// The path, which must name a file. Throws std::runtime_error.
  std::filesystem::path path_to_write(const std::string& typed, std::string_view extension) const;
  void apply_given_edits();
  void generate_step();
  /// The question that generation asks: the next token after the shown side of a comparison, or the prompt.
  Question next_token_question() const;
  void follow_carets();
  /// The label under the mouse is defined once the mouse has rested.
  void await_rest();
  void request_answers();  ///< asks the worker the questions of the window and of a pending export

  CoreOptions options_;
  UiState state_;
  std::shared_ptr<const Snapshot> snapshot_;
  UiMemory memory_;
  std::vector<Question> questions_;       // asked by the window, newest first
  std::optional<Effect> pending_export_;  // an export that is waiting for answers
  std::vector<Question> pending_questions_;
  WindowFrame frame_;
  WindowPicture window_;
  std::set<Field> edited_;  // whose carets the next frame scrolls into view
  std::optional<Time> message_until_;
  std::optional<Time> define_at_;                      // when the label under the mouse is defined
  double next_value_at_ = 0;                           // when an option that plays shows its next value
  std::filesystem::path saved_session_;                // the file that a session was last saved to
  std::filesystem::path kept_session_;                 // the file of this window's session; empty: none
  std::map<std::filesystem::path, std::string> kept_;  // what session and settings were last written with
  std::optional<Time> keep_at_;
  std::stop_source hashing_;  // of weights, for sessions
  bool closed_ = false;
  Gui gui_;
  /// Reads and writes files, runs other programs. Tasks that write are in order, by the file's path.
  Background<std::optional<Action>> background_;
  Worker worker_;  // last member: it wakes the window
};

}  // namespace headscope::app
