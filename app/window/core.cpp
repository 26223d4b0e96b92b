#include "app/window/core.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "app/run/sources/weights_hash.h"
#include "app/window/commands.h"
#include "app/window/exporting.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"
#include "system/atomic_file.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{3};  // of a window that closes, with each kind of task

/// `now` in its order, but with the questions that are not in `before` first.
std::vector<Question> newest_first(const std::vector<Question>& before, const std::vector<Question>& now) {
  const QuestionSet old(before.begin(), before.end()), asked(now.begin(), now.end());
  std::vector<Question> ordered;
  for (const Question& question : now)
    if (!old.contains(question)) ordered.push_back(question);
  for (const Question& question : before)
    if (asked.contains(question)) ordered.push_back(question);
  return ordered;
}

UiState first_state(const CoreOptions& options) {
  const Settings& settings = options.settings;
  const WindowOptions& window = options.window;
  const Session& given = window.recipe.session;
  UiState s;
  show_kept_part(s, settings.session);
  s.start_token = s.start_token_chosen = settings.start_token;
  show_option_text(s);
  s.model = window.model;
  s.load_request = 1;
  s.examples = options.examples;
  s.examples_model = options.examples_model;
  std::string text;
  if (!options.examples.empty()) {
    const TourStop& first = options.examples.front();
    text = *first.prompt;
    s.selection.layer = first.layer.value_or(0), s.selection.head = first.head.value_or(0);
    s.example_waits = !settings.has_prompt && !window.prompt && given.selection == Selection{};
  }
  if (settings.has_prompt) {
    text = settings.session.prompt.text;
    s.selection = settings.session.selection;
  }
  if (window.prompt) {
    text = window.prompt->text;
    s.ids = window.prompt->ids;
    s.start_token = window.prompt->start_token.value_or(false);
    s.start_token_chosen = window.prompt->start_token.has_value();
    s.selection = {};
  }
  if (given.selection != Selection{}) s.selection = given.selection;
  show_comparison(s, given, window.second);
  s.tours = options.tours;
  s.guide = std::make_shared<const Guide>(options.guide);
  s.tour.open = options.offer_tours && !s.tours.empty();
  s.prompt.edit = make_text_state(std::move(text));
  static_cast<Remembered&>(s) = settings;
  s.open_form.listing.folder = options.start_folder;
  if (s.export_folder.empty()) s.export_folder = options.start_folder;
  s.export_form.scale = settings.export_scale;
  s.can_copy_pictures = options.pictures.has_value();
  s.can_fetch = options.fetch != nullptr;
  return s;
}

/// The session and the settings were written for the next start; else `problem` says why not.
Action keeping_ended(const std::string& problem) {
  return [problem](UiState& s, ReduceContext& w) {
    const std::string before = std::exchange(s.keep_problem, problem);
    if (!problem.empty())
      reduce(s, ShowMessage{problem, true}, w);
    else if (s.message.text == before)
      s.message = {};
  };
}

}  // namespace

Core::Core(CoreOptions options)
    : options_(std::move(options)),
      state_(first_state(options_)),
      gui_(options_.fonts, *options_.screen),
      background_(options_.wake),
      worker_({options_.window.threads, options_.window.recipe.session.precision, options_.wake}) {
  snapshot_ = worker_.snapshot();
  if (const fs::path& folder = options_.state_folder; !folder.empty()) {
    state_.kept_sessions = kept_sessions(folder);
    const auto now = std::chrono::system_clock::now().time_since_epoch();  // no other window has that name
    kept_session_ = folder / ("window-" + std::to_string(now.count()));
    kept_session_ += kSessionExtension;
  }
  set_prompts(state_, options_.window.prompts);  // the list of the last start is not restored
  if (const WindowOptions& window = options_.window; !window.recipe_file.empty()) {
    OpenSession opened{window.recipe, window.recipe_file, window.model};
    if (!window.second.empty()) opened.second = window.second;
    apply(opened);
  }
  if (options_.tour) {
    apply(OpenTour{static_cast<int>(*options_.tour)});
    if (options_.window.stop > 1) apply(GoToStop{options_.window.stop - 1});
  }
  if (state_.can_fetch && state_.offer_models)
    apply(FindModels{});  // an offered model may already be on this machine
  state_.history = {};    // what the program was started with is nothing to undo
  request_answers();
}

