#include "app/cli/commands/bench.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "app/cli/stopwatch.h"
#include "app/views/parts/edit_menu.h"
#include "app/window/core.h"
#include "system/condition.h"

namespace headscope::app {
namespace {

/// A window without a screen.
class HeadlessWindow {
 public:
  HeadlessWindow(const std::filesystem::path& model, const ModelArguments& arguments)
      : fonts_(viz::Fonts::load()), core_(options(model, arguments)) {
    rest();
  }

  /// Seconds from an action until all its answers are drawn.
  double answer_to(const Action& action) {
    return seconds([&] {
      core_.apply(action);
      wait_for_pictures();
    });
  }

  /// Waits for the rest (thumbnails, statistics), as if the user stopped typing.
  void rest() {
    core_.settle();
    complain();
    draw();
  }

  void draw() { core_.draw(frame_); }
  int tokens() const { return core_.snapshot().run->tokens.length(); }

 private:
  WindowFrame frame_;
  system::Mutex mutex_;
  system::Condition woken_;
  bool news_ = false;
  std::shared_ptr<const viz::Fonts> fonts_;
  NullScreen screen_;
  Core core_;  // last member: its worker thread uses those above

  CoreOptions options(const std::filesystem::path& model, const ModelArguments& arguments) {
    CoreOptions options;
    options.window.model = model;
    options.window.threads = arguments.threads;
    options.window.precision = arguments.precision;
    options.fonts = fonts_;
    options.screen = &screen_;
    options.wake = [this] {
      const std::lock_guard lock(mutex_);
      news_ = true;
      woken_.notify_one();
    };
    return options;
  }

  void complain() const {
    if (const std::string& error = core_.snapshot().error; !error.empty()) throw std::runtime_error(error);
  }

  /// Draws until all quick answers are there.
  void wait_for_pictures() {
    while (true) {
      core_.take_results();
      complain();
      draw();
      const Snapshot& snapshot = core_.snapshot();
      if (snapshot.run && snapshot.run->prompt == prompt_of(core_.state()) && !core_.window().stale) return;
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [&] { return news_; });
      news_ = false;
    }
  }
};

/// The beginning of a repeating text, about `length` tokens long.
std::string text_of(const model::Tokenizer& tokenizer, int length) {
  std::string text;
  std::vector<model::Token> tokens;
  while (std::ssize(tokens) < length) {
    text += "Once upon a time there was an old house, and in the house there lived a cat. ";
    tokens = tokenizer.encode(text);
  }
  return text.substr(0, length > 0 ? tokens[length - 1].end : 0);
}

double median_answer(HeadlessWindow& screen, const std::vector<Action>& actions, double* longest = nullptr) {
  std::vector<double> times;
  for (const Action& action : actions) {
    times.push_back(screen.answer_to(action));
    screen.rest();
  }
  if (longest) *longest = std::ranges::max(times);
  return median(std::move(times));
}

WindowTiming measure_length(HeadlessWindow& screen, const LoadedModel& model, int length) {
  constexpr int kRounds = 7;
  const std::string typed = " and then it went";
  const int room = static_cast<int>(typed.size());  // each letter may become a token
  std::string text = text_of(*model.tokenizer, std::max(length - room, 1));
  const model::Config& config = model.transformer->config();
  std::vector<Action> letters, beginnings, heads;
  for (const char letter : typed) letters.push_back(TypeInField{Field::prompt, Insert{{letter}, true}});
  for (int round = 0; round < kRounds; ++round) {
    text[0] = static_cast<char>('A' + round);
    beginnings.push_back(SetPrompt{text + typed, {}, {}});
    const int head = (round + 1) % (config.n_layer * config.n_head);
    heads.push_back(SelectHead{head / config.n_head, head % config.n_head});
  }
  screen.answer_to(SetPrompt{text, ExamplePrompt::Head{0, 0}, {}});
  screen.rest();
  WindowTiming timing;
  timing.append_letter = median_answer(screen, letters, &timing.append_letter_longest);
  timing.tokens = screen.tokens();
  timing.select_head = median_answer(screen, heads);
  std::vector<Action> off;
  for (int round = 0; round < kRounds; ++round)
    off.push_back(
        ListEdits{{{{head_off(round % config.n_layer, round % config.n_head), true}}, false}, false});
  timing.head_off = median_answer(screen, off);
  screen.answer_to(ListEdits{});
  screen.rest();
  timing.settled_frame = median_seconds([&] { screen.draw(); });
  timing.replace_first_letter = median_answer(screen, beginnings);
  for (const View* view : tabs()) {
    ViewTiming& opened = timing.views.emplace_back();
    opened.id = view->name();
    opened.first = screen.answer_to(ShowView{std::string(view->id)});
    opened.whole = opened.first + seconds([&] { screen.rest(); });
    opened.frame = median_seconds([&] { screen.draw(); });
  }
  screen.answer_to(ShowView{std::string(view_at(Place::tab).id)});
  return timing;
}

}  // namespace

std::vector<WindowTiming> measure_window(const LoadedModel& model, const ModelArguments& arguments,
                                         const std::vector<int>& lengths) {
  HeadlessWindow screen(model.folder, arguments);
  std::vector<WindowTiming> timings;
  timings.reserve(lengths.size());
  for (const int length : lengths) timings.push_back(measure_length(screen, model, length));
  return timings;
}

}  // namespace headscope::app
