#pragma once
#include <vector>

#include "app/views/view.h"

// What menus and keys offer to change of the computation, the same in all views.
namespace headscope::app {

/// Whether there is a computation to change: not of patterns without weights.
bool can_change(const ViewContext& context);
/// Makes the change, or takes it back where it is made already.
ViewActions toggled(const model::Edit& edit);
/// Whether the shown run, or the one that it is compared with, has just this change.
bool is_changed(const ViewContext& context, const model::Edit& edit);

model::Edit head_off(int layer, int head);
model::Edit head_at_mean(int layer, int head);

/// Off, at its mean, stronger or weaker; with a second prompt or model what it has there.
void add_head_edits(std::vector<MenuLine>& menu, const ViewContext& context, int layer, int head);
/// Of one weight: hidden, all of the query's; of the query's row: as it is without changes. Of a key that the
/// head's query cannot see: that it can.
void add_cell_edits(std::vector<MenuLine>& menu, const ViewContext& context, int layer, int head, int query,
                    int key);
/// Of a token's position: none, or that of its neighbour.
void add_position_edits(std::vector<MenuLine>& menu, const ViewContext& context, int position);
/// Of what a layer's attention or MLP adds to the stream.
void add_part_edits(std::vector<MenuLine>& menu, const ViewContext& context, int layer, bool mlp);
/// With a second prompt or model: what that has at a site and, where it is given, a position; `words` are of
/// that place.
void add_patch(std::vector<MenuLine>& menu, const ViewContext& context, model::HookPoint point, int position,
               const std::string& words);

}  // namespace headscope::app
