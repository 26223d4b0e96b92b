#include "app/views/output/attribution_numbers.h"

#include <algorithm>
#include <array>

#include "app/run/strongest_first.h"
#include "app/views/parts/names.h"
#include "viz/scene/colormap.h"

namespace headscope::app {
namespace {

double cell_of(const Attribution& a, int layer, int col) {
  if (col < a.n_head()) return a.head(layer, col);
  return (col == a.n_head() ? a.attention_bias : a.mlps)[layer];
}

std::string name_of_cell(const Attribution& a, int layer, int col) {
  if (col < a.n_head()) return head_name(layer, col);
  return "L" + std::to_string(layer) + (col == a.n_head() ? " bias" : " MLP");
}

/// Visits the parts outside the layers and each layer, in the order of the pass.
template <class End, class Layer>
void for_each_in_order(const Attribution& a, const End& end, const Layer& layer) {
  end(kTokenEmbedding);
  end(kPositionEmbedding);
  for (int i = 0; i < a.layers; ++i) layer(i);
  end(kFinalBias);
  if (a.edited) end(kEdits);
}

std::vector<Contribution> parts_of(const Attribution& a) {
  const std::vector<std::string> ends = end_names(a);
  std::vector<Contribution> parts;
  for_each_in_order(
      a,
      [&](int end) {
        parts.push_back({-1, end, ends[end], end_of(a, end)});
      },
      [&](int layer) {
        for (int col = 0; col < a.n_head() + 2; ++col)
          parts.push_back({layer, col, name_of_cell(a, layer, col), cell_of(a, layer, col)});
      });
  return parts;
}

void add_row(AttributionNumbers& n, int id, std::string name, double value) {
  n.ids.push_back(id);
  n.names.push_back(std::move(name));
  n.values.push_back(static_cast<float>(value));
}

void add_layer_rows(AttributionNumbers& n) {
  const Attribution& a = *n.of;
  const std::vector<std::string> ends = end_names(a);
  for_each_in_order(
      a, [&](int end) { add_row(n, -1 - end, ends[end], end_of(a, end)); },
      [&](int layer) { add_row(n, layer, n.layer_names[layer], a.layer(layer)); });
  n.sum = a.sum();
}

void add_part_rows(AttributionNumbers& n) {
  std::vector<double> values;
  for (const Contribution& part : n.parts) values.push_back(part.value);
  for (const int i : strongest_first(values)) add_row(n, i, n.parts[i].name, values[i]);
  n.sum = n.of->sum();
}

void add_source_rows(AttributionNumbers& n, const PromptTokens& tokens) {
  const SourceParts* sources = n.split.sources.get();
  if (sources == nullptr) return;
  for (const int key : strongest_first(sources->parts))
    add_row(n, key, tokens.labels[key], sources->parts[key]);
  n.sum = sources->sum();
}

void add_neuron_rows(AttributionNumbers& n) {
  const NeuronParts* neurons = n.split.neurons.get();
  if (neurons == nullptr) return;
  for (const int neuron : strongest_first(neurons->parts))
    add_row(n, neuron, std::to_string(neuron), neurons->parts[neuron]);
  n.sum = neurons->sum();
}

}  // namespace

std::vector<std::string> end_names(const Attribution& of) {
  std::vector<std::string> names{"token embedding", "position embedding", "ln_f bias"};
  if (of.edited) names.emplace_back("edits");
  return names;
}

double end_of(const Attribution& of, int which) {
  return std::array{of.token_embedding, of.position_embedding, of.final_bias, of.edits}[which];
}

std::string sum_words(const AttributionNumbers& n) {
  const Attribution& a = *n.of;
  return "all parts " + viz::fixed_number(a.sum(), 4) + ", the model's " +
         (a.against < 0 ? "logit " : "difference ") + viz::fixed_number(a.logit, 4) + ", rounding error " +
         viz::number(a.rounding_error(), 2);
}

AttributionNumbers attribution_numbers(std::shared_ptr<const Attribution> of, AttributionList list,
                                       AttributionSplit split, const PromptTokens& tokens) {
  AttributionNumbers n;
  n.of = std::move(of);
  n.split = std::move(split);
  const Attribution& a = *n.of;
  n.parts = parts_of(a);
  for (const Contribution& part : n.parts)
    if (part.layer >= 0) n.grid.push_back(static_cast<float>(part.value));
  for (int layer = 0; layer < a.layers; ++layer) n.layer_names.push_back("L" + std::to_string(layer));
  for (int head = 0; head < a.n_head(); ++head) n.column_names.push_back("H" + std::to_string(head));
  n.column_names.insert(n.column_names.end(), {"bias", "MLP"});
  if (list == AttributionList::parts) add_part_rows(n);
  if (list == AttributionList::layers) add_layer_rows(n);
  if (list == AttributionList::sources) add_source_rows(n, tokens);
  if (list == AttributionList::neurons) add_neuron_rows(n);
  return n;
}

}  // namespace headscope::app
