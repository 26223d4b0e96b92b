#include "app/run/analyses/circuit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "app/counted.h"
#include "app/run/analyses/parameters.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

using model::StreamGraph;
using model::StreamReader;
using model::StreamWriter;
using model::StreamWrites;

/// Calls visit(rows of each) for all arrays of some writes.
void for_each_array(const auto& visit, auto&... writes) {
  visit(writes.embedding...);
  for (std::size_t layer = 0; layer < std::min({writes.z.size()...}); ++layer) {
    visit(writes.z[layer]...);
    visit(writes.mlp[layer]...);
  }
}

/// Replaces every row by the mean of all.
void set_to_mean(std::vector<float>& rows, int length) {
  const std::size_t width = rows.size() / static_cast<std::size_t>(length);
  for (std::size_t i = 0; i < width; ++i) {
    double sum = 0;
    for (std::size_t at = i; at < rows.size(); at += width) sum += static_cast<double>(rows[at]);
    const auto mean = static_cast<float>(sum / length);
    for (std::size_t at = i; at < rows.size(); at += width) rows[at] = mean;
  }
}

/// Replaces every row by the means of a list.
void set_to_means(StreamWrites& writes, const ActivationMeans& means) {
  const auto fill = [](std::vector<float>& rows, std::span<const float> mean) {
    for (std::size_t at = 0; at < rows.size(); at += mean.size())
      std::ranges::copy(mean, rows.begin() + static_cast<std::ptrdiff_t>(at));
  };
  fill(writes.embedding, means.at({model::Site::resid_pre, 0}).values);
  for (int layer = 0; layer < std::ssize(writes.z); ++layer) {
    fill(writes.z[layer], means.at({model::Site::z, layer}).values);
    fill(writes.mlp[layer], means.at({model::Site::mlp_out, layer}).values);
  }
}

/// Replaces the rows of positions that have a counterpart in `there` by its rows.
void set_to_counterparts(StreamWrites& writes, const StreamWrites& there, std::span<const int> counterparts) {
  const auto replace = [&](std::vector<float>& to, const std::vector<float>& from) {
    const auto width = std::ssize(to) / writes.length;
    for (std::ptrdiff_t i = 0; i < writes.length; ++i)
      if (counterparts[i] >= 0)
        std::copy_n(from.begin() + counterparts[i] * width, width, to.begin() + i * width);
  };
  for_each_array(replace, writes, there);
}

/// The run with its embeddings moved a part of the way to those of the cut run.
std::shared_ptr<const model::Run> run_between(const PromptRun& run, const StreamWrites& changes, double part,
                                              const Resources& with) {
  model::Edits edits;
  for (int position = 0; position < changes.length; ++position) {
    const auto row = model::rows_of(changes.embedding, run.run->config.n_embd).row(position);
    edits.emplace_back(model::AddVector{
        {{model::Site::embed, 0}, {}, {position}, {}}, {row.begin(), row.end()}, static_cast<float>(part)});
  }
  const model::Transformer& transformer = *run.model->transformer;
  const auto plan = transformer.plan(std::move(edits), with.workspace, with.stop);
  return transformer.forward(run.run->tokens, with.workspace, {.plan = plan, .stop = with.stop});
}

std::vector<float> attributed_edges(const CircuitOf& question, const PromptRun& run, const Circuit& circuit,
                                    const model::Metric& metric, const CutWrites& writes,
                                    const Computation<Circuit>& computation) {
  StreamWrites changes = writes.cut;
  const auto subtract = [](std::vector<float>& from, const std::vector<float>& values) {
    std::ranges::transform(from, values, from.begin(), std::minus());
  };
  for_each_array(subtract, changes, writes.own);
  const int edges = circuit.graph.edge_count();
  OwnRows<double> sums = zeros<double>(circuit.rows, edges);
  // No edit can add what is not finite, and no number of gradients gives scores then.
  const bool moves = question.method == CircuitMethod::integrated &&
                     std::ranges::all_of(changes.embedding, [](float v) { return std::isfinite(v); });
  const int steps = moves ? question.steps : 1;
  for (int step = 0; step < steps; ++step) {
    const double part = static_cast<double>(step) / steps;
    const auto at = step == 0 ? run.run : run_between(run, changes, part, computation);
    // What an edge keeps is minus what its change adds.
    run.model->transformer->attribute_edges(*at, metric, changes, -unit_of(circuit.measured.metric) / steps,
                                            sums.view(), computation.workspace, computation.stop);
    computation.progress((step + 1.0) / (steps + 1.0));
  }
  return {sums.values.begin(), sums.values.end()};
}

