#include "app/cli/commands/saliency.h"

#include <nlohmann/json.hpp>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/measured_tokens.h"
#include "app/cli/commands/output.h"
#include "app/cli/status_line.h"
#include "app/views/output/saliency_options.h"
#include "system/interrupt.h"

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

/// Computes the answer and shows the progress if it takes long.
Saliency computed(const SaliencyOf& question, const PromptRun& run, Engine& engine, const std::string& where,
                  const Streams& streams) {
  const system::InterruptGuard interrupts;
  StatusLine line(streams);
  const auto show = [&](const Saliency&, double done) {
    interrupts.check();
    line.tell_work(where, SaliencyOf::kName, done);
  };
  return saying_where(where, [&] {
    return question.compute(run, {engine.workspace, {}, nullptr, nullptr, show});
  });
}

void write_text(const SaliencyCommand& command, const PromptRun& run, const Saliency& of, std::ostream& out) {
  const bool integrated = of.method == SaliencyMethod::integrated;
  out << metric_name(of.metric, of.token, of.against, of.position, run) << ": "
      << name_of(kSaliencyMethods, of.method) << '\n';
  std::vector<NamedNumber> lines;
  for (int i = 0; i < of.reach(); ++i)
    lines.push_back({of.parts[i], std::to_string(i) + "  " + run.tokens.labels[i]});
  write_by_size(std::move(lines), "%+14.6f  ", out);
  const auto line = [&](const char* pattern, double value) { out << format(pattern, printable(value)); };
  if (of.method != SaliencyMethod::gradient_norm) line("%14.6f  sum\n", of.sum());
  line("%14.6f  in this run\n", of.value);
  if (!integrated) return;
  out << format("%14.6f  at the baseline, ", printable(of.start))
      << name_of(kSaliencyBaselines, command.baseline.value_or(SaliencyBaseline::zero)) << '\n';
  line("%14.6g  error of the sum", of.error());
  out << format(", with %d gradients\n", of.gradients);
}

/// What the command line says of the run, and the shares.
void write_json(const Json& how, const SaliencyCommand& command, const PromptRun& run, const Saliency& of,
                std::ostream& out) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  Json result = {{"metric", name_of(kSaliencyMetrics, of.metric)},
                 {"unit", is_in_bits(of.metric) ? Json("bits") : Json(nullptr)},
                 {"position", of.position < 0 ? Json(nullptr) : Json(of.position)},
                 {"token", token_or_null(tokenizer, of.token)},
                 {"other_token", token_or_null(tokenizer, of.against)},
                 {"method", name_of(kSaliencyMethods, of.method)},
                 {"parts", of.parts},
                 {"sum", of.sum()},
                 {"value", of.value}};
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
    PromptRun run = run_prompt(engine, prompt, source.where());
    compare_with_unedited(engine, run);
    const auto measured = measured_of(command.measured, prompt);
    SaliencyOf question = asked;
    question.metric = measured.metric;
    if (has_position(measured.metric)) question.position = measured.position.value_or(-1);
    set_tokens_of_line(question, prompt, token_count(question.metric), *engine.model, source.where());
    if (token_count(question.metric) > 0)
      name_by_id(question.token, question.against, run, question.position, engine, source.where());
    const Saliency of = computed(question, run, engine, source.where(), streams);
    if (command.json) {
      write_json(how.of(engine, run), command, run, of, streams.out);
    } else {
      if (!source.is_first()) streams.out << '\n';
      write_text(command, run, of, streams.out);
    }
    warn_about(run, source.where(), streams.err);
  });
}

void check_saliency(SaliencyCommand& saliency) {
  require_prompt(saliency);
  check_measured(saliency.measured, kSaliencyMetrics);
  if (saliency.method == SaliencyMethod::integrated) return;
  if (saliency.baseline) throw UsageError("--baseline requires --method integrated");
  if (saliency.steps) throw UsageError("--steps requires --method integrated");
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
                 own->steps, [](const std::string& option, const std::string& text) {
                   return std::optional(whole_number(option, text, 1, SaliencyOf::kMaxSteps));
                 });
  command.answer_out();
  return command.finish(own, check_saliency, run_saliency);
}

}  // namespace headscope::app
