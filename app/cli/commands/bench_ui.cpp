#include "app/cli/commands/bench_ui.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>

#include "app/cli/stopwatch.h"
#include "app/window/core.h"
#include "viz/imgui_compat.h"
#include "viz/imgui_player.h"

namespace headscope::app {
namespace {

/// A graphics card that forgets what it is given.
class NoTextures final : public viz::TextureBackend {
 public:
  std::uint64_t create(const viz::Bitmap&, bool) override { return ++last_; }
  void update(std::uint64_t, const viz::Bitmap&, int, int) override {}
  void destroy(std::uint64_t) override {}

 private:
  std::uint64_t last_ = 0;
};

/// Makes the triangles of a frame, which nobody draws.
class NoCard {
 public:
  NoCard(const std::shared_ptr<const viz::Fonts>& fonts, const WindowFrame& frame)
      : player_(fonts, textures_) {
    ImGui::SetCurrentContext(context_.get());
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {frame.width, frame.height};
    viz::compat::claim_null_renderer(io);
    viz::compat::build_fonts(io);
  }

  void play(const viz::Scene& scene) {
    ImGui::SetCurrentContext(context_.get());
    ImGui::GetIO().DeltaTime = 1.0F / 60;
    ImGui::NewFrame();
    player_.begin_frame(1);
    player_.draw(*ImGui::GetBackgroundDrawList(), scene, {0, 0}, 1);
    ImGui::Render();
  }

 private:
  struct Destroy {
    void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
  };
  std::unique_ptr<ImGuiContext, Destroy> context_{ImGui::CreateContext()};
  NoTextures textures_;
  viz::ImguiPlayer player_;
};

/// The window without a window.
class Screen {
 public:
  Screen(const std::filesystem::path& model, const ModelArguments& arguments)
      : fonts_(viz::Fonts::load()), card_(fonts_, frame_), core_(options(model, arguments)) {
    rest();
  }

  /// Seconds until what an action asks for is drawn.
  double answer_to(const Action& action) {
    return seconds([&] {
      core_.apply(action);
      wait_for_pictures();
    });
  }

  /// Lets the rest (thumbnails, statistics) be done too, as a user does who stops typing.
  void rest() {
    core_.settle();
    complain();
    draw();
  }

  void draw() { card_.play(core_.draw(frame_).scene); }
  int tokens() const { return core_.snapshot().run->tokens.length(); }

 private:
  WindowFrame frame_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool news_ = false;
  std::shared_ptr<const viz::Fonts> fonts_;
  NoCard card_;
  Core core_;  // last: its worker's thread uses what stands above

  CoreOptions options(const std::filesystem::path& model, const ModelArguments& arguments) {
    CoreOptions options;
    options.window.model = model;
    options.window.threads = arguments.threads;
    options.window.precision = arguments.precision;
    options.fonts = fonts_;
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

  /// Draws what there is, until all that takes no time is there of what is asked.
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

double median_answer(Screen& screen, const std::vector<Action>& actions, double* longest = nullptr) {
  std::vector<double> times;
  for (const Action& action : actions) {
    times.push_back(screen.answer_to(action));
    screen.rest();
  }
  if (longest) *longest = std::ranges::max(times);
  return median(std::move(times));
}

WindowTiming measure_length(Screen& screen, const LoadedModel& model, int length) {
  constexpr int kRounds = 7;
  const std::string typed = " and then it went";
  const int room = static_cast<int>(typed.size());  // a letter may be a token
  std::string text = text_of(*model.tokenizer, std::max(length - room, 1));
  const model::Config& config = model.transformer->config();
  std::vector<Action> letters, beginnings, heads;
  for (const char letter : typed) letters.push_back(EditField{Field::prompt, Insert{{letter}, true}});
  for (int round = 0; round < kRounds; ++round) {
    text[0] = static_cast<char>('A' + round);
    beginnings.push_back(SetPrompt{text + typed, {}, {}});
    const int head = (round + 1) % (config.n_layer * config.n_head);
    heads.push_back(SelectHead{head / config.n_head, head % config.n_head});
  }
  screen.answer_to(SetPrompt{text, ExamplePrompt::Head{0, 0}, {}});
  screen.rest();
  WindowTiming timing;
  timing.at_the_end = median_answer(screen, letters, &timing.at_the_end_longest);
  timing.tokens = screen.tokens();
  timing.other_head = median_answer(screen, heads);
  timing.settled_frame = median_seconds([&] { screen.draw(); });
  timing.at_the_start = median_answer(screen, beginnings);
  return timing;
}

}  // namespace

std::vector<WindowTiming> measure_window(const LoadedModel& model, const ModelArguments& arguments,
                                         const std::vector<int>& lengths) {
  Screen screen(model.folder, arguments);
  std::vector<WindowTiming> timings;
  timings.reserve(lengths.size());
  for (const int length : lengths) timings.push_back(measure_length(screen, model, length));
  return timings;
}

}  // namespace headscope::app
