#include "app/window/state/playing.h"

#include <algorithm>
#include <cmath>

#include "app/window/state.h"

namespace headscope::app {
namespace {

constexpr double kRest = 0.9, kMove = 0.7;  // seconds at a value, and between two

double duration(const OptionSpec& option) {
  const double steps = option.high - option.low;
  return steps * (kRest + kMove) + kRest;
}

/// Slow at both ends.
double eased(double t) {
  return t * t * (3 - 2 * t);
}

}  // namespace

double played_value(const Playing& playing) {
  const OptionSpec& option = *playing.option;
  const double step = std::floor(std::max(0.0, playing.seconds) / (kRest + kMove));
  const double within = playing.seconds - step * (kRest + kMove);
  const double moved = playing.in_steps ? 0 : eased(std::clamp((within - kRest) / kMove, 0.0, 1.0));
  return std::min(option.low + step + moved, option.high);
}

double seconds_until_change(const Playing& playing) {
  const double within = std::fmod(playing.seconds, kRest + kMove);
  const double pause = playing.in_steps ? kRest + kMove : kRest;
  return within < pause ? pause - within : 0;
}

bool has_ended(const Playing& playing) {
  return playing.seconds >= duration(*playing.option);
}

void reduce(UiState& s, const PlayOption& a, World&) {
  const bool stops = a.option == nullptr || s.playing.option == a.option;
  s.playing = {};
  if (stops) return;
  s.playing = {a.option, 0, s.reduce_motion};
  s.options.set(*a.option, played_value(s.playing));
}

void reduce(UiState& s, const AdvancePlaying& a, World&) {
  if (s.playing.option == nullptr) return;
  s.playing.seconds += a.seconds;
  s.options.set(*s.playing.option, played_value(s.playing));
  if (has_ended(s.playing)) s.playing = {};
}

}  // namespace headscope::app
