#pragma once
#include <optional>
#include <string>

#include "app/run/analyses/circuit.h"
#include "app/views/output/circuit_options.h"
#include "app/views/view.h"

// The question about a circuit, by the view's options.
namespace headscope::app::circuit_picture {

extern const Option<CircuitMethod> kMethod;
extern const Option<CircuitElsewhere> kElsewhere;
extern const Option<GradientMetric> kMetric;
extern const Option<int> kEdges;  ///< the most that are shown
extern const Option<bool> kByPosition;
extern const Option<int> kSteps;

int named_tokens(const Options& options);

/// What edges carry that are cut.
CircuitCut cut_of(const ViewContext& context);
/// "zeros", "the second prompt's values", "means over 1,500 tokens of 120 prompts of “names.jsonl”"
std::string elsewhere_words(const ViewContext& context);
/// The means of a list that such edges carry, which have to be known first. There must be a run.
MeansOverList means_of(const ViewContext& context);

/// Nothing until it is known which tokens are measured.
std::optional<CircuitOf> question_of(const ViewContext& context);

}  // namespace headscope::app::circuit_picture
