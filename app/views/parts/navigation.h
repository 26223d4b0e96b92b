#pragma once
#include <optional>
#include <string>

#include "app/views/view.h"

// Moving the selection along the prompt.
namespace headscope::app {

/// What a key means where the prompt runs from left to right: left and right, Home and End choose the query,
/// left and right with Shift the key. Nothing for other gestures.
ViewActions keys_along_prompt(const ViewContext& context, const Gesture& gesture);
/// What a click on any region of a picture does; null: nothing.
using PictureClick = ViewActions (*)(const ViewContext&, const Picture&, const viz::Hit&);
/// Keys that mean something else than along the prompt. Nothing: this one does not; null: none does.
using PictureKey = std::optional<ViewActions> (*)(const ViewContext&, const Gesture&);
/// Gives a view a click, and keys, the others along the prompt.
template <PictureClick kClick, PictureKey kKey = nullptr>
void add_gestures(View& view) {
  view.on = [](const ViewContext& c, const Picture& picture, const viz::Hit* hit,
               const Gesture& gesture) -> ViewActions {
    if (!c.run) return {};
    if constexpr (kClick != nullptr)
      if (gesture.kind == Gesture::Kind::click && hit) return kClick(c, picture, *hit);
    if constexpr (kKey != nullptr)
      if (auto actions = gesture.kind == Gesture::Kind::key ? kKey(c, gesture) : std::nullopt)
        return *actions;
    return keys_along_prompt(c, gesture);
  };
}
/// Arrows up and down: the head of the layer before and after, where heads stand one under the other.
std::optional<ViewActions> heads_by_lines(const ViewContext& context, const Gesture& gesture);
/// The key so many positions further, among those that the query sees; with none chosen, the one at the end
/// that the way leads from.
ViewActions move_key(const ViewContext& context, int by);
/// Whether the query may have weight on the key in the selected head.
bool may_see(const ViewContext& context, int query, int key);
/// "this key comes after the query", or that edits hide it.
std::string why_masked(int query, int key);
/// A click on a key: chooses it, or takes the choice back.
SelectKey clicked_key(const ViewContext& context, int position);

}  // namespace headscope::app
