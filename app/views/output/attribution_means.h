#pragma once
#include <memory>
#include <string>

#include "app/run/analyses/means_on_list.h"
#include "app/views/output/attribution_numbers.h"
#include "app/views/view.h"

// The attribution view as means over the prompts of a list.
namespace headscope::app {

/// The question of the view's options.
AttributionOnList attribution_on_list(const ViewContext& context);

/// Why means cannot be listed so: sources and neurons are of one prompt. Empty if they can.
std::string refuse_mean_list(AttributionList list);

/// The mean of each part, in the order of cells_of; null while no prompt is measured.
std::shared_ptr<const Attribution> mean_parts(const MeansOnList& means, const model::Config& config);

/// The mean of a row: of a part, an index into AttributionNumbers::parts; of a layer if `part` is -1. Null:
/// the numbers are no means.
const SampleMean* mean_of_row(const AttributionNumbers& numbers, int part, int layer);

/// That of a row of the list.
const SampleMean* mean_of_listed(const AttributionNumbers& numbers, AttributionList list, int row);

/// "Logit difference by part"
std::string mean_attribution_title(const MeansOnList& means);
/// What the means are of, and how many.
std::string mean_attribution_subtitle(const ViewContext& context, const MeansOnList& means);

}  // namespace headscope::app
