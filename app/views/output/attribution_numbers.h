#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/run/analyses/attribution.h"
#include "app/run/prompt_run.h"

// The numbers and names that the attribution view shows.
namespace headscope::app {

/// Parts outside the layers; kEdits only if there are such edits.
enum AttributionEnd { kTokenEmbedding, kPositionEmbedding, kFinalBias, kEdits };
std::vector<std::string> end_names(const Attribution& of);
double end_of(const Attribution& of, int which);

/// A part of the model, in the order of the pass. Layer -1: `col` is an AttributionEnd; else `col` is a
/// column of the grid: the heads, attention's bias, the MLP.
struct Contribution {
  int layer = -1;
  int col = 0;
  std::string name;
  double value = 0;
};

enum class AttributionList { parts, layers, sources, neurons };

/// What the list splits: the part of the chosen head, or of the chosen layer's MLP. Null: it is not listed,
/// or pending.
struct AttributionSplit {
  std::shared_ptr<const SourceParts> sources;
  std::shared_ptr<const NeuronParts> neurons;
};

/// Everything the picture shows.
struct AttributionNumbers {
  std::shared_ptr<const Attribution> of;
  std::vector<Contribution> parts;
  std::vector<float> grid;  ///< [layers, heads + 2]
  std::vector<std::string> layer_names, column_names;
  AttributionSplit split;

  // The rows of the list. ids: for parts their index; for layers the layer, or -1 - an AttributionEnd; for
  // sources the position; for neurons their number.
  std::vector<std::string> names;
  std::vector<float> values;
  std::vector<int> ids;
  double sum = 0;  ///< sum of all rows
};

AttributionNumbers attribution_numbers(std::shared_ptr<const Attribution> of, AttributionList list,
                                       AttributionSplit split, const PromptTokens& tokens);

/// "all parts 12.3456, the model's logit 12.3456, rounding error 1.2e−6"
std::string sum_words(const AttributionNumbers& numbers);

}  // namespace headscope::app
