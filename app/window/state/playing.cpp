#include "app/window/state/playing.h"

#include <algorithm>
#include <cmath>

#include "app/window/state.h"
#include "viz/scene/easing.h"

namespace headscope::app {
namespace {

constexpr double kRest = 0.9, kMove = 0.7;  // seconds at a value, and between two

double duration(const OptionSpec& option) {
  const double steps = option.high - option.low;
  return steps * (kRest + kMove) + kRest;
}

bool is_shown(const OptionSpec* option, const ViewSlice& s) {
  return std::ranges::any_of(shown_tabs(s),
                             [&](const View* view) { return std::ranges::count(view->options, option) > 0; });
}

void show_value(UiState& s) {
  s.options.set(*s.playing.option, played_value(s.playing));
}

/// Whether the option still has the value that was set last. It does not if something else has set it since,
/// such as a session that was opened.
bool is_undisturbed(const UiState& s) {
  return s.options.value(*s.playing.option) == OptionValue(played_value(s.playing));
}

}  // namespace

double played_value(const Playing& playing) {
  const OptionSpec& option = *playing.option;
  const double step = std::floor(std::max(0.0, playing.seconds) / (kRest + kMove));
  const double within = playing.seconds - step * (kRest + kMove);
  const double moved = viz::eased(std::clamp((within - kRest) / kMove, 0.0, 1.0));
  return std::min(option.low + step + moved, option.high);
}

double seconds_until_change(const Playing& playing) {
  const double within = std::fmod(playing.seconds, kRest + kMove);
  const double left = std::max(0.0, duration(*playing.option) - playing.seconds);
  return within < kRest ? std::min(kRest - within, left) : 0;
}

bool has_ended(const Playing& playing) {
  return playing.seconds >= duration(*playing.option);
}

void reduce(UiState& s, const PlayOption& a, World&) {
  const bool stops = a.option == nullptr || s.playing.option == a.option;
  s.playing = {};
  if (stops) return;
  s.playing = {a.option, 0};
  show_value(s);
}

void reduce(UiState& s, const AdvancePlaying& a, World&) {
  const OptionSpec* option = s.playing.option;
  if (option == nullptr) return;
  if (!is_undisturbed(s) || !is_shown(option, s)) {
    s.playing = {};
    return;
  }
  s.playing.seconds += a.seconds;
  show_value(s);
  if (has_ended(s.playing)) s.playing = {};
}

}  // namespace headscope::app
