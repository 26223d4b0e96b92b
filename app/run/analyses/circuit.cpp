#include "app/run/analyses/circuit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "app/run/analyses/circuit_flow.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

using model::StreamGraph;
using model::StreamReader;
using model::StreamWriter;
using model::StreamWrites;

void check_unedited(const PromptRun& run) {
  if (run.run->plan != nullptr && !run.run->plan->edits().empty())
    throw model::RunError("a circuit is found in a run without edits, but this run has edits");
}

/// Calls transform(rows of a) for all arrays, with those of b.
void for_each_array(StreamWrites& a, const StreamWrites& b, const auto& transform) {
  transform(a.embedding, b.embedding);
  for (std::size_t layer = 0; layer < a.z.size(); ++layer) {
    transform(a.z[layer], b.z[layer]);
    transform(a.mlp[layer], b.mlp[layer]);
  }
}

/// Every row replaced by the mean of all.
StreamWrites means_of(const StreamWrites& writes) {
  return writes.transformed([&](std::span<float> rows) {
    const std::size_t width = rows.size() / static_cast<std::size_t>(writes.length);
    for (std::size_t i = 0; i < width; ++i) {
      double sum = 0;
      for (std::size_t at = i; at < rows.size(); at += width) sum += static_cast<double>(rows[at]);
      const auto mean = static_cast<float>(sum / writes.length);
      for (std::size_t at = i; at < rows.size(); at += width) rows[at] = mean;
    }
  });
}

/// The rows of `there` at the counterparts of the run's positions; where there is none, the run's own.
StreamWrites aligned(const StreamWrites& own, const StreamWrites& there, std::span<const int> counterparts) {
  StreamWrites result = own;
  for_each_array(result, there, [&](std::vector<float>& to, const std::vector<float>& from) {
    const auto width = static_cast<std::ptrdiff_t>(to.size()) / own.length;
    for (std::ptrdiff_t i = 0; i < own.length; ++i)
      if (counterparts[i] >= 0)
        std::copy_n(from.begin() + counterparts[i] * width, width, to.begin() + i * width);
  });
  return result;
}

/// The run with its embeddings moved a part of the way to those of the cut run.
std::shared_ptr<const model::Run> run_between(const PromptRun& run, const StreamWrites& changes, double part,
                                              model::Workspace& workspace, const std::stop_token& stop) {
  const auto width = static_cast<std::size_t>(run.run->config.n_embd);
  model::Edits edits;
  for (int position = 0; position < changes.length; ++position) {
    const auto row = std::span(changes.embedding).subspan(static_cast<std::size_t>(position) * width, width);
    edits.emplace_back(model::AddVector{
        {{model::Site::embed, 0}, {}, {position}, {}}, {row.begin(), row.end()}, static_cast<float>(part)});
  }
  model::ForwardOptions options;
  options.plan = run.model->transformer->plan(std::move(edits), workspace, stop);
  options.stop = stop;
  return run.model->transformer->forward(run.run->tokens, workspace, options);
}

std::vector<float> attributed_edges(const CircuitOf& question, const PromptRun& run, const Circuit& circuit,
                                    const StreamWrites& own, const StreamWrites& cut,
                                    const Computation<Circuit>& computation) {
  const model::Transformer& transformer = *run.model->transformer;
  StreamWrites changes = cut;
  for_each_array(changes, own, [](std::vector<float>& to, const std::vector<float>& from) {
    std::ranges::transform(to, from, to.begin(), std::minus<>());
  });
  const int edges = circuit.graph.edge_count();
  std::vector<double> sums(static_cast<std::size_t>(circuit.rows) * edges);
  const int steps = question.method == CircuitMethod::integrated ? question.steps : 1;
  for (int step = 0; step < steps; ++step) {
    const double part = static_cast<double>(step) / steps;
    const auto at =
        step == 0 ? run.run : run_between(run, changes, part, computation.workspace, computation.stop);
    // What an edge keeps is minus what its change adds.
    transformer.attribute_edges(*at, circuit.metric, changes, -1.0 / steps,
                                {sums.data(), circuit.rows, edges, edges}, computation.workspace,
                                computation.stop);
    computation.show(circuit, (step + 1.0) / (steps + 1.0));
  }
  return {sums.begin(), sums.end()};
}

/// Which rows and parts can be reached along some edges.
class Paths {
 public:
  explicit Paths(const Circuit& circuit)
      : graph_(circuit.graph),
        rows_(circuit.rows),
        from_start_(cells(graph_.writer_count())),
        to_end_(cells(graph_.writer_count())) {}

  /// Removes edges that are on no path.
  void prune(EdgeList& edges) {
    const int count = graph_.edge_count();
    for (int row = 0; row < rows_; ++row) from_start_[row] = true;  // the embeddings
    // Edges in the order of the pass: those of earlier readers first, at all positions.
    std::ranges::sort(edges, {}, [&](int place) { return std::pair(place % count, place / count); });
    for (const int place : edges)
      if (from_start_[cell(graph_.writer_of(place % count), place / count)])
        reach(place % count, place / count);
    const auto starts = [&](int place) {
      return from_start_[cell(graph_.writer_of(place % count), place / count)];
    };
    std::erase_if(edges, [&](int place) { return !starts(place); });
    for (auto place = edges.rbegin(); place != edges.rend(); ++place)
      if (leads_on(*place % count, *place / count))
        to_end_[cell(graph_.writer_of(*place % count), *place / count)] = true;
    std::erase_if(edges, [&](int place) { return !leads_on(place % count, place / count); });
    std::ranges::sort(edges);
  }

