// What the tour of a circuit says of its own prompt, read from the circuit's edges.
#include "app/run/analyses/circuit.h"
#include "app/run/analyses/score_sources.h"
#include "tests/app/window/tour_claims.h"

namespace headscope::app {
namespace {

using model::StreamReader;
using model::StreamWriter;

constexpr int kDrawn = 20;  ///< edges, as the stops' options say
constexpr int kFew = 10;    ///< edges that have room in the smallest window, too
constexpr int kMr = 3, kDot = 4, kFox = 5, kLast = 14;
constexpr StreamWriter kEmbedding{StreamWriter::Kind::embedding}, kMlp0{StreamWriter::Kind::mlp};

constexpr StreamWriter head(int layer, int head) {
  return {StreamWriter::Kind::head, layer, head};
}
constexpr StreamReader reader(StreamReader::Kind kind, int layer, int head = 0) {
  return {kind, layer, head};
}

/// The circuit of the best guess's logit after the last token, without the edges that it does not need.
struct CircuitReader {
  const PromptRun& run;
  CircuitOf question;
  Circuit circuit;

  explicit CircuitReader(const Core& core, bool by_position = false,
                         CircuitMethod method = CircuitMethod::integrated)
      : run(*core.snapshot().run),
        question{.measured = {},
                 .method = method,
                 .cut = {run.baseline ? CircuitCut::second : CircuitCut::mean},
                 .by_position = by_position},
        circuit(RunReader::computed(question, run)) {}