Core::~Core() {
  state_.fetching.stop.request_stop();
  if (!closed_) try {
      close();
    } catch (const std::runtime_error&) {  // nobody to report to
    }
  background_.wait("fetch", kPatience);  // which polls for cancellation once a second
}

void Core::handle(const Event& event) {
  Meaning meaning = meaning_of(event, state_, *snapshot_, window_, memory_.widgets, memory_.metrics);
  for (const Action& action : meaning.actions) apply(action);
  if (std::holds_alternative<KeyDown>(event) && !meaning.actions.empty()) frame_.tips = false;
  if (memory_.widgets.focus != 0) {  // the toolkit gets no key, with which it would move the focus itself
    run_frame(nullptr);
    return run_frame(nullptr);
  }
  if (!meaning.to_toolkit) return;
  // First move the mouse there, because it presses what it hovers.
  const auto at = std::visit(
      [](const auto& e) -> std::optional<viz::Point> {
        if constexpr (requires { e.at; }) return e.at;
        return std::nullopt;
      },
      event);
  if (at) frame_.pointer = at, frame_.tips = true;
  frame_.defines = false;
  if (at && !std::holds_alternative<MouseMove>(event)) {
    const Event move = MouseMove{*at};
    run_frame(&move);
  }
  run_frame(&event);
  if (std::holds_alternative<KeyDown>(event)) run_frame(nullptr);  // releases the key and moves the focus
  define_at_.reset();
  if (std::holds_alternative<MouseMove>(event)) await_rest();
}

void Core::await_rest() {
  define_at_.reset();
  if (window_.over_term) define_at_ = std::chrono::steady_clock::now() + options_.rest_time;
}

void Core::run_frame(const Event* event) {
  follow_carets();
  const auto answers = std::make_shared<SnapshotAnswers>(snapshot_);
  window_ = draw_window(gui_, {state_, *snapshot_, answers, options_.fonts, frame_, event}, memory_);
  std::vector<Question> asked = window_.asked;
  if (state_.generation.running) asked.push_back(next_token_question());
  questions_ = newest_first(questions_, asked);
  request_answers();
  for (const Action& action : std::exchange(window_.actions, {})) apply(action);
}

void Core::request_answers() {
  std::vector<Question> all = questions_;
  if (pending_export_) all.insert(all.end(), pending_questions_.begin(), pending_questions_.end());
  worker_.want(wanted(state_, newest_first(questions_, all)));
}

const WindowPicture& Core::draw(const WindowFrame& frame) {
  const bool rests = frame.pointer == frame_.pointer, defines = frame_.defines && rests,
             tips = frame_.tips || !rests;
  if (frame.width != frame_.width || frame.height != frame_.height) keep_soon();
  frame_ = frame;
  options_.settings.window_width = static_cast<int>(frame.width);
  options_.settings.window_height = static_cast<int>(frame.height);
  frame_.tips = tips, frame_.defines = defines;
  run_frame(nullptr);
  for (int i = 1; window_.settling && i < kMaxFrames; ++i) run_frame(nullptr);
  if (!rests) await_rest();
  return window_;
}

viz::Bitmap Core::picture(const WindowFrame& frame) const {
  const auto answers = std::make_shared<SnapshotAnswers>(snapshot_);
  return *window_bitmap({state_, *snapshot_, answers, options_.fonts, frame}, false);
}

void Core::apply(const Action& action) {
  const std::string said = state_.message.text, text = state_.prompt.edit.text;
  if (action.get_if<ShowDialog>()) pending_export_.reset();  // drops the pending export of a closed dialog
  memory_.widgets.found.reset();
  keep_soon();
  for (const Effect& effect : apply_to(state_, action, *snapshot_)) carry_out(effect);
  const auto* session = action.get_if<OpenSession>();
  if (session || action.get_if<OpenModel>())  // nothing more is said of the weights of an earlier session
    background_.run("weights", [opened = session ? *session : OpenSession{}]() -> std::optional<Action> {
      const std::string warning = weights_warning(opened);
      return warning.empty() ? std::nullopt : std::optional<Action>(ShowMessage{warning, true});
    });
  if (action.get_if<ShowMessage>() || state_.message.text != said) {
    message_until_.reset();
    if (!state_.message.text.empty() && !state_.message.is_error)  // an error stays until its cause is gone
      message_until_ = std::chrono::steady_clock::now() + options_.message_time;
  }
  if (const auto* edit = action.get_if<TypeInField>()) edited_.insert(edit->field);
  if (state_.prompt.edit.text != text) edited_.insert(Field::prompt);
  request_answers();
  if (action.get_if<Generate>()) generate_step();  // the answer may be known already
  constexpr double kValueRest = 1.6;               // seconds that an option that plays shows a value
  if (options_.clock && (action.get_if<PlayOption>() || action.get_if<PlayNext>()))
    next_value_at_ = options_.clock() + kValueRest;
}

