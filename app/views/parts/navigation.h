#pragma once
#include "app/views/content.h"

// Moving the selection along the prompt and through the layers.
namespace headscope::app {

/// The action of a key in a picture where the prompt runs from left to right: Left and Right, Home and End
/// select the query, Left and Right with Shift the key. Nothing for other gestures.
ViewActions keys_along_prompt(const ViewContext& context, const Gesture& gesture);
/// Arrows select another layer or head: down moves so far, and if that is given, right does.
OnGesture arrows(MoveHead down, std::optional<MoveHead> right = {});
/// Selects the key `by` positions further that the query sees; without a selected key, the first or last.
ViewActions move_key(const ViewContext& context, int by);
/// Whether the query may have weight on the key in the selected head.
bool may_see(const ViewContext& context, int query, int key);
/// "this key comes after the query", or that edits mask it.
std::string why_masked(int query, int key);
/// A click on a key: selects it, or clears the selection.
SelectKey clicked_key(const ViewContext& context, int position);

}  // namespace headscope::app