  int place(StreamWriter from, StreamReader to, int position = 0) const {
    const model::StreamGraph& graph = circuit.graph;
    return position * graph.edge_count() + graph.edge(graph.index(from), graph.index(to));
  }
  /// Whether an edge is one of the `most` strongest on paths.
  bool has(int most, StreamWriter from, StreamReader to, int position = 0) const {
    return std::ranges::binary_search(strongest_edges(circuit, most), place(from, to, position));
  }
  double score(StreamWriter from, StreamReader to, int position = 0) const {
    return static_cast<double>(circuit.score(static_cast<std::size_t>(place(from, to, position))));
  }
  double metric(EdgeList edges, bool all_others = false) const {
    return RunReader::computed(
        CutMetricOf{circuit.measured, question.cut, circuit.rows, std::move(edges), all_others}, run);
  }
  double kept_by(int most) const { return faithfulness(circuit, metric(strongest_edges(circuit, most))); }
};

bool has_the_prompt(const RunReader& run) {
  return run.length() == kLast + 1 && run.label(kMr) == "·Mr" && run.label(kDot) == "." &&
         run.label(kFox) == "·Fox" && run.id(kLast) == run.id(kDot) && run.id(kLast - 1) == run.id(kMr);
}

/// The weight of a head's attention on the tokens before the query's.
double weight_before(const RunReader& run, int layer, int head, int query) {
  double sum = 0;
  for (int key = 0; key < query; ++key) sum += static_cast<double>(run.weight(layer, head, query, key));
  return sum;
}

}  // namespace

std::vector<Claim> claims_of_circuits() {
  using Kind = StreamReader::Kind;
  return {
      {"“·Fox” is the token that followed “Mr.” the first time",
       [](const Core&, const RunReader& run) {
         return has_the_prompt(run) && RunReader::guesses(run.next())[0] == run.id(kFox) &&
                run.weight(kLast, kFox) > 0.5F &&
                count_of(kFox, kLast + 1, [&](int q) { return run.copies(q); }) >= 3;
       }},
      {"Nearly all of it is in one cell",
       [](const Core& core, const RunReader&) {
         const ScoreSources sources =
             RunReader::computed(ScoreSourcesOf{1, 6, kLast, kFox}, *core.snapshot().run);
         const auto mlp = std::ranges::find(sources.sources, StreamSource{StreamSource::Kind::mlp, 0}) -
                          sources.sources.begin();
         const int at = static_cast<int>(mlp);
         return at < sources.count() && sources.product(at, at) > 0.9 * sources.score;
       }},
      {"L0 H0 brings “.”, which stands in many places",
       [](const Core&, const RunReader& run) {
         return run.strongest(0, 0, kFox) == kDot && run.strongest(0, 4, kFox) == kMr &&
                count_of(0, run.length(), [&](int i) { return run.id(i) == run.id(kDot); }) > 2 &&
                count_of(0, 8, [&](int head) { return weight_before(run, 0, head, kFox) > 0.5; }) > 2;
       }},
      {"The second prompt has “·to·a” in place of “·Mr.”",
       [](const Core& core, const RunReader& run) {
         const RunReader second(*core.snapshot().run->baseline, core.state().selection);
         const auto differs = [&](int i) { return run.id(i) != second.id(i); };
         return has_the_prompt(run) && second.length() == run.length() && second.label(kMr) == "·to" &&
                second.label(kDot) == "·a" && count_of(0, run.length(), differs) == 2;
       }},
      {"The second prompt gives {guess_before} only",
       [](const Core& core, const RunReader& run) {
         const RunReader second(*core.snapshot().run->baseline, core.state().selection);
         const int fox = run.id(kFox);
         return RunReader::guesses(run.next())[0] == fox && RunReader::guesses(run.next_before())[0] == fox &&
                RunReader::probability(run.next_before(), fox) < 0.5 &&
                run.weight(1, 6, kLast, kFox) > 0.5F && second.weight(1, 6, kLast, kFox) < 0.05F;
       }},
      {"Read it from below",
       [](const Core& core, const RunReader&) {
         const CircuitReader of(core);
         return of.has(kFew, kEmbedding, reader(Kind::v, 0, 0)) &&
                of.has(kFew, kEmbedding, reader(Kind::v, 0, 4)) &&
                of.has(kFew, head(0, 0), reader(Kind::mlp, 0)) &&
                of.has(kFew, head(0, 4), reader(Kind::mlp, 0)) &&
                of.has(kFew, kMlp0, reader(Kind::k, 1, 6)) && of.has(kFew, kMlp0, reader(Kind::k, 1, 1)) &&
                of.has(kFew, head(1, 6), {}) && of.has(kFew, head(1, 1), {}) &&
                of.score(head(1, 6), {}) > 0 && of.score(head(1, 1), {}) > 0 &&
                count_of(0, 8, [&](int h) { return of.has(kDrawn, head(0, h), reader(Kind::mlp, 0)); }) == 2;
       }},
      {"Now the circuit tells how the name is copied",
       [](const Core& core, const RunReader& run) {
         const CircuitReader of(core, true);
         return of.has(kFew, kEmbedding, reader(Kind::v, 0, 4), kMr) &&
                of.has(kFew, kEmbedding, reader(Kind::v, 0, 0), kDot) &&
                of.has(kFew, head(0, 0), reader(Kind::mlp, 0), kFox) &&
                of.has(kFew, head(0, 4), reader(Kind::mlp, 0), kFox) &&
                of.has(kFew, kMlp0, reader(Kind::k, 1, 6), kFox) &&
                of.has(kFew, kMlp0, reader(Kind::k, 1, 1), kFox) && of.has(kFew, head(1, 6), {}, kLast) &&
                of.has(kFew, head(1, 1), {}, kLast) && run.strongest(1, 6, kLast) == kFox &&
                run.strongest(1, 1, kLast) == kFox;
       }},
      {"The 20 strongest edges keep about half, 40",
       [](const Core& core, const RunReader&) {
         const CircuitReader of(core);
         return std::abs(of.kept_by(kDrawn) - 0.5) < 0.05 && std::abs(of.kept_by(40) - 2.0 / 3) < 0.02 &&
                of.kept_by(100) > 0.8 && of.circuit.edge_count() == 3628;
       }},
      {"Click the edge from L0 H0 to MLP 0",
       [](const Core& core, const RunReader&) {
         const CircuitReader of(core);
         const StreamReader mlp = reader(Kind::mlp, 0);
         const auto lost = [&](int h) {
           return of.circuit.value - of.metric({of.place(head(0, h), mlp)}, true);
         };
         const double estimate = of.score(head(0, 0), mlp),
                      difference = of.circuit.value - of.circuit.cut_value;
         return lost(0) > 1.7 * estimate && lost(0) < 2 * estimate && lost(0) > 0.55 * difference &&
                lost(4) > 0.55 * difference;
       }},
      {"Again L0 H0, L0 H4 and MLP 0 carry most",
       [](const Core& core, const RunReader&) {
         const CircuitReader flow(core, false, CircuitMethod::flow);
         const model::StreamGraph& graph = flow.circuit.graph;
         const auto goes_elsewhere = [&](int edge) {
           const StreamReader to = graph.reader(graph.reader_of(edge));
           return to.is_head() && to.kind != Kind::v;
         };
         return !core.snapshot().run->baseline && flow.has(4, head(0, 0), reader(Kind::mlp, 0)) &&
                flow.has(10, head(0, 4), reader(Kind::mlp, 0)) &&
                std::ranges::none_of(strongest_edges(flow.circuit, kDrawn), goes_elsewhere);
       }},
  };
}

}  // namespace headscope::app
