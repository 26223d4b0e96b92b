#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/run/analyses/attribution.h"
#include "app/run/prompt_run.h"

// What the view of attribution shows, as numbers and names.
namespace headscope::app {

/// What is not in a layer; the last of them only where something was edited.
enum AttributionEnd { kTokenEmbedding, kPositionEmbedding, kFinalBias, kEdits };
std::vector<std::string> end_names(const Attribution& of);
double end_of(const Attribution& of, int which);

/// A part of the model, in the order of the pass: layer -1 is an AttributionEnd, `col` then says which. Else
/// a column of the grid: the heads, attention's bias, the MLP.
struct Contribution {
  int layer = -1;
  int col = 0;
  std::string name;
  double value = 0;
};

enum class AttributionList { parts, layers, sources };

/// What the picture is made of.
struct AttributionNumbers {
  std::shared_ptr<const Attribution> of;
  std::vector<Contribution> parts;
  std::vector<float> grid;  ///< [layers, heads + 2]
  std::vector<std::string> layer_names, column_names;
  std::shared_ptr<const SourceParts> sources;  ///< of the chosen head; null: not listed, or not there yet

  // The rows of the list. ids: of parts: their index, of layers: theirs, -1 - an AttributionEnd of what is in
  // none; of sources: position.
  std::vector<std::string> names;
  std::vector<float> values;
  std::vector<int> ids;
  double sum = 0;  ///< of all rows
};

/// `sources`: for a list of them.
AttributionNumbers attribution_numbers(std::shared_ptr<const Attribution> of, AttributionList list,
                                       std::shared_ptr<const SourceParts> sources,
                                       const PromptTokens& tokens);

}  // namespace headscope::app
