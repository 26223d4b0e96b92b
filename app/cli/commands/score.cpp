#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/how.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/score_sources.h"
#include "app/run/analyses/softmax_row.h"
#include "app/run/answers.h"
#include "app/views/attention/score_source_names.h"

namespace headscope::app {
namespace {

/// The sources of the score of a query and a key.
struct ScoreCommand : Arguments {
  std::optional<int> top;  ///< number of products in text; nothing: kTopSources
};

constexpr int kTopSources = 20;

constexpr const char* kKindNames[] = {
    "token_embedding", "position_embedding", "head", "attention_bias", "mlp", "ln_1_bias", "bias", "edits"};

/// A score and its sources.
struct SourcesReport {
  const PromptRun& run;
  const ScoreSources& of;
  const SoftmaxRow& row;

  float masked() const { return row.masked[of.key]; }
  bool replaced() const { return masked() != row.scaled[of.key]; }
  std::string token(int position) const {
    return std::to_string(position) + "  " + run.tokens.labels[position];
  }
};

Json source_json(const ScoreSource& source) {
  Json json = {{"kind", kKindNames[static_cast<std::size_t>(source.kind)]}};
  if (source.layer >= 0) json["layer"] = source.layer;
  if (source.head >= 0) json["head"] = source.head;
  return json;
}

void write_sources_json(const Json& how, const SourcesReport& report, std::ostream& out) {
  const ScoreSources& of = report.of;
  Json sources = Json::array(), products = Json::array();
  for (int i = 0; i < of.count(); ++i) {
    sources.push_back(source_json(of.sources[i]));
    Json row = Json::array();
    for (int j = 0; j < of.count(); ++j) row.push_back(of.product(i, j));
    products.push_back(std::move(row));
  }
  Json json = {{"layer", of.layer},
               {"head", of.head},
               {"query", of.query},
               {"key", of.key},
               {"scale", report.run.run->config.attention_scale(of.layer)},
               {"scaled_score", of.score},
               {"weight", report.row.weights[of.key]},
               {"sum", of.sum()},
               {"rounding_error", of.rounding_error()},
               {"ln_1_scale", {{"query", of.query_scale}, {"key", of.key_scale}}},
               {"sources", std::move(sources)},
               {"products", std::move(products)}};
  if (report.replaced()) json["edited_score"] = report.masked();  // null: masked
  write_json_line(how, *report.run.model->tokenizer, report.run.tokens.tokens, json, out);
}

void write_text(const SourcesReport& report, int top, std::ostream& out) {
  const ScoreSources& of = report.of;
  NumberList list{"scaled score of " + head_name(of.layer, of.head) + ", query " + report.token(of.query) +
                  ", key " + report.token(of.key)};
  list.most = static_cast<std::size_t>(top);
  for (int i = 0; i < of.count(); ++i)
    for (int j = 0; j < of.count(); ++j)
      list.numbers.push_back({of.product(i, j), name_of(of.sources[i], false) + " in q x " +
                                                    name_of(of.sources[j], true) + " in k"});
  list.facts = {{of.sum(), "sum"}, {of.score, "the model's"}, {of.rounding_error(), "rounding error"}};
  if (report.replaced()) list.facts.push_back({report.masked(), "what edits make of it"});
  write_text(std::move(list), out);
}

/// The selection in a run; without a key the one with the largest weight. Throws RunError for a place that
/// the run does not have.
Selection place_in(const PromptRun& run, const ScoreCommand& command, const std::string& where,
                   Answers& answers) {
  Selection at = command.selection.value_or(Selection{});
  require_below(run.run->config.n_layer, at.layer, where, "layer");
  require_below(run.run->config.n_head, at.head, where, "head");
  if (at.query < 0) at.query = run.run->length() - 1;
  require_below(run.run->length(), at.query, where, "token", "; see --query");
  if (at.key < 0) {
    const auto row = ask(answers, SoftmaxRowOf{at.layer, at.head, at.query});
    at.key = static_cast<int>(std::ranges::max_element(row->weights) - row->weights.begin());
  }
  require_seen(run, at, at.key, where, "; see --key");
  return at;
}

void run_score(const ScoreCommand& command, const Streams& streams) {
  How how(command);
  Engine engine = start_engine(command, streams);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const auto run = std::make_shared<const PromptRun>(run_prompt(engine, prompt, source.where()));
    DirectAnswers answers(run, engine.workspace);
    const Selection at = place_in(*run, command, source.where(), answers);
    const auto row = ask(answers, SoftmaxRowOf{at.layer, at.head, at.query, at.key + 1});
    const auto of = ask(answers, ScoreSourcesOf{at.layer, at.head, at.query, at.key});
    const SourcesReport report{*run, *of, *row};
    warn_about(*run, source.where(), streams.err);
    if (command.json) return write_sources_json(how.of(engine, *run), report, streams.out);
    source.separate(streams.out);
    write_text(report, command.top.value_or(kTopSources), streams.out);
  });
}

}  // namespace

Finish describe_score(CommandSyntax& command) {
  const auto own = std::make_shared<ScoreCommand>();
  command.reading();
  command.selection();
  command.option("top", "N", "only the N strongest products (default: 20; JSON has all)", own->top, whole(1));
  command.footer("Without --key it is the key with the largest weight.");
  command.answer_out();
  const auto check = [](const ScoreCommand& score) {
    require_prompt(score);
    refuse({{score.top && score.json, "--top is for text; JSON has all products"}});
  };
  return command.finish(own, check, run_score);
}

}  // namespace headscope::app
