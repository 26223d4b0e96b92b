// headscope_speed [--model DIR] [--tokens N,...] [--threads N] [--window]: medians in milliseconds as JSON,
// of passes, logits, one more token and gradients for each length of a prompt, and with --window of what a
// user of the window waits for.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "app/cli/engine.h"
#include "app/views/parts/menu_lines.h"
#include "app/window/core.h"
#include "system/threads.h"
#include "tests/support/null_screen.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

/// The time that `work` takes, in seconds.
template <class Work>
double seconds(const Work& work) {
  const auto before = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

/// The median; the upper one of an even number of values.
double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Median time of `work` in milliseconds: after one warm-up call, at least 5 calls, until half a second or
/// 200 calls.
template <class Work>
double median_ms(const Work& work) {
  constexpr double kEnough = 0.5;
  std::vector<double> times;
  work();
  for (double all = 0; times.size() < 5 || (all < kEnough && times.size() < 200); all += times.back())
    times.push_back(seconds(work));
  return 1e3 * median(std::move(times));
}

/// The ids are arbitrary, since the time does not depend on them.
Json measure_passes(Engine& engine, int tokens) {
  const model::Transformer& transformer = *engine.model->transformer;
  const model::Config& config = transformer.config();
  model::Workspace& workspace = engine.workspace;
  std::mt19937 generator(1);
  std::vector<int> ids(tokens);
  for (int& id : ids) id = static_cast<int>(generator() % static_cast<unsigned>(config.vocab_size));
  std::vector<float> logits(config.vocab_size);
  const auto last_logits = [&](const model::Run& run) {
    transformer.logits(run, run.length() - 1, 1, workspace, logits);
  };
  const auto run = transformer.forward(ids, workspace);
  std::vector<double> steps;
  for (int i = 0; i < 9; ++i) {  // each on a base of its own, whose pages it goes on in
    const auto shorter = transformer.forward(std::span(ids).first(ids.size() - 1), workspace);
    model::ForwardOptions cached;
    cached.base = shorter.get();
    steps.push_back(seconds([&] { last_logits(*transformer.forward(ids, workspace, cached)); }));
  }
  model::Hooks hooks;  // down to the embedding, which nobody reads
  hooks.watch({model::Site::embed}, [](const model::ConstActivation2d&) {});
  model::GradientOptions to_embedding;
  to_embedding.hooks = &hooks;
  return {{"tokens", tokens},
          {"pass_ms", median_ms([&] { transformer.forward(ids, workspace); })},
          {"last_logits_ms", median_ms([&] { last_logits(*run); })},
          {"all_logits_ms", median_ms([&] { transformer.statistics(*run, 0, tokens, 10, workspace); })},
          {"one_more_token_ms", 1e3 * median(std::move(steps))},
          {"gradients_ms", median_ms([&] {
             transformer.gradients(*run, model::LogProbability{}, workspace, to_embedding);
           })}};
}

/// A window without a screen.
class HeadlessWindow {
 public:
  explicit HeadlessWindow(const Arguments& arguments) : core_(options(arguments)) { rest(); }

  /// Milliseconds from an action until all its answers are drawn, medians.
  double answer_to(const std::vector<Action>& actions) {
    std::vector<double> times;
    for (const Action& action : actions) {
      times.push_back(1e3 * seconds([&] {
                        core_.apply(action);
                        wait_for_pictures();
                      }));
      rest();
    }
    return median(std::move(times));
  }

  /// Waits for the rest (thumbnails, statistics), as if the user stopped typing.
  void rest() {
    core_.settle();
    if (const std::string& error = core_.snapshot().error; !error.empty()) throw std::runtime_error(error);
    draw();
  }

  void draw() { core_.draw(frame_); }
  /// Milliseconds of a frame while the mouse moves across a view's picture, a median.
  double hover(const View& view) {
    const auto placed = std::ranges::find(core_.window().pictures, &view, &PlacedPicture::view);
    if (placed == core_.window().pictures.end()) return 0;
    const viz::Rect where = placed->where;
    constexpr int kSteps = 40;
    std::vector<double> times;
    for (int i = 1; i < kSteps; ++i) {
      const float along = static_cast<float>(i) / kSteps;
      core_.handle(MouseMove{{where.x + along * where.w, where.y + (0.5F + along / 2) * where.h}});
      times.push_back(1e3 * seconds([&] { draw(); }));
    }
    return median(std::move(times));
  }
  int tokens() const { return core_.snapshot().run->tokens.length(); }

 private:
  WindowFrame frame_;
  system::Mutex mutex_;
  system::Condition woken_;
  bool news_ = false;
  testing::NullScreen screen_;
  Core core_;  // last member: its worker thread uses those above

  CoreOptions options(const Arguments& arguments) {
    CoreOptions options;
    options.window.model = model_folder(arguments.model);
    options.window.threads = arguments.threads;
    options.fonts = viz::Fonts::load();
    options.screen = &screen_;
    options.wake = [this] {
      const std::lock_guard lock(mutex_);
      news_ = true;
      woken_.notify_one();
    };
    return options;
  }

  /// Draws until all quick answers are there.
  void wait_for_pictures() {
    while (true) {
      core_.take_results();
      draw();
      const Snapshot& snapshot = core_.snapshot();
      if (!snapshot.error.empty()) throw std::runtime_error(snapshot.error);
      if (snapshot.run && snapshot.run->prompt == prompt_of(core_.state()) && !core_.window().stale) return;
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [&] { return news_; });
      news_ = false;
    }
  }
};

