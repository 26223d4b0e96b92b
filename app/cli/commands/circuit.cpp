#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/drawn.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/measured_tokens.h"
#include "app/cli/commands/output.h"
#include "app/run/answers.h"

namespace headscope::app {
namespace {

constexpr Named<CircuitCut> kAblations[] = {{"zero", CircuitCut::zero}, {"mean", CircuitCut::mean}};

std::string_view name_of_cut(CircuitCut cut) {
  return name_of(kCircuitElsewhere, elsewhere_of(cut));
}

/// The question for a run of a prompt, whose metric names its tokens by id. `has_second`: it is compared with
/// a second prompt; `list`: whose means edges carry.
CircuitOf question_of(const CircuitCommand& command, const ListedPrompt& prompt, bool has_second,
                      const MeanSource& list, const PromptRun& run, Engine& engine) {
  const auto measured = measured_of(command.measured, prompt);
  CircuitOf question;
  question.metric.metric = measured.metric;
  question.metric.position = measured.position.value_or(-1);
  set_tokens(question.metric, measured, *engine.model);
  set_tokens_of_line(question.metric, prompt, token_count(measured.metric), *engine.model, "");
  question.method = command.method;
  question.cut = has_second         ? CutOf{CircuitCut::second}
                 : list.means       ? CutOf{CircuitCut::list_mean, list}
                 : command.ablation ? CutOf{*command.ablation}
                                    : CutOf::default_for(run);
  question.steps = command.steps.value_or(CircuitOf::kSteps);
  question.by_position = command.by_position;
  MetricChoice& metric = question.metric;
  if (token_count(metric.metric) == 0) return question;
  TokenChoice none;
  name_by_id(metric.token, token_count(metric.metric) > 1 ? metric.against : none, run, metric.position,
             engine, "");
  if (metric.position < 0) metric.position = run.run->length() - 1;
  return question;
}

/// The circuit of a run, its strongest edges, and what they keep.
struct Found {
  std::shared_ptr<const Circuit> circuit;
  EdgeList edges;  ///< the strongest first
  double kept = 0;
};

Found find_circuit(const CircuitOf& question, int edges, Answers& answers) {
  Found found;
  found.circuit = ask(answers, question);
  found.edges = strongest_edges(*found.circuit, edges);
  found.kept =
      ask(answers, CutMetricOf{found.circuit->metric, question.cut, found.circuit->rows, found.edges, false})
          ->value;
  std::ranges::stable_sort(found.edges, std::ranges::greater(),
                           [&](int place) { return std::abs(found.circuit->score(place)); });
  return found;
}

/// An edge in the words of the command line: "L0H4 -> L1H6.k".
struct EdgeNames {
  std::string from, to;
  int row = 0;
};

EdgeNames names_of(const Circuit& circuit, int place) {
  const auto plain = [](std::string name) {
    std::erase(name, ' ');
    return name;
  };
  const int edge = place % circuit.graph.edge_count();
  const model::StreamReader reader = circuit.graph.reader(circuit.graph.reader_of(edge));
  EdgeNames names{plain(name_of(circuit.graph.writer(circuit.graph.writer_of(edge)))), plain(name_of(reader)),
                  place / circuit.graph.edge_count()};
  if (reader.is_head()) names.to.insert(names.to.size() - 1, ".");
  return names;
}

void write_text(const PromptRun& run, const Circuit& circuit, const Found& found, const CircuitOf& question,
                const MeanList* list, std::ostream& out) {
  const bool flow = question.method == CircuitMethod::flow;
  const MetricChoice& metric = question.metric;
  NumberList text{
      (flow ? "share of what arrives at the logits"
            : metric_name(metric.metric, metric.token.number, metric.against.number, metric.position, run)) +
      ": " + std::string(kCircuitMethods[static_cast<std::size_t>(question.method)].name) + ", " +
      (question.cut.cut == CircuitCut::list_mean ? words_of(*list)
                                                 : std::string(name_of_cut(question.cut.cut))) +
      " elsewhere"};
  for (const int place : found.edges) {
    const EdgeNames names = names_of(circuit, place);
    text.numbers.push_back({circuit.score(place), names.from + " -> " + names.to});
    if (circuit.rows > 1)
      text.numbers.back().name += format("  at %d  ", names.row) + run.tokens.labels[names.row];
  }
  text.facts = {{circuit.value, "with all edges"},
                {circuit.cut_value, "with none"},
                {found.kept, "with these " + std::to_string(found.edges.size()) + ", between " +
                                 std::to_string(count_parts(circuit, found.edges)) + " parts"}};
  if (const double part = faithfulness(circuit, found.kept); std::isfinite(part))
    text.facts.push_back({part, "kept part of the difference (faithfulness)"});
  write_text(std::move(text), out);
  if (const int uncut = question.cut.uncut_positions(run); uncut > 0)
    out << format("%14d  ", uncut)
        << "positions without a counterpart in the --second prompt, at which nothing is cut\n";
}

void write_json(const Json& how, const PromptRun& run, const Circuit& circuit, const Found& found,
                const CircuitOf& question, std::ostream& out) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  Json edges = Json::array();
  for (const int place : found.edges) {
    const EdgeNames names = names_of(circuit, place);
    Json edge = {{"from", names.from}, {"to", names.to}};
    if (circuit.rows > 1) edge["position"] = names.row;
    edge["score"] = circuit.score(place);
    edges.push_back(std::move(edge));
  }
  const double part = faithfulness(circuit, found.kept);
  const MetricChoice& metric = question.metric;
  const int tokens = token_count(metric.metric);
  Json result = measured_json(tokenizer, name_of(kGradientMetrics, metric.metric), is_in_bits(metric.metric),
                              tokens > 0 ? metric.position : -1, tokens > 0 ? metric.token.number : -1,
                              tokens > 1 ? metric.against.number : -1);
  result.update(
      {{"method", kCircuitMethods[static_cast<std::size_t>(question.method)].name},
       {"steps", question.method == CircuitMethod::integrated ? Json(question.steps) : Json(nullptr)},
       {"elsewhere", name_of_cut(question.cut.cut)},
       {"uncut_positions", question.cut.uncut_positions(run)},
       {"all_edges", circuit.edge_count()},
       {"value", circuit.value},
       {"value_without_edges", circuit.cut_value},
       {"value_of_circuit", found.kept},
       {"faithfulness", std::isfinite(part) ? Json(part) : Json(nullptr)},
       {"edges", std::move(edges)}});
  write_json_line(how, tokenizer, run.tokens.tokens, result, out);
}

void run_circuit(const CircuitCommand& command, const Streams& streams) {
  How how(command);
  Engine engine = start_engine(command, streams, {.takes_means = command.ablates_with_means()});
  AnswersInAdvance::Known known;
  MeanSource list;
  if (engine.mean_over && command.ablates_with_means())
    list = known_means(CutOf::means_over(engine.mean_over->over, engine.config()), engine, streams, known);
  SecondPrompts seconds(command, engine);
  const Drawing drawing(command, engine);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const ListedPrompt& prompt) {
    const std::string where = source.where();
    const auto run = std::make_shared<PromptRun>(run_prompt(engine, prompt, where));
    const auto second = command.ablation ? std::nullopt : seconds.compare(*run, prompt, where);
    warn_about(*run, where, streams.err);
    saying_where(where, [&] {
      const CircuitOf question = question_of(command, prompt, second.has_value(), list, *run, engine);
      DirectAnswers others(run, engine.workspace, progress_of(where, streams));
      AnswersInAdvance answers(known, others);
      const Found found = find_circuit(question, command.edges, answers);
      if (drawing.is_wanted())
        drawing.write(
            view_of_circuits(), circuit_options(question, elsewhere_of(question.cut.cut), command.edges),
            token_count(question.metric.metric) > 0 ? question.metric.position : run->run->length() - 1,
            second, run, list.over.list, answers, source, streams);
      if (command.json)
        return write_json(how.of(engine, *run), *run, *found.circuit, found, question, streams.out);
      if (drawing.is_wanted()) return;
      source.separate(streams.out);
      write_text(*run, *found.circuit, found, question, engine.mean_over.get(), streams.out);
    });
  });
}

