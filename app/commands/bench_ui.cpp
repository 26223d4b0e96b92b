#include "app/commands/bench_ui.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>

#include "app/stopwatch.h"
#include "app/view.h"
#include "app/worker.h"

namespace headscope::app {
namespace {

using Clock = std::chrono::steady_clock;

/// The window without a window: tells the worker what is wanted and draws what comes back.
class Screen {
 public:
  Screen(const std::filesystem::path& model, const ModelArguments& arguments)
      : fonts_(viz::Fonts::load()), worker_({arguments.threads, arguments.precision, [this] { wake(); }}) {
    wanted_.model = model;
    wanted_.load_request = 1;
    worker_.want(wanted_);
    worker_.settle();
  }

  /// Seconds until the pictures of this prompt are there.
  double show(const std::string& text) {
    const auto started = Clock::now();
    wanted_.prompt.text = text;
    worker_.want(wanted_);
    draw(*arrival());
    return std::chrono::duration<double>(Clock::now() - started).count();
  }

  /// Lets the rest (thumbnails, statistics) be done too, as a user does who stops typing; gives the number of
  /// tokens.
  int rest() { return worker_.settle()->run->tokens.length(); }

 private:
  std::shared_ptr<const viz::Fonts> fonts_;
  viz::Theme theme_ = viz::light_theme();
  Wanted wanted_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool news_ = false;
  Worker worker_;  // last: its thread uses what stands above

  void wake() {
    const std::lock_guard lock(mutex_);
    news_ = true;
    woken_.notify_one();
  }

  std::shared_ptr<const Snapshot> arrival() {
    for (;;) {
      auto snapshot = worker_.snapshot();
      if (!snapshot->error.empty()) throw std::runtime_error(snapshot->error);
      if (snapshot->run && snapshot->run->prompt == wanted_.prompt && snapshot->head && snapshot->next)
        return snapshot;
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [&] { return news_; });
      news_ = false;
    }
  }

  void draw(const Snapshot& snapshot) const {
    ViewContext context;
    context.run = snapshot.run.get();
    context.head = snapshot.head.get();
    context.thumbnails = snapshot.thumbnails.get();
    context.statistics = snapshot.statistics.get();
    context.next = snapshot.next.get();
    context.selection = clamped(wanted_.selection, *snapshot.run);
    context.theme = &theme_;
    context.fonts = fonts_.get();
    for (const char* id : {"heatmap", "tokens", "next"}) static_cast<void>(find_view(id)->build(context));
  }
};

/// The beginning of a text that goes on and on, of about so many tokens.
std::string text_of(const model::Tokenizer& tokenizer, int length) {
  std::string text;
  std::vector<model::Token> tokens;
  while (std::ssize(tokens) < length) {
    text += "Once upon a time there was an old house, and in the house there lived a cat. ";
    tokens = tokenizer.encode(text);
  }
  return text.substr(0, length > 0 ? tokens[static_cast<std::size_t>(length) - 1].end : 0);
}

KeystrokeTiming measure_length(Screen& screen, const model::Tokenizer& tokenizer, int length) {
  const std::string typed = " and then it went";
  const int room = static_cast<int>(typed.size());  // a letter may be a token
  std::string text = text_of(tokenizer, std::max(length - room, 1));
  screen.show(text);
  screen.rest();
  std::vector<double> at_the_end, at_the_start;
  for (const char letter : typed) {
    text += letter;
    at_the_end.push_back(screen.show(text));
    screen.rest();
  }
  KeystrokeTiming timing;
  timing.tokens = screen.rest();
  for (int round = 0; round < 7; ++round) {
    text[0] = static_cast<char>('A' + round);
    at_the_start.push_back(screen.show(text));
    screen.rest();
  }
  timing.at_the_end_longest = std::ranges::max(at_the_end);
  timing.at_the_end = median(std::move(at_the_end));
  timing.at_the_start = median(std::move(at_the_start));
  return timing;
}

}  // namespace

std::vector<KeystrokeTiming> measure_keystrokes(const LoadedModel& model, const ModelArguments& arguments,
                                                const std::vector<int>& lengths) {
  Screen screen(model.folder, arguments);
  std::vector<KeystrokeTiming> timings;
  timings.reserve(lengths.size());
  for (const int length : lengths) timings.push_back(measure_length(screen, *model.tokenizer, length));
  return timings;
}

}  // namespace headscope::app
