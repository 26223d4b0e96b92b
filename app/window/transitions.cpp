#include "app/window/transitions.h"

#include <algorithm>
#include <utility>

#include "viz/scene/blend.h"

namespace headscope::app {
namespace {

/// Whether both show the same tokens of the same models, with other edits.
bool differ_in_edits(const PromptRun& a, const PromptRun& b) {
  return a.model == b.model && a.second_model == b.second_model && a.run->tokens == b.run->tokens &&
         a.prompt.edits != b.prompt.edits;
}

/// Whether options have equal values, apart from those that move.
bool same_options(const View& view, const Options& a, const Options& b, bool moving_ones) {
  return std::ranges::all_of(view.options, [&](const OptionSpec* option) {
    return option->moves != moving_ones || a.value(*option) == b.value(*option);
  });
}

/// Whether two contexts are about the same run and selection.
bool same_subject(const View& view, const ViewContext& a, const ViewContext& b) {
  return a.run == b.run && a.selection == b.selection && same_options(view, a.options, b.options, true);
}

}  // namespace

float progress_of_transition(double seconds) {
  const double left = 1 - std::clamp(seconds / kTransition, 0.0, 1.0);
  return static_cast<float>(1 - left * left * left);
}

bool is_step(const View& view, const ViewContext& a, const ViewContext& b) {
  if (!a.run || !b.run || (a.run != b.run && !differ_in_edits(*a.run, *b.run))) return false;
  const bool same_look = a.side == b.side && a.theme->dark == b.theme->dark && a.width == b.width &&
                         a.height == b.height && a.font_size == b.font_size &&
                         a.device_scale == b.device_scale && a.tries == b.tries && a.prompts == b.prompts;
  return same_look && same_options(view, a.options, b.options, false) && !same_subject(view, a, b);
}

const viz::Scene& Transitions::show(const View& view, const CachedPicture& shown, std::optional<double> time,
                                    bool may_start, bool& moving) {
  shown_.insert(view.id);
  Slot& slot = slots_[view.id];
  if (!time) slot.from.reset();
  if (slot.picture != shown.picture) {
    const bool known = slot.picture != nullptr;
    if (known && time && may_start && is_step(view, slot.context, shown.context)) {
      const float progress = slot.from ? progress_of_transition(*time - slot.start) : 1;
      auto from = std::make_shared<const viz::Scene>(
          progress < 1 ? viz::blend(*slot.from, slot.picture->scene, progress) : slot.picture->scene);
      slot.from = viz::can_blend(*from, shown.picture->scene) ? std::move(from) : nullptr;
      slot.start = *time;
    } else if (!known || !same_subject(view, slot.context, shown.context)) {
      slot.from.reset();
    }  // else more of the same picture is known: its transition goes there
    slot.picture = shown.picture;
    slot.context = shown.context;
    slot.context.answers = nullptr;
    slot.drawn.reset();
  }
  if (!slot.from) return slot.picture->scene;
  const float progress = progress_of_transition(*time - slot.start);
  if (progress >= 1) {
    slot.from.reset();
    slot.between = {};
    return slot.picture->scene;
  }
  moving = true;
  if (slot.drawn != time) {
    slot.between = viz::blend(*slot.from, slot.picture->scene, progress);
    slot.drawn = time;
  }
  return slot.between;
}

void Transitions::drop_unused() {
  std::erase_if(slots_, [&](const auto& slot) { return !shown_.contains(slot.first); });
  shown_.clear();
}

}  // namespace headscope::app
