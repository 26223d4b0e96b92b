#pragma once
#include <algorithm>
#include <utility>

#include "app/run/analyses/circuit.h"
#include "app/views/output/logit_options.h"
#include "app/views/view.h"

// The question about a circuit, by the options of the view.
namespace headscope::app {

// The choices of circuits, with their names on the command line and in the view.
inline constexpr ChoiceOf<CircuitMethod> kCircuitMethods[] = {
    {CircuitMethod::integrated, "integrated", "Integrated",
     "Edge attribution patching with integrated gradients: the mean gradient on the way between the two "
     "runs' embeddings, along each edge, times the edge's change"},
    {CircuitMethod::attribution, "attribution", "Attribution",
     "Edge attribution patching: the metric's gradient along each edge times the edge's change",
     "edge attribution patching"},
    {CircuitMethod::flow, "flow", "Information flow",
     "The share of what reaches the logits that came along each edge, without gradients",
     "information flow routes"}};
/// What edges carry outside a circuit.
enum class CircuitElsewhere { automatic, mean, second, zero, list_mean };
inline constexpr ChoiceOf<CircuitElsewhere> kCircuitElsewhere[] = {
    {CircuitElsewhere::automatic, "auto", "Auto",
     "The second prompt if there is one, else the mean; zeros for a single token"},
    {CircuitElsewhere::mean, "mean", "Mean", "What the part writes on average over the prompt's positions",
     "means outside the circuit"},
    {CircuitElsewhere::second, "second", "Second prompt", "What the same part wrote in the second prompt",
     "the second prompt outside the circuit"},
    {CircuitElsewhere::zero, "zero", "Zero", "Zeros", "zeros outside the circuit"},
    {CircuitElsewhere::list_mean, "list-mean", "List mean",
     "What the part writes on average over all positions of the open list of prompts",
     "means over {} outside the circuit"}};
static_assert(in_order(kCircuitMethods) && in_order(kCircuitElsewhere));

/// The choices and what they stand for, but for `automatic`, which depends on the run.
inline constexpr std::pair<CircuitElsewhere, CircuitCut> kCutsElsewhere[] = {
    {CircuitElsewhere::mean, CircuitCut::mean},
    {CircuitElsewhere::second, CircuitCut::second},
    {CircuitElsewhere::zero, CircuitCut::zero},
    {CircuitElsewhere::list_mean, CircuitCut::list_mean}};
constexpr CircuitElsewhere elsewhere_of(CircuitCut cut) {
  return std::ranges::find(kCutsElsewhere, cut, &std::pair<CircuitElsewhere, CircuitCut>::second)->first;
}

/// Edges that are shown unless another number is asked for, and at most.
inline constexpr int kCircuitEdges = 30, kMostCircuitEdges = 1000;

/// "L5 H1", "MLP 5", "embedding".
std::string name_of(model::StreamWriter part);
/// "L5 H1 q", "MLP 5", "logits".
std::string name_of(model::StreamReader part);

namespace circuit_picture {

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

}  // namespace circuit_picture
}  // namespace headscope::app