constexpr int kNever = std::numeric_limits<int>::max();

/// For each part at each row how many of the strongest edges it takes to join it to the embeddings, or to the
/// logits: the least, over all paths, of the largest rank of an edge on the path.
class Paths {
 public:
  /// `ranks`: of the edges, [rows, edges], from 1; kNever: not an edge.
  Paths(const StreamGraph& graph, int rows, std::span<const int> ranks)
      : graph_(graph),
        rows_(rows),
        ranks_(ranks),
        from_start_(zeros<int>(graph.writer_count(), rows)),
        after_(zeros<int>(graph.reader_count(), rows)) {
    std::ranges::fill(from_start_.values, kNever);
    to_end_ = from_start_;
    std::ranges::fill(from_start_.row(0), 0);  // the embeddings
    for (int reader = 0; reader < graph.reader_count(); ++reader) begin_at(reader);
    for (int reader = graph.reader_count() - 1; reader >= 0; --reader) end_at(reader);
  }

  /// The number of the strongest edges with which this one is on a path.
  int needed(int place) const {
    const int edge = place % graph_.edge_count(), row = place / graph_.edge_count();
    const int reader = graph_.reader_of(edge), writer = edge - graph_.first_edge(reader);
    return std::max({ranks_[place], from_start_.row(writer)[row], after_.row(reader)[row]});
  }

  /// The part that reads, as a writer; -1: the logits.
  static int writer_of(const StreamGraph& graph, StreamReader reader) {
    if (reader.kind == StreamReader::Kind::logits) return -1;
    return graph.index(StreamWriter{reader.is_head() ? StreamWriter::Kind::head : StreamWriter::Kind::mlp,
                                    reader.layer, reader.head});
  }

 private:
  int rank(int reader, int writer, int row) const {
    return ranks_[std::ptrdiff_t{row} * graph_.edge_count() + graph_.edge(writer, reader)];
  }
  /// Whether what is read at a row is written at all later ones, too.
  static bool moves(StreamReader reader) {
    return reader.kind == StreamReader::Kind::k || reader.kind == StreamReader::Kind::v;
  }

  void begin_at(int index) {
    const StreamReader reader = graph_.reader(index);
    const int writer = writer_of(graph_, reader);
    if (writer < 0) return;
    int earlier = kNever;
    for (int row = 0; row < rows_; ++row) {
      int best = kNever;
      for (int source = 0; source < graph_.sources(reader); ++source)
        best = std::min(best, std::max(rank(index, source, row), from_start_.row(source)[row]));
      if (moves(reader)) best = earlier = std::min(earlier, best);
      int& there = from_start_.row(writer)[row];
      there = std::min(there, best);
    }
  }

  void end_at(int index) {
    const StreamReader reader = graph_.reader(index);
    const int writer = writer_of(graph_, reader);
    for (int row = rows_ - 1; row >= 0; --row) {
      int& next = after_.row(index)[row];
      if (writer >= 0) next = to_end_.row(writer)[row];
      if (moves(reader) && row + 1 < rows_) next = std::min(next, after_.row(index)[row + 1]);
      for (int source = 0; source < graph_.sources(reader); ++source) {
        int& there = to_end_.row(source)[row];
        there = std::min(there, std::max(rank(index, source, row), next));
      }
    }
  }

