#include <nlohmann/json.hpp>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/measured_tokens.h"
#include "app/cli/commands/output.h"
#include "app/views/output/saliency_options.h"

namespace headscope::app {
namespace {

/// The question that the arguments define for every prompt.
SaliencyOf question_of(const SaliencyCommand& command, const Engine& engine) {
  SaliencyOf question;
  question.method = command.method;
  question.baseline = command.baseline.value_or(question.baseline);
  question.steps = command.steps.value_or(question.steps);
  set_tokens(question, command.measured, *engine.model);
  return question;
}

void write_text(const SaliencyCommand& command, const PromptRun& run, const Saliency& of, std::ostream& out) {
  const bool integrated = of.method == SaliencyMethod::integrated;
  NumberList list{metric_name(of.metric, of.token, of.against, of.position, run) + ": " +
                  std::string(name_of(kSaliencyMethods, of.method))};
  for (int i = 0; i < of.reach(); ++i)
    list.numbers.push_back({of.parts[i], std::to_string(i) + "  " + run.tokens.labels[i]});
  if (of.method != SaliencyMethod::gradient_norm) list.facts.push_back({of.sum(), "sum"});
  list.facts.push_back({of.value, "in this run"});
  if (integrated) {
    const auto baseline = command.baseline.value_or(SaliencyBaseline::zero);
    list.facts.push_back(
        {of.start, "at the baseline, " + std::string(name_of(kSaliencyBaselines, baseline))});
    list.facts.push_back({of.error(), format("error of the sum, with %d gradients", of.gradients)});
  }
  write_text(std::move(list), out);
}

/// What the command line says of the run, and the shares.
void write_json(const Json& how, const SaliencyCommand& command, const PromptRun& run, const Saliency& of,
                std::ostream& out) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  Json result = measured_json(tokenizer, name_of(kSaliencyMetrics, of.metric), is_in_bits(of.metric),
                              of.position, of.token, of.against);
  result.update({{"method", name_of(kSaliencyMethods, of.method)},
                 {"parts", of.parts},
                 {"sum", of.sum()},
                 {"value", of.value}});
  if (of.method == SaliencyMethod::integrated) {
    result["baseline"] = name_of(kSaliencyBaselines, command.baseline.value_or(SaliencyBaseline::zero));
    result["baseline_value"] = of.start;
    result["error"] = of.error();
    result["gradients"] = of.gradients;
  }
  write_json_line(how, tokenizer, run.tokens.tokens, result, out);
}

void run_saliency(const SaliencyCommand& command, const Streams& streams) {
  How how(command);
  Engine engine = start_engine(command, streams);
  const SaliencyOf asked = question_of(command, engine);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const ListedPrompt& prompt) {
    const auto run = std::make_shared<PromptRun>(run_prompt(engine, prompt, source.where()));
    compare_with_unedited(engine, *run);
    const auto measured = measured_of(command.measured, prompt);
    SaliencyOf question = asked;
    question.metric = measured.metric;
    if (has_position(measured.metric)) question.position = measured.position.value_or(-1);
    set_tokens_of_line(question, prompt, token_count(question.metric), *engine.model, source.where());
    if (token_count(question.metric) > 0)
      name_by_id(question.token, question.against, *run, question.position, engine, source.where());
    DirectAnswers answers(run, engine.workspace, progress_of(source.where(), streams));
    const auto of = saying_where(source.where(), [&] { return ask(answers, question); });
    warn_about(*run, source.where(), streams.err);
    if (command.json) return write_json(how.of(engine, *run), command, *run, *of, streams.out);
    source.separate(streams.out);
    write_text(command, *run, *of, streams.out);
  });
}

void check_saliency(SaliencyCommand& saliency) {
  require_prompt(saliency);
  check_measured(saliency.measured, kSaliencyMetrics);
  const bool integrated = saliency.method == SaliencyMethod::integrated;
  refuse({{!integrated && saliency.baseline, "--baseline requires --method integrated"},
          {!integrated && saliency.steps, "--steps requires --method integrated"}});
}

}  // namespace

Finish describe_saliency(CommandSyntax& command) {
  const auto own = std::make_shared<SaliencyCommand>();
  command.reading();
  command.choice_option("method",
                        "the gradient at each token's embedding times the embedding, its length, or\n"
                        "integrated gradients (default: gradient-input)",
                        own->method, kSaliencyMethods);
  measured_options(command, own->measured, kSaliencyMetrics, "what the tokens have shares in");
  command.choice_option("baseline",
                        "what integrated gradients begin with in place of every token's embedding\n"
                        "(default: zero)",
                        own->baseline, kSaliencyBaselines);
  command.option("steps", "N",
                 "the most gradients on the way; fewer if the shares add up without them\n(default: " +
                     std::to_string(SaliencyOf::kDefaultSteps) + ")",
                 own->steps, whole(1, SaliencyOf::kMaxSteps));
  command.answer_out();
  return command.finish(own, check_saliency, run_saliency);
}

}  // namespace headscope::app
