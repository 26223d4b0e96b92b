#pragma once
#include <string>
#include <vector>

#include "app/views/view.h"

// Moving the selection along the prompt and through the layers.
namespace headscope::app {

/// What a key means where the prompt runs from left to right: left and right, Home and End choose the query,
/// left and right with Shift the key. Nothing for other gestures.
ViewActions keys_along_prompt(const ViewContext& context, const Gesture& gesture);
/// The same, and with the arrows up and down the layer before and after.
ViewActions keys_along_layers(const ViewContext& context, const Gesture& gesture);
/// "‹ Layer" and "Layer ›": buttons for these.
std::vector<KeyCommand> layer_steps();
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
