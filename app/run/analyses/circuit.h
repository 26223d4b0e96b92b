#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/analyses/activation_means.h"
#include "app/run/analyses/attribution.h"
#include "app/run/question.h"
#include "model/circuit/stream_graph.h"

// Which edges between the parts of the model matter for a prediction: see model::StreamGraph.
namespace headscope::app {

/// How much an edge matters.
enum class CircuitMethod {
  /// Edge attribution (Syed et al. 2023), the metric's derivative along the edge times its change, with the
  /// mean derivative on the way between the two runs' embeddings (Hanna et al. 2024, "Have Faith in
  /// Faithfulness": EAP-IG on inputs).
  integrated,
  attribution,  ///< with the derivative in the run alone
  /// Information flow routes (Ferrando and Voita 2024): which share of what arrives at the logits came this
  /// way, see flow_shares. Without a metric and without a second run.
  flow,
};

/// What edges carry outside a circuit, and what the edges' changes are measured from.
enum class CircuitCut {
  second,  ///< what their writers wrote in the baseline
  mean,    ///< the mean of what they wrote at all positions of the run
  zero,
  list_mean,  ///< the mean of what they write at all positions of a list of prompts
};

/// An edge that lies on a path from the embeddings to the logits.
struct RankedEdge {
  int place = 0;    ///< row * edge_count + edge
  float score = 0;  ///< how much more of the metric there is with it, or for the flow its share
  int needed =
      0;  ///< how many of the strongest edges it takes until this one is among them and on such a path
};

/// The strongest edges, and the metric with all edges and with none, in the unit of answers: see is_in_bits.
struct Circuit {
  model::StreamGraph graph{0, 0};
  int rows = 1;                    ///< 1: positions together; T: by position
  std::vector<RankedEdge> ranked;  ///< by their places
  Measured measured = {};
  double value = 0;      ///< the metric in the run
  double cut_value = 0;  ///< with no edge kept

  int edge_count() const { return rows * graph.edge_count(); }
  float score(int place) const;  ///< of a ranked edge; 0 of others
  std::size_t bytes() const { return bytes_of(ranked) + sizeof(int) * graph.reader_count(); }
};

/// What the pass with edges cut needs besides the run.
struct CutOf {
  CircuitCut cut = CircuitCut::second;
  MeanSource mean_over = {};  ///< source of list means
  bool operator==(const CutOf&) const = default;
  bool reads_baseline() const { return cut == CircuitCut::second; }

  /// The means that edges carry, in any model of this shape.
  static MeansOverList means_over(const OverPrompts& list, const model::Config& config);

  /// The second prompt if there is one, else means, but zeros for a single token, which is its own mean.
  static CutOf default_for(const PromptRun& run);
  /// Why there is no circuit of a run with this cut, one sentence; empty: there is one.
  std::string problem(const PromptRun& run) const;
  /// The number of positions without a counterpart in the second prompt, at which nothing is cut.
  int uncut_positions(const PromptRun& run) const;
};

/// What the parts of the model write in a run, and what the edges carry that are cut. Positions without a
/// counterpart in the baseline keep what they have.
struct CutWrites {
  model::StreamWrites own, cut;
  std::size_t bytes() const { return 2 * (1 + own.z.size() + own.mlp.size()) * bytes_of(own.embedding); }
};

/// The same for all circuits with this cut, whichever edges they keep.
struct CutWritesOf : CutOf {
  static constexpr std::string_view kName = "what edges carry";
  /// Throws RunError with the cut's problem.
  CutWrites compute(const PromptRun& run, const Computation<CutWrites>& computation) const;
};

struct CircuitOf {
  static constexpr std::string_view kName = "circuit";
  static constexpr int kSteps = 5;  ///< of the way between the embeddings, as in the paper
  static constexpr int kMostSteps = 50;
  static constexpr std::int64_t kMostEdges = 1 << 26;  ///< by position; 20 bytes each while they are ranked

  Measured measured = {};  ///< not the divergence
  CircuitMethod method = CircuitMethod::integrated;
  CutOf cut = {};
  int steps = kSteps;  ///< of `integrated`, at least 1
  bool by_position = false;
  bool operator==(const CircuitOf&) const = default;
  bool reads_baseline() const { return cut.reads_baseline(); }

  /// Throws RunError for a position, token or baseline that does not exist, for runs with edits, and for too
  /// many edges.
  Circuit compute(const PromptRun& run, const Computation<Circuit>& computation) const;
};

/// Information flow routes (Ferrando and Voita 2024, "Information Flow Routes: Automatically Interpreting
/// Language Models at Scale") along the edges of a model::StreamGraph. What a part z brings to a sum y is its
/// proximity, max(0, |y| - |z - y|) with sums of absolute values, divided by that of all parts. From the
/// logits at the metric's positions down, everything that arrives is divided among what it was made of: a
/// stream among all that earlier parts wrote to it, and a head's output among the values of its keys.
///
/// In the paper a stream is taken apart block by block, into what a block added and what was there; here at
/// once, into the parts themselves, so that its edges are those of edge attribution. Biases of attention,
/// which do not depend on the prompt, get no share. Queries and keys get none: they choose what flows, but do
/// not flow themselves.
///
/// Returns the edges' shares, [1, edges] or by position [T, edges]; those to the logits add up to 1.
std::vector<float> flow_shares(const PromptRun& run, const model::StreamWrites& writes,
                               const model::Metric& metric, bool by_position,
                               const Computation<Circuit>& computation);

/// Ranks edges with these scores, [rows, edges]; those that are 0 or not finite are no edges. Keeps
/// kMostRanked of those on paths, and what comes to a path together with the last of these.
inline constexpr std::size_t kMostRanked = 4096;
void rank_edges(Circuit& circuit, std::span<const float> scores, const std::stop_token& stop = {});

/// A set of edges of a circuit, as row * edge_count + edge, ascending.
using EdgeList = std::vector<int>;

/// The strongest edges of a circuit that lie on paths of such edges from the embeddings to the logits: as
/// many of the strongest are taken as leave at most `most` on paths. If even the strongest path has more, its
/// edges.
EdgeList strongest_edges(const Circuit& circuit, int most);

/// The number of parts that edges join; by position, of parts at positions.
int count_parts(const Circuit& circuit, const EdgeList& edges);

/// The metric in a pass in which only some edges carry what is written in it, in the unit of the circuit.
struct CutMetricOf {
  static constexpr std::string_view kName = "pass with edges cut";
  Measured measured = {};  ///< of the circuit
  CutOf cut = {};
  int rows = 1;  ///< as in the circuit
  EdgeList edges;
  bool all_others = false;  ///< keeps all but these
  bool operator==(const CutMetricOf&) const = default;
  bool reads_baseline() const { return cut.reads_baseline(); }
  double compute(const PromptRun& run, const Computation<double>& computation) const;
};

/// Which part of the difference that cutting all edges makes to the metric the kept edges retain (Hanna et
/// al. 2024: faithfulness); NaN if cutting makes none but rounding.
double faithfulness(const Circuit& circuit, double kept_value);
}  // namespace headscope::app
