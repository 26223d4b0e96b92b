#pragma once
#include <initializer_list>

#include "app/views/view.h"

// What the edits of a run mean for one head.
namespace headscope::app {

/// A head's edits in the shown run, of a difference in the edited one: of q, k, v, scores, mask, pattern, z.
std::vector<model::Edit> edits_of_head(const ViewContext& context, int layer, int head);

/// Whether an edit acts on a head's activations at a site; a mask is one of its scores.
bool is_edited_at(const ViewContext& context, model::Site site, int layer, int head);
/// Whether an edit acts on an activation at a position, for any of its heads if it has heads.
bool is_edited_at(const ViewContext& context, model::HookPoint point, int position);
/// What a vector of the chosen layer and query is, and if an edit at these sites changed it: "…; edited".
std::string with_edits(const ViewContext& context, std::string words,
                       std::initializer_list<model::Site> sites);

/// The factor by which the edits multiply what a head writes: 0: it is off, 1: unedited. Nothing if they do
/// something else to it, e.g. replace it by its mean, or act on some queries only.
std::optional<double> output_factor(const ViewContext& context, int layer, int head);
/// "L5 H1", "L5 H1 (off)", "L5 H1 (× 0.5)", with other edits "L5 H1 (edited)".
std::string head_title(const ViewContext& context, int layer, int head);

/// Marks a head's tile if it has edits: off is faded and struck through, scaled has its factor, else a dot.
void paint_edited_head(viz::Scene& scene, const ViewContext& context, const viz::Rect& tile, int layer,
                       int head);

}  // namespace headscope::app
