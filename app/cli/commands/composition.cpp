#include "app/run/analyses/composition.h"

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/how.h"

namespace headscope::app {
namespace {

/// The composition of every pair of a model's heads.
struct CompositionCommand : Arguments {
  std::optional<CompositionKind> kind;  ///< nothing: all
  int top = 0;                          ///< number of pairs of each kind; 0: by the format
  bool csv = false;
};

constexpr int kTopInText = 20;
constexpr Named<CompositionKind> kKinds[] = {
    {"q", CompositionKind::q}, {"k", CompositionKind::k}, {"v", CompositionKind::v}};

/// The pairs of one kind.
struct Result {
  const CompositionKindSpec& kind;
  const Composition& of;
  std::vector<ComposedPair> pairs;  ///< strongest first

  std::pair<int, int> place(int head) const { return {of.layer_of(head), head % of.heads_per_layer}; }
  std::string name(int head) const { return head_name(place(head).first, place(head).second); }
};

void write_text(const std::vector<Result>& results, std::ostream& out) {
  for (const Result& result : results) {
    if (&result != &results.front()) out << '\n';
    NumberList list{std::string(result.kind.title) +
                    format(", minus %.6f of random matrices", printable(result.of.baseline))};
    list.by_size = false;
    for (const ComposedPair& pair : result.pairs)
      list.numbers.push_back({pair.excess, result.name(pair.sender) + " -> " + result.name(pair.receiver)});
    write_text(std::move(list), out);
  }
}

void write_csv(const std::vector<Result>& results, std::ostream& out) {
  Table table{{"kind", "sender layer", "sender head", "receiver layer", "receiver head", "composition",
               "random", "above random"},
              {}};
  for (const Result& result : results)
    for (const ComposedPair& pair : result.pairs) {
      const auto from = result.place(pair.sender), to = result.place(pair.receiver);
      add_row(table, result.kind.name, from.first, from.second, to.first, to.second,
              result.of.value(pair.sender, pair.receiver), result.of.baseline, pair.excess);
    }
  out << to_csv(table);
}

void write_json(const Json& how, const std::vector<Result>& results, const Engine& engine,
                std::ostream& out) {
  const model::Config config = engine.config();
  Json kinds = Json::array();
  for (const Result& result : results) {
    Json pairs = Json::array();
    const auto head = [&](int of) -> Json {
      const auto [layer, index] = result.place(of);
      return {{"layer", layer}, {"head", index}};
    };
    for (const ComposedPair& pair : result.pairs)
      pairs.push_back({{"sender", head(pair.sender)},
                       {"receiver", head(pair.receiver)},
                       {"composition", result.of.value(pair.sender, pair.receiver)},
                       {"above_random", pair.excess}});
    kinds.push_back({{"kind", result.kind.name},
                     {"formula", result.kind.formula},
                     {"random", result.of.baseline},
                     {"pairs", std::move(pairs)}});
  }
  const Json answer = {{"how", how},
                       {"n_layer", config.n_layer},
                       {"n_head", config.n_head},
                       {"n_embd", config.n_embd},
                       {"kinds", std::move(kinds)}};
  out << json_line(answer) << '\n';
}

void run_composition(const CompositionCommand& command, const Streams& streams) {
  How how(command);
  Engine engine = start_engine(command, streams);
  const auto model_only = std::make_shared<PromptRun>();
  model_only->model = engine.model;
  DirectAnswers answers(model_only, engine.workspace, progress_of("", streams));
  const bool text = !command.csv && !command.json;
  const auto top = static_cast<std::size_t>(command.top == 0 && text ? kTopInText : command.top);
  std::vector<Result> results;
  for (const CompositionKindSpec& kind : kCompositionKinds) {
    if (command.kind && *command.kind != kind.kind) continue;
    const Composition& of = *ask(answers, CompositionOf{kind.kind});  // which `answers` keep
    results.push_back({kind, of, strongest_pairs(of, top)});
  }
  warn_about_weights(engine, streams.err);
  if (command.json) return write_json(how.shared(engine), results, engine, streams.out);
  if (command.csv) return write_csv(results, streams.out);
  write_text(results, streams.out);
}

}  // namespace

Finish describe_composition(CommandSyntax& command) {
  const auto own = std::make_shared<CompositionCommand>();
  command.computing();
  command.choice_option("kind",
                        "through the later head's queries, keys or values (default: each of\nthem in turn)",
                        own->kind, kKinds);
  command.option("top", "N", "only the N strongest pairs (default: 20, as CSV and JSON all)", own->top,
                 whole(1));
  command.answer_out(true);
  return command.finish(
      own, [](CompositionCommand&) {}, run_composition);
}

}  // namespace headscope::app