 private:
  std::vector<bool> cells(int parts) const {
    return std::vector<bool>(static_cast<std::size_t>(parts) * static_cast<std::size_t>(rows_));
  }
  std::size_t cell(int writer, int row) const {
    return static_cast<std::size_t>(writer) * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(row);
  }

  /// Calls visit(writer, row) for the places that a reader's part writes to with what it read at a row: its
  /// own, or for keys and values that of every later query.
  template <class Visit>
  void for_each_written(int edge, int row, const Visit& visit) const {
    const StreamReader reader = graph_.reader(graph_.reader_of(edge));
    if (reader.kind == StreamReader::Kind::logits) return;
    const StreamWriter writer{reader.is_head() ? StreamWriter::Kind::head : StreamWriter::Kind::mlp,
                              reader.layer, reader.head};
    const bool on = reader.kind == StreamReader::Kind::k || reader.kind == StreamReader::Kind::v;
    for (int to = row; to < (on ? rows_ : row + 1); ++to) visit(graph_.index(writer), to);
  }
  void reach(int edge, int row) {
    for_each_written(edge, row, [&](int writer, int to) { from_start_[cell(writer, to)] = true; });
  }
  bool leads_on(int edge, int row) const {
    if (graph_.reader_of(edge) == graph_.reader_count() - 1) return true;
    bool leads = false;
    for_each_written(edge, row, [&](int writer, int to) { leads = leads || to_end_[cell(writer, to)]; });
    return leads;
  }

  const StreamGraph& graph_;
  int rows_;
  std::vector<bool> from_start_, to_end_;  // [writers, rows]
};

}  // namespace

model::StreamWrites CutOf::writes(const PromptRun& run, const model::StreamWrites& own,
                                  model::Workspace& workspace, const std::stop_token& stop) const {
  check_unedited(run);
  if (cut == CircuitCut::mean) return means_of(own);
  if (cut == CircuitCut::zero)
    return own.transformed([](std::span<float> rows) { std::ranges::fill(rows, 0.0F); });
  if (!run.baseline || !compares_texts(run))
    throw model::RunError("edges are cut to a second prompt, but there is none");
  if (compares_models(run)) throw model::RunError("edges can be cut to a prompt in the same model only");
  check_unedited(*run.baseline);
  return aligned(own, run.model->transformer->stream_writes(*run.baseline->run, workspace, stop),
                 run.aligned);
}

Circuit CircuitOf::compute(const PromptRun& run, const Computation<Circuit>& computation) const {
  check_unedited(run);
  const model::Transformer& transformer = *run.model->transformer;
  Circuit circuit;
  circuit.graph = StreamGraph(run.run->config);
  circuit.length = run.run->length();
  circuit.rows = by_position ? circuit.length : 1;
  circuit.metric = metric_for(metric, run, computation.workspace);
  const StreamWrites own = transformer.stream_writes(*run.run, computation.workspace, computation.stop);
  const StreamWrites there = cut.writes(run, own, computation.workspace, computation.stop);
  const auto kept = [&](std::uint8_t all) {
    const model::KeptEdges edges{std::vector<std::uint8_t>(circuit.graph.edge_count(), all), 1};
    return transformer.cut_pass(*run.run, own.embedding, there, edges, circuit.metric, computation.workspace,
                                computation.stop);
  };
  circuit.value = transformer.gradients(*run.run, circuit.metric, computation.workspace);
  circuit.cut_value = kept(0);
  circuit.scores = method == CircuitMethod::flow
                       ? flow_shares(run, own, circuit.metric, by_position, computation.stop)
                       : attributed_edges(*this, run, circuit, own, there, computation);
  return circuit;
}

EdgeList strongest_edges(const Circuit& circuit, int most) {
  EdgeList places(circuit.scores.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i);
  std::erase_if(places, [&](int place) { return !(std::abs(circuit.scores[place]) > 0); });
  const auto first = static_cast<std::ptrdiff_t>(std::min<std::size_t>(places.size(), std::max(most, 0)));
  std::ranges::partial_sort(places, places.begin() + first, [&](int a, int b) {
    const float of_a = std::abs(circuit.scores[a]), of_b = std::abs(circuit.scores[b]);
    return of_a != of_b ? of_a > of_b : a < b;
  });
  places.resize(first);
  Paths(circuit).prune(places);
  return places;
}

std::size_t CutMetricOf::hash() const {
  std::size_t hash = (metric.index() * 131 + static_cast<std::size_t>(cut.cut)) * 2 + (all_others ? 1 : 0);
  for (const int edge : edges) hash = hash * 131 + static_cast<std::size_t>(edge);
  return hash;
}

CutMetric CutMetricOf::compute(const PromptRun& run, const Computation<CutMetric>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const StreamWrites own = transformer.stream_writes(*run.run, computation.workspace, computation.stop);
  const StreamWrites there = cut.writes(run, own, computation.workspace, computation.stop);
  const auto count = static_cast<std::size_t>(StreamGraph(run.run->config).edge_count());
  model::KeptEdges kept{std::vector<std::uint8_t>(count * rows, all_others ? 1 : 0), rows};
  for (const int place : edges) kept.edges[place] = all_others ? 0 : 1;
  return {transformer.cut_pass(*run.run, own.embedding, there, kept, metric, computation.workspace,
                               computation.stop)};
}

double faithfulness(const Circuit& circuit, double kept_value) {
  const double whole = circuit.value - circuit.cut_value;
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : (kept_value - circuit.cut_value) / whole;
}

}  // namespace headscope::app
