#include "app/window/visits.h"

#include <utility>

namespace headscope::app {
namespace {

constexpr int kNoStep = -1;

/// Steps that are one together, however many follow each other, what arrows do, have a number; 0: it is one
/// for itself.
struct KindOfStep {
  int operator()(const MoveHead&) const { return 1; }
  int operator()(const MoveQuery&) const { return 2; }
  int operator()(const StepView&) const { return 3; }
  int operator()(const TypeInField&) const { return kNoStep; }
  int operator()(const AppendToken&) const { return kNoStep; }
  int operator()(const SetTokens&) const { return kNoStep; }
  int operator()(const Generate&) const { return kNoStep; }
  int operator()(const Revisit&) const { return kNoStep; }
  int operator()(const ModelOpened&) const { return kNoStep; }
  int operator()(const DoAll& a) const {
    int kind = 0, steps = 0;
    for (const ViewAction& action : a.actions) {
      if (std::holds_alternative<SetOption>(action)) continue;  // where the picture is scrolled to with it
      kind = std::visit(*this, action);
      if (kind == kNoStep) return kind;
      ++steps;
    }
    return steps == 1 ? kind : 0;
  }
  template <class Other>
  int operator()(const Other&) const {
    return 0;
  }
};

}  // namespace

void remember_visit(UiState& state, ViewState before, std::optional<Prompt> replaced, const Action& action) {
  const int by = action.visit(KindOfStep());
  if (by == kNoStep || (looked_at(state) == before && !replaced)) return;
  Visits& visits = state.visits;
  const auto* all = action.get_if<DoAll>();
  const bool goes_on = visits.after.empty() && ((by != 0 && visits.by == by) || (all && all->held));
  visits.by = by;
  visits.after.clear();
  if (action.get_if<TakeBackClick>()) {
    if (!visits.before.empty() && visits.before.back().looked == looked_at(state)) visits.before.pop_back();
    return;
  }
  if (goes_on && !visits.before.empty()) return;
  visits.before.push_back({std::move(before), std::move(replaced)});
  std::size_t bytes = 0, kept = 0;
  for (auto it = visits.before.rbegin(); it != visits.before.rend() && kept < Visits::kMost; ++it, ++kept) {
    bytes += it->prompt ? it->prompt->text.size() + it->prompt->ids.size() * sizeof(int) : 0;
    if (bytes > Visits::kMostBytes && kept > 0) break;
  }
  visits.before.erase(visits.before.begin(), visits.before.end() - static_cast<std::ptrdiff_t>(kept));
}

}  // namespace headscope::app
