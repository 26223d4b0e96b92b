#include "app/views/parts/navigation.h"

#include <algorithm>

#include "app/run/analyses/patterns.h"

namespace headscope::app {

ViewActions move_key(const ViewContext& c, int by) {
  if (!c.run) return {};
  const int query = c.selection.query;
  int last = key_count(*c.run) - 1;
  while (last > 0 && !may_see(c, query, last)) --last;
  const int from = c.selection.key >= 0 ? c.selection.key + by : by > 0 ? 0 : last;
  int key = std::clamp(from, 0, last);
  while (!may_see(c, query, key)) key += by > 0 ? 1 : -1;
  return {SelectKey{key}};
}

bool may_see(const ViewContext& c, int query, int key) {
  return may_see(*c.run, {c.selection.layer, c.selection.head}, query, key);
}

std::string why_masked(int query, int key) {
  return key > query ? "this key comes after the query" : "an edit masks this key";
}

SelectKey clicked_key(const ViewContext& c, int position) {
  return {position == c.selection.key ? -1 : position};
}

OnGesture arrows(MoveHead down, std::optional<MoveHead> right) {
  return [=](const ViewContext&, const Spot*, const Gesture& gesture) -> std::optional<ViewActions> {
    const auto move = [](const MoveHead& by, int times) {
      return ViewActions{MoveHead{times * by.layers, times * by.heads}};
    };
    if (gesture.modifiers.shift) return std::nullopt;  // a list's
    if (gesture.key == Key::up) return move(down, -1);
    if (gesture.key == Key::down) return move(down, 1);
    if (right && gesture.key == Key::left) return move(*right, -1);
    if (right && gesture.key == Key::right) return move(*right, 1);
    return std::nullopt;
  };
}

ViewActions keys_along_prompt(const ViewContext& c, const Gesture& gesture) {
  if (gesture.kind != Gesture::Kind::key || !c.run) return {};
  const auto step = [&](int by) -> ViewActions {
    if (gesture.modifiers.shift) return move_key(c, by);
    return {MoveQuery{by}};
  };
  if (gesture.key == Key::left) return step(-1);
  if (gesture.key == Key::right) return step(1);
  if (gesture.key == Key::home) return {SelectQuery{0}};
  if (gesture.key == Key::end) return {SelectQuery{-1}};
  return {};
}

}  // namespace headscope::app
