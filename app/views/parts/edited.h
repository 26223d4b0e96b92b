#pragma once
#include <string>
#include <vector>

#include "app/views/view.h"

// What the edits of a run mean for one head.
namespace headscope::app {

/// Whether a head has edits in the shown run.
bool is_edited_head(const ViewContext& context, int layer, int head);
/// The edits of a head in the shown run, on the difference side in the edited one: of its queries, keys,
/// values, scores, mask, pattern or output.
std::vector<model::Edit> edits_of_head(const ViewContext& context, int layer, int head);

/// Whether an edit acts on what the head writes, so that its pattern and values do not tell that.
bool is_edited_output(const ViewContext& context, int layer, int head);

/// The name for titles: "L5 H1", "L5 H1 (off)" with a single edit, with others "L5 H1 (edited)".
std::string head_title(const ViewContext& context, int layer, int head);

/// Why a layer's attention is the same on both sides of the difference, and where to look instead: one
/// sentence.
std::string no_difference_words(const ViewContext& context, int layer);
/// Draws these words in the middle of an area, on a ground.
void paint_no_difference(Picture& picture, const ViewContext& context, int layer, const viz::Rect& area);

}  // namespace headscope::app