void Core::follow_carets() {
  for (PlacedField& placed : window_.fields) {
    if (edited_.erase(placed.field) == 0) continue;
    const TextField& text = field_of(state_, placed.field);
    placed.look.scroll = text.scroll;
    apply(scroll_field(placed.field, scroll_to_caret(text.edit, memory_.metrics[placed.field], placed.look)));
  }
}

bool Core::take_results() {
  bool changed = state_.playing != nullptr && (!options_.clock || options_.clock() >= next_value_at_);
  if (changed) apply(PlayNext{});
  const bool has_kept = background_.wait(keeping_topic(), {});  // then why it failed is among the results
  for (const std::optional<Action>& action : background_.take())
    if (action) apply(*action), changed = true;
  if (keep_at_ && std::chrono::steady_clock::now() >= *keep_at_) {
    keep_at_.reset();
    has_kept ? keep() : keep_soon();  // the disk may be slow
  }
  if (message_until_ && std::chrono::steady_clock::now() >= *message_until_)
    apply(ShowMessage{}), changed = true;
  if (define_at_ && std::chrono::steady_clock::now() >= *define_at_) {
    define_at_.reset();
    frame_.defines = changed = true;
  }
  auto newest = worker_.snapshot();
  if (newest == snapshot_) return changed;
  const auto before = std::exchange(snapshot_, std::move(newest));
  const bool other_model = snapshot_->model != before->model;
  const auto& second = snapshot_->second_model;
  memory_.widgets.found.reset();
  if (other_model) {
    apply(ModelOpened{});
    apply_given_edits();
  }
  if (second && second != before->second_model && second->folder != options_.examples_model)
    apply([&](UiState& s, ReduceContext&) { remember(s.recent_models, second->folder); });
  // The second model's row shows why it could not be loaded.
  const bool in_row = snapshot_->error == snapshot_->second_problem;
  if (snapshot_->error_count > before->error_count && !in_row)
    apply(ShowMessage{snapshot_->error, true, true});
  if (in_row && state_.message.from_worker) apply(ShowMessage{});
  const bool ended =
      snapshot_->load_ended != before->load_ended && snapshot_->load_ended == state_.load_request;
  if (ended && !other_model && snapshot_->model) {
    const bool from_session = state_.pending_session.has_value();
    apply(ModelKept{});
    // The session's prompt is run with the model that is open. That run succeeds, so the error is shown here.
    if (from_session && !snapshot_->load_problem.empty()) apply(ShowMessage{snapshot_->load_problem, true});
  }
  generate_step();
  keep_soon();
  if (pending_export_) carry_out(*std::exchange(pending_export_, std::nullopt));
  return true;
}

void Core::apply_given_edits() {
  const auto given = std::exchange(options_.window.edits, nullptr);
  if (!given) return;
  try {
    apply([edits = given(*snapshot_->model)](UiState& s, ReduceContext& w) {
      const Side side = s.side;  // given, too
      reduce(s, AddEdits{edits}, w);
      s.side = side;
      w.is_no_step = true;  // what the program was started with is nothing to undo
    });
  } catch (const std::exception& e) {
    apply(ShowMessage{e.what(), true});
  }
}

std::optional<double> Core::seconds_until_update() const {
  std::optional<double> seconds;
  const auto at_most = [&](double other) { seconds = std::min(seconds.value_or(other), other); };
  if (state_.playing != nullptr && options_.clock) at_most(next_value_at_ - options_.clock());
  for (const auto& until : {message_until_, define_at_, keep_at_})
    if (until) at_most(std::chrono::duration<double>(*until - std::chrono::steady_clock::now()).count());
  return seconds;
}

void Core::settle() {
  do {
    draw(frame_);  // drawing asks the questions
    worker_.settle();
    background_.wait_in_order(std::chrono::hours(1));
  } while (take_results());
}