  const StreamGraph& graph_;
  int rows_;
  std::span<const int> ranks_;
  OwnRows<int> from_start_, to_end_;  // [writers, rows]
  OwnRows<int> after_;                // [readers, rows]: from there to the logits
};

}  // namespace

CutOf CutOf::default_for(const PromptRun& run) {
  if (run.baseline && compares_texts(run) && !compares_models(run)) return {CircuitCut::second};
  return {run.run->length() > 1 ? CircuitCut::mean : CircuitCut::zero};
}

MeansOverList CutOf::means_over(const OverPrompts& list, const model::Config& config) {
  MeansOverList means{list, {{model::Site::resid_pre, 0}}};
  for (int layer = 0; layer < config.n_layer; ++layer) {
    means.points.push_back({model::Site::z, layer});
    means.points.push_back({model::Site::mlp_out, layer});
  }
  return means;
}

std::string CutOf::problem(const PromptRun& run) const {
  if (run.run->plan != nullptr) return "only runs without edits have a circuit; turn the edits off";
  if (cut == CircuitCut::list_mean && mean_over.means == nullptr)
    return "edges are cut to the means of a list of prompts, but there are none";
  if (cut != CircuitCut::second) return "";
  if (!run.baseline || !compares_texts(run))
    return "edges are cut to a second prompt that differs from the first, but there is none";
  if (compares_models(run)) return "edges can be cut to a prompt in the same model only";
  return uncut_positions(run) == run.run->length()
             ? "no token of the prompt has a counterpart in the second prompt"
             : "";
}

int CutOf::uncut_positions(const PromptRun& run) const {
  return cut == CircuitCut::second ? static_cast<int>(std::ranges::count(run.aligned, -1)) : 0;
}

CutWrites CutWritesOf::compute(const PromptRun& run, const Computation<CutWrites>& computation) const {
  if (const std::string words = problem(run); !words.empty()) throw model::RunError(words);
  const auto writes_of = [&](const model::Run& one) {
    return run.model->transformer->stream_writes(one, computation.workspace, computation.stop);
  };
  StreamWrites own = writes_of(*run.run), there = own;
  if (cut == CircuitCut::mean)
    for_each_array([&](std::vector<float>& rows) { set_to_mean(rows, own.length); }, there);
  else if (cut == CircuitCut::list_mean)
    set_to_means(there, *mean_over.means);
  else if (cut == CircuitCut::zero)
    for_each_array([](std::vector<float>& rows) { std::ranges::fill(rows, 0.0F); }, there);
  else
    set_to_counterparts(there, writes_of(*run.baseline->run), run.aligned);
  return {std::move(own), std::move(there)};
}

float Circuit::score(int place) const {
  const auto found = std::ranges::lower_bound(ranked, place, {}, &RankedEdge::place);
  return found != ranked.end() && found->place == place ? found->score : 0;
}

Circuit CircuitOf::compute(const PromptRun& run, const Computation<Circuit>& computation) const {
  if (const std::string words = cut.problem(run); !words.empty()) throw model::RunError(words);
  Circuit circuit;
  circuit.graph = StreamGraph(run.run->config);
  circuit.rows = by_position ? run.run->length() : 1;
  const std::int64_t edges = std::int64_t{circuit.rows} * circuit.graph.edge_count();
  if (edges > kMostEdges)
    throw model::RunError("by position, the parts of this model have " + grouped(edges) +
                          " edges with this prompt, but at most " + grouped(kMostEdges) +
                          " are possible: take a shorter prompt, or all positions together");
  circuit.measured = resolved(measured, run, computation);
  const model::Metric metric = gradient_metric(circuit.measured, run, computation);
  const auto writes = computation.ask(CutWritesOf{cut}, run);
  circuit.value =
      unit_of(measured.metric) *
      run.model->transformer->gradients(*run.run, metric, computation.workspace, {.stop = computation.stop});
  circuit.cut_value = *computation.ask(CutMetricOf{circuit.measured, cut, 1, {}}, run);
  rank_edges(circuit,
             method == CircuitMethod::flow
                 ? flow_shares(run, writes->own, metric, by_position, computation)
                 : attributed_edges(*this, run, circuit, metric, *writes, computation),
             computation.stop);
  return circuit;
}