Json measure_window(HeadlessWindow& window, const LoadedModel& model, int length) {
  constexpr int kRounds = 7;
  const std::string typed = " and then it went";  // each letter may become a token
  std::string text;
  while (std::ssize(model.tokenizer->encode(text + typed)) < length)
    text += "Once upon a time there was an old house, and in the house there lived a cat. ";
  const auto tokens = model.tokenizer->encode(text);
  const int kept =
      std::min(static_cast<int>(tokens.size()), std::max(length - static_cast<int>(typed.size()), 1));
  text.resize(kept > 0 ? tokens[kept - 1].end : 0);
  text.resize(std::max<std::size_t>(text.size(), 1), 'A');
  const model::Config config = model.config();
  std::vector<Action> letters, beginnings, heads, off, views;
  for (const char letter : typed) letters.push_back(TypeInField{Field::prompt, Insert{{letter}, true}});
  for (int round = 0; round < kRounds; ++round) {
    text[0] = static_cast<char>('A' + round);
    beginnings.push_back(TypeInField{Field::prompt, Replace{text + typed}});
    const int head = (round + 1) % (config.n_layer * config.n_head);
    const int layer = head / config.n_head;
    heads.push_back(SelectHead{layer, head % config.n_head});
    off.push_back(ListEdits{{{{head_off(layer, head % config.n_head), true}}}, false});
  }
  window.answer_to({TypeInField{Field::prompt, Replace{text}}, SelectHead{0, 0}});
  Json json = {{"typed_at_the_end_ms", window.answer_to(letters)}};
  json["tokens"] = window.tokens();
  json["other_head_ms"] = window.answer_to(heads);
  json["head_off_ms"] = window.answer_to(off);
  window.answer_to({ListEdits{}});
  json["settled_frame_ms"] = median_ms([&] { window.draw(); });
  json["typed_at_the_start_ms"] = window.answer_to(beginnings);
  for (const View* view : tabs())
    json["views"].push_back({{"view", view->id},
                             {"opened_ms", window.answer_to({ShowView{std::string(view->id)}})},
                             {"settled_frame_ms", median_ms([&] { window.draw(); })},
                             {"hovered_frame_ms", window.hover(*view)}});
  window.answer_to({ShowView{std::string(view_at(Place::tab).id)}});
  return json;
}

}  // namespace
}  // namespace headscope::app

int main(int argc, char** argv) {
  using namespace headscope::app;
  CLI::App app;
  Arguments arguments(nullptr);
  std::vector<int> lengths{16, 64, 256};
  bool with_window = false;
  add_computing(app, arguments);
  app.add_option("--tokens", lengths)->delimiter(',')->check(CLI::Range(2, 1 << 20));
  app.add_flag("--window", with_window);
  CLI11_PARSE(app, argc, argv);
  Engine engine = start_engine(arguments, {std::cin, std::cout, std::cerr});
  Json report = {{"model", engine.model->name}, {"threads", engine.workspace.threads()}};
  for (const int length : lengths) report["runs"].push_back(measure_passes(engine, length));
  if (with_window) {
    HeadlessWindow window(arguments);
    for (const int length : lengths)
      report["window"].push_back(measure_window(window, *engine.model, length));
  }
  std::cout << report.dump(2) << '\n';
}