void Core::carry_out(const Effect& effect) {
  try {
    std::visit([this](const auto& e) { perform(e); }, effect);
  } catch (const std::exception& e) {
    apply(ShowMessage{e.what(), true});
  }
}

Settings Core::settings() const {
  Settings s = options_.settings;
  static_cast<Remembered&>(s) = state_;
  s.session = kept_part(state_);
  s.has_prompt = true;
  s.export_scale = state_.export_form.scale;
  s.last_model = snapshot_->model ? snapshot_->model->folder : state_.model;
  s.start_token = state_.start_token && state_.start_token_chosen;
  return s;
}

Recipe Core::session() const {
  return {session_of(state_, *snapshot_), {}};
}

void Core::keep_soon() {
  if (!keeping_topic().empty() && !keep_at_) keep_at_ = std::chrono::steady_clock::now() + options_.keep_time;
}

std::string Core::known_hash(const LoadedModel& model) {
  const std::pair key(model.folder, model.weights_stamp);
  const auto [hash, is_new] = state_.weights_hashes.try_emplace(key);
  if (!is_new) return hash->second;
  const auto make = [key, stop = hashing_.get_token()]() -> std::optional<Action> {
    const std::string made = weights_hash(key.first, stop);
    if (weights_stamp(key.first, stop) != key.second) return std::nullopt;  // other weights now
    return [=](UiState& s, ReduceContext&) { s.weights_hashes[key] = made; };
  };
  background_.run("hash of " + system::text_of(model.folder) + " " + model.weights_stamp, make);
  return "";
}

std::string Core::keeping_topic() const {
  return system::text_of(kept_session_.empty() ? options_.settings_file : kept_session_);
}

void Core::keep() {
  const std::string before = state_.keep_problem;
  std::vector<std::pair<std::string, std::function<void()>>> changed;
  const auto add = [&](const char* failure, const fs::path& file, std::string content,
                       const std::function<void()>& write) {
    if (before.empty() && kept_[file] == content) return;
    kept_[file] = std::move(content);
    changed.emplace_back(failure, [=] { system::make_folders(file.parent_path()), write(); });
  };
  if (const fs::path& file = kept_session_; !file.empty() && !state_.pending_session) {
    Recipe recipe = session();
    if (snapshot_->model) recipe.session.weights = known_hash(*snapshot_->model);
    if (const LoadedModel* second = named_second(recipe.session, *snapshot_))
      recipe.session.second_weights = known_hash(*second);
    const std::string json = to_json(recipe);
    add("; the session is not kept", file, json, [=] { system::write_file_atomically(file, json); });
  }
  if (const fs::path& file = options_.settings_file; !file.empty())
    add("; the settings are not kept", file, to_json(settings()), [file, own = settings()] {
      system::write_file_atomically(file, to_json(with_recents_of_others(own, file)));
    });
  if (changed.empty()) return;
  background_.run_in_order(keeping_topic(), [before, changed]() -> std::optional<Action> {
    std::string problems;
    for (const auto& [failure, write] : changed) try {
        write();
      } catch (const std::exception& e) {
        problems += (problems.empty() ? "" : ". ") + (e.what() + failure);
      }
    return problems == before ? std::nullopt : std::optional(keeping_ended(problems));
  });
  if (!before.empty()) keep_soon();  // until it can be written
}

void Core::close() {
  closed_ = true;
  std::string problems;
  const auto add = [&](const std::string& problem) {
    problems += (problems.empty() || problem.empty() ? "" : " ") + problem;
  };
  const auto end_writing = [&] {
    background_.wait_in_order(kPatience);
    hashing_.request_stop();
    background_.wait_in_order(kPatience);
    for (const std::optional<Action>& action : background_.take()) {
      if (!action || action->get_if<OpenSession>()) continue;  // what is shown now is kept
      apply(*action);                                          // the settings hold a file's folder
      const auto* ended = action->get_if<WriteEnded>();
      if (ended && ended->how == Writing::failed) add(ended->problem);
    }
  };
  end_writing();
  kept_.erase(kept_session_);  // it is written in any case: another window may have deleted the file
  keep();
  end_writing();
  add(state_.keep_problem);
  for (const std::string& topic : background_.wait_in_order({}))
    add((topic == kSaving ? system::text_of(saved_session_) : topic) +
        " was not written in time: its disk does not answer.");
  if (!problems.empty()) throw std::runtime_error(problems);
}

}  // namespace headscope::app
