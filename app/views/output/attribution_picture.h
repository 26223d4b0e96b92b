#pragma once
#include <array>

#include "app/run/analyses/attribution.h"
#include "app/run/prompt_run.h"
#include "app/views/parts/list.h"
#include "app/views/view.h"

// The numbers of an attribution and its picture: a grid of the parts in the layers, a row of the parts
// outside them, and a list next to these.
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

/// Roles of regions. cell: row: layer; col: a head, or after the heads attention's bias and the MLP. end: id:
/// an AttributionEnd. row: id: for parts their index, for layers the layer, for sources the position, for
/// neurons their number.
enum AttributionRole { kAttributionCell, kAttributionEnd, kAttributionRow };

extern const Option<AttributionList> kAttributionList;
extern const Option<int> kFirstContribution;
extern const ListRows kAttributionRows;

/// Whether source tokens that only the baseline has contributed.
bool shows_unmatched(const ViewContext& context, const AttributionNumbers& numbers);

/// What the picture says: title and subtitle above, and a note below.
struct AttributionWords {
  std::string title, subtitle, note;
};
Picture attribution_picture(const ViewContext& context, const AttributionNumbers& numbers,
                            const AttributionWords& words);
/// The size of a figure of it.
viz::Point attribution_size(const ViewContext& context);

/// What a region refers to: a part of the model, a layer, a source, or a neuron.
struct AttributionTarget {
  int part = -1;  ///< index into the parts
  int layer = -1;
  int source = -1;
  int neuron = -1;
  bool operator==(const AttributionTarget&) const = default;
};
AttributionTarget attribution_target(const ViewContext& context, const AttributionNumbers& numbers,
                                     const Picture& picture, const viz::Hit& hit);
/// Frames everything that refers to it: in the grid, next to it and in the list.
void frame_target(viz::Scene& overlay, const ViewContext& context, const AttributionNumbers& numbers,
                  const Picture& picture, const AttributionTarget& target);
/// The head of a part; none for other parts.
std::optional<SelectHead> head_of_part(const AttributionNumbers& numbers, int part);

/// Arrow keys move the selected head.
std::optional<ViewActions> attribution_key(const ViewContext& context, const TableRows& rows,
                                           const Gesture& gesture);

}  // namespace headscope::app