void rank_edges(Circuit& circuit, std::span<const float> scores, const std::stop_token& stop) {
  const auto poll = [&] {
    if (stop.stop_requested()) throw model::Stopped();
  };
  std::vector<int> places(scores.size()), ranks(scores.size(), kNever);
  std::iota(places.begin(), places.end(), 0);
  std::erase_if(places, [&](int place) { return scores[place] == 0 || !std::isfinite(scores[place]); });
  std::ranges::sort(places, [&](int a, int b) {
    const float of_a = std::abs(scores[a]), of_b = std::abs(scores[b]);
    return of_a != of_b ? of_a > of_b : a < b;
  });
  poll();
  for (std::size_t i = 0; i < places.size(); ++i) ranks[places[i]] = static_cast<int>(i) + 1;
  const Paths paths(circuit.graph, circuit.rows, ranks);
  poll();
  std::vector<int> needed;
  needed.reserve(places.size());
  for (const int place : places) needed.push_back(paths.needed(place));
  // The number with which the last edge that is kept comes to a path.
  int most = kNever - 1;
  if (needed.size() > kMostRanked) {
    std::vector<int> ordered = needed;
    std::ranges::nth_element(ordered, ordered.begin() + (kMostRanked - 1));
    most = std::min(most, ordered[kMostRanked - 1]);
  }
  circuit.ranked.clear();
  for (std::size_t i = 0; i < places.size(); ++i)
    if (needed[i] <= most) circuit.ranked.push_back({places[i], scores[places[i]], needed[i]});
  std::ranges::sort(circuit.ranked, {}, &RankedEdge::place);
}

EdgeList strongest_edges(const Circuit& circuit, int most) {
  std::vector<int> needed;
  for (const RankedEdge& edge : circuit.ranked) needed.push_back(edge.needed);
  std::ranges::sort(needed);
  // Edges that come to a path together are taken together.
  const int last = most < std::ssize(needed) ? std::max(needed[most] - 1, needed.front()) : kNever;
  EdgeList edges;
  for (const RankedEdge& edge : circuit.ranked)
    if (edge.needed <= last) edges.push_back(edge.place);
  return edges;
}

int count_parts(const Circuit& circuit, const EdgeList& edges) {
  std::set<std::pair<int, int>> parts;  // writers, and after these the logits, with rows
  const StreamGraph& graph = circuit.graph;
  for (const int place : edges) {
    const int edge = place % graph.edge_count(), row = place / graph.edge_count();
    const int reader = Paths::writer_of(graph, graph.reader(graph.reader_of(edge)));
    parts.insert({graph.writer_of(edge), row});
    parts.insert({reader < 0 ? graph.writer_count() : reader, row});
  }
  return static_cast<int>(parts.size());
}

double CutMetricOf::compute(const PromptRun& run, const Computation<double>& computation) const {
  const auto writes = computation.ask(CutWritesOf{cut}, run);
  const auto count = static_cast<std::size_t>(StreamGraph(run.run->config).edge_count());
  model::KeptEdges kept{std::vector<std::uint8_t>(count * rows, all_others ? 1 : 0), rows};
  for (const int place : edges) kept.edges[place] = all_others ? 0 : 1;
  const double value = run.model->transformer->cut_pass(*run.run, writes->own.embedding, writes->cut, kept,
                                                        gradient_metric(measured, run, computation),
                                                        computation.workspace, computation.stop);
  return unit_of(measured.metric) * value;
}

double faithfulness(const Circuit& circuit, double kept_value) {
  constexpr double kRounding = 1e-6;
  const double whole = circuit.value - circuit.cut_value,
               size = std::max(std::abs(circuit.value), std::abs(circuit.cut_value));
  if (std::abs(whole) <= kRounding * size) return NAN;
  return (kept_value - circuit.cut_value) / whole;
}

}  // namespace headscope::app