void check_circuit(CircuitCommand& circuit) {
  require_prompt(circuit);
  check_measured(circuit.measured, kSaliencyMetrics);
  refuse(
      {{circuit.ablation && circuit.comparison.second,
        "edges outside the circuit carry one thing: both --ablate and --second were given"},
       {circuit.steps && circuit.method != CircuitMethod::integrated, "--steps requires --method integrated"},
       {circuit.comparison.alignment && !circuit.comparison.second && circuit.ablation,
        "--align matches the tokens of a second prompt, which --ablate does not use"}});
  check_drawn(circuit, "circuit.png");
}

}  // namespace

Finish describe_circuit(CommandSyntax& command) {
  const auto own = std::make_shared<CircuitCommand>();
  command.reading();
  command.choice_option("method",
                        "how much an edge matters: edge attribution patching with integrated gradients or\n"
                        "with the run's alone, or information flow routes (default: integrated)",
                        own->method, kCircuitMethods);
  measured_options(command, own->measured, kSaliencyMetrics, "the number that edges matter for");
  command.choice_option("ablate",
                        "what edges outside the circuit carry: zeros, or each part's mean over the\n"
                        "prompt, or with --mean-over over a list (default: mean, zero for a single "
                        "token;\nwith --second what the "
                        "part wrote there)",
                        own->ablation, kAblations);
  command.second_prompt(
      "edges outside the circuit carry what this prompt has; it must have as many\ntokens, "
      "unless --align matches them");
  command.option("edges", "N",
                 "the most edges, the strongest ones; at least those of one path (default: " +
                     std::to_string(kCircuitEdges) + ")",
                 own->edges, whole(1, kMostCircuitEdges));
  command.option(
      "steps", "N",
      "gradients between the two runs' embeddings (default: " + std::to_string(CircuitOf::kSteps) + ")",
      own->steps, whole(1, CircuitOf::kMostSteps));
  command.flag("by-position", "each part at each position apart", own->by_position);
  drawn_output(command, *own);
  return command.finish(own, check_circuit, run_circuit);
}

}  // namespace headscope::app
