#include "app/cli/commands/sweep.h"

#include <cmath>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/measured_tokens.h"
#include "app/cli/commands/output.h"
#include "app/cli/commands/recipes.h"
#include "app/cli/status_line.h"
#include "app/run/answers.h"
#include "app/run/edits/edit_text.h"
#include "app/views/output/sweep_options.h"
#include "model/pass/hooks.h"
#include "system/interrupt.h"

namespace headscope::app {
namespace {

constexpr Named<SweepEdit> kAblations[] = {{"zero", SweepEdit::zero}, {"mean", SweepEdit::mean}};

constexpr Named<EstimatesWritten> kEstimates[] = {{"also", EstimatesWritten::also},
                                                  {"only", EstimatesWritten::only}};

/// The question that the arguments define for every prompt.
SweepOf question_of(const SweepCommand& command, const Engine& engine) {
  SweepOf question;
  question.over = command.over;
  question.site = command.site;
  question.edit = command.edit;
  if (command.over == SweepOver::senders)
    question.receiver = {parse_receiver(command.receiver.value_or("logits"), *engine.model),
                         engine.model->config().n_head};
  // The view has estimates, and its picture must be the same when it is made again.
  question.estimates =
      question.has_estimates() && (command.estimates != EstimatesWritten::none || !command.out.empty());
  question.largest_of = command.measured.metric;
  set_tokens(question, command.measured, *engine.model->tokenizer);
  return question;
}

/// Sets the source of the patches in the run and the question: the prompt of --second, which ran as `second`,
/// or the same prompt in the second model.
void patch_from(const SweepCommand& command, std::shared_ptr<const PromptRun> second, PromptRun& run,
                const std::string& where, SweepOf& question) {
  compare_with_second(command, run, std::move(second), where);
  question.from = patch_prompt_of(run);
}

/// Answers with one answer known in advance.
class AnsweredSweep final : public Answers {
 public:
  AnsweredSweep(const SweepOf& question, std::shared_ptr<const Answer> answer, Answers& others)
      : question_(question), answer_(std::move(answer)), others_(others) {}
  std::shared_ptr<const Answer> ask(const Question& question) override {
    return question == question_ ? answer_ : others_.ask(question);
  }

 private:
  Question question_;
  std::shared_ptr<const Answer> answer_;
  Answers& others_;
};

/// Computes the answer and shows the progress if it takes long.
std::shared_ptr<const Answer> computed(const Question& question, const PromptRun& run, Engine& engine,
                                       const std::string& where, const Streams& streams) {
  const system::InterruptGuard interrupts;
  StatusLine line(streams);
  const auto show = [&](const Answer&, double done) {
    interrupts.check();
    line.tell_work(where, SweepOf::kName, done);
  };
  auto answer =
      std::make_shared<const Answer>(question.compute(run, {engine.workspace, {}, nullptr, nullptr, show}));
  if (answer->value == nullptr) throw model::RunError(where + answer->failure);
  return answer;
}

std::string cell_name(const SweepOf& question, const PromptRun& run, int layer, int column) {
  if (question.over == SweepOver::senders) return sender_name(question.receiver, layer, column);
  if (question.over == SweepOver::heads) return head_name(layer, column);
  return "L" + std::to_string(layer) + " at " + std::to_string(column) + "  " + run.tokens.labels[column];
}

/// A number for each cell, layer by layer; null if it is not finite.
template <class Number>
Json cells_json(const Sweep& sweep, const Number& number) {
  Json rows = Json::array();
  for (int layer = 0; layer < sweep.layers; ++layer) {
    Json row = Json::array();
    for (int column = 0; column < sweep.columns; ++column) row.push_back(number(layer, column));
    rows.push_back(std::move(row));
  }
  return rows;
}

void write_json(const Json& how, const SweepCommand& command, const SweepOf& question, const PromptRun& run,
                const Sweep& sweep, std::ostream& out) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  const SweepMetric metric = command.measured.metric;
  const int tokens = token_count(metric);
  Json result = {{"position", sweep.position},
                 {"token", token_or_null(tokenizer, tokens > 0 ? sweep.token : -1)},
                 {"other_token", token_or_null(tokenizer, tokens > 1 ? sweep.against : -1)},
                 {"metric", name_of(kSweepMetrics, metric)},
                 {"unit", metric == SweepMetric::divergence ? Json("nats") : Json(nullptr)},
                 {"over", name_of(kSweepOver, command.over)},
                 {"change", name_of(kSweepEdits, command.edit)},
                 {"before", sweep.before.of(metric)}};
  if (command.over == SweepOver::senders) {
    result["receiver"] = receiver_text(question.receiver.at);
  } else {
    result["site"] = model::hook_name({command.site, 0}).substr(sizeof("blocks.0.") - 1);
  }
  if (command.estimates != EstimatesWritten::only)
    result["changes"] =
        cells_json(sweep, [&](int layer, int column) { return sweep.difference(metric, layer, column); });
  if (command.estimates != EstimatesWritten::none)
    result["estimates"] =
        cells_json(sweep, [&](int layer, int column) { return sweep.estimate(metric, layer, column); });
  if (command.estimates == EstimatesWritten::also)
    result["rank_correlation"] = sweep.estimate_correlation(metric);
  write_json_line(how, tokenizer, run.tokens.tokens, result, out);
}

std::string subject_of(SweepMetric metric, const PromptRun& run, const Sweep& sweep) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  if (metric == SweepMetric::divergence) return "KL(run || edited), bits";
  if (metric == SweepMetric::probability) return "probability of " + token_words(tokenizer, sweep.token);
  return logit_name(tokenizer, sweep.token, metric == SweepMetric::difference ? sweep.against : -1);
}

void write_text(const SweepCommand& command, const SweepOf& question, const PromptRun& run,
                const Sweep& sweep, std::ostream& out) {
  const SweepMetric metric = command.measured.metric;
  const bool also = command.estimates == EstimatesWritten::also,
             only = command.estimates == EstimatesWritten::only;
  const char* comma = metric == SweepMetric::divergence ? "," : "";
  out << subject_of(metric, run, sweep) << comma << format(" after position %d  ", sweep.position)
      << run.tokens.labels[sweep.position]
      << (command.over == SweepOver::senders ? "; direct paths into " + receiver_name(question.receiver) : "")
      << (also   ? ": exact, first-order estimate"
          : only ? ": first-order estimates"
                 : "")
      << '\n';
  std::vector<NamedNumber> lines;
  for (int layer = 0; layer < sweep.layers; ++layer)
    for (int column = 0; column < sweep.columns; ++column) {
      const double estimate = also || only ? sweep.estimate(metric, layer, column) : 0;
      const double number = only ? estimate : shown_value(metric, sweep.difference(metric, layer, column));
      if (std::isnan(number)) continue;
      const std::string second = also ? format("%+14.6f  ", printable(estimate)) : std::string();
      lines.push_back({number, second + cell_name(question, run, layer, column)});
    }
  write_by_size(std::move(lines), "%+14.6f  ", out);
  out << format("%14.6f  in this run\n", printable(shown_value(metric, sweep.before.of(metric))));
  if (also)
    out << format("%14.6f  rank correlation of estimates and exact differences\n",
                  printable(sweep.estimate_correlation(metric)));
}

/// The plot command for the sweep view.
PlotCommand plot_of(const SweepCommand& command, const SweepOf& question) {
  PlotCommand plot;
  plot.model = command.model;
  if (command.second)
    plot.comparison = {command.second, command.alignment.value_or(Alignment::position), Side::run};
  plot.selection = Selection{0, 0, question.position, -1};
  plot.options = sweep_options(question, command.measured.metric);
  plot.picture = command.picture;
  plot.no_recipe = command.no_recipe;
  plot.out = command.out;
  return plot;
}

void run_sweep(const SweepCommand& command, const Streams& streams) {
  const bool patches = command.edit == SweepEdit::patch;
  How how(command);
  Engine engine = start_engine(command.model, command.prompt.edits, Capability::weights,
                               patches ? SecondModelUse::baseline : SecondModelUse::patch_source);
  const SweepOf asked = question_of(command, engine);
  const auto second =
      command.second ? run_second(engine, {*command.second, {}, command.prompt.start_token}, "--second: ")
                     : nullptr;
  const bool drawn = !command.out.empty();
  const auto fonts = drawn ? viz::Fonts::load() : nullptr;
  const WeightHashes weights = drawn && !command.no_recipe && command.out.format != FileFormat::csv
                                   ? weights_of(engine)
                                   : WeightHashes{};
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const auto file = source.file(command.out.file);
    if (!file) return;
    const std::string where = source.where();
    const auto run = std::make_shared<PromptRun>(run_prompt(engine, prompt, where));
    SweepOf question = asked;
    const int position = command.measured.position.value_or(-1);
    question.position = position < 0 ? run->run->length() - 1 : position;
    if (!patches) compare_with_unedited(engine, *run);
    name_by_id(question.token, question.against, *run, question.position, engine, where);
    if (patches)
      patch_from(command, second ? second : run_second(engine, run->prompt, where), *run, where, question);
    const auto answer = computed(
        command.estimates == EstimatesWritten::only ? Question(SweepEstimatesOf{question}) : question, *run,
        engine, where, streams);
    const Sweep& sweep = *static_cast<const Sweep*>(answer->value.get());
    if (drawn) {
      DirectAnswers others(run, engine.workspace);
      AnsweredSweep answers(question, answer, others);
      write_output({*file, command.out.format},
                   figure_bytes(plot_of(command, question), view_of_sweeps(), run, nullptr, answers, *fonts,
                                weights, where),
                   streams);
    }
    if (command.json) {
      write_json(how.of(engine, *run), command, question, *run, sweep, streams.out);
    } else if (!drawn) {
      if (!source.is_first()) streams.out << '\n';
      write_text(command, question, *run, sweep, streams.out);
    }
    warn_about(*run, where, streams.err);
  });
}

/// Checks and completes the arguments.
void check_sweep(SweepCommand& sweep) {
  require_prompt(sweep);
  check_measured(sweep.measured, kSweepMetrics);
  if (sweep.ablation && sweep.second)
    throw UsageError("one kind of edit at a time: both --ablate and --second were given");
  if (sweep.estimates != EstimatesWritten::none && sweep.measured.metric == SweepMetric::divergence)
    throw UsageError(
        "--estimates has none of --metric kl: KL is smallest at the run itself, so its slope is 0 there");
  const bool over_heads = sweep.over == SweepOver::heads, over_senders = sweep.over == SweepOver::senders;
  if (sweep.given_site && *sweep.given_site != model::Site::z && over_heads)
    throw UsageError("--site applies only to --sweep-over layer-position; heads have the site z");
  if (sweep.given_site && over_senders)
    throw UsageError("--site applies only to --sweep-over layer-position; senders are heads (z) and MLPs");
  if (sweep.receiver && !over_senders) throw UsageError("--receiver requires --sweep-over senders");
  if (sweep.estimates != EstimatesWritten::none && over_senders)
    throw UsageError("--estimates has none of --sweep-over senders: each path is computed exactly");
  const auto unless_said = sweep.prompt.edits.second_model ? SweepEdit::patch : SweepEdit::zero;
  sweep.edit = sweep.second ? SweepEdit::patch : sweep.ablation.value_or(unless_said);
  sweep.site =
      sweep.given_site.value_or(over_heads || over_senders ? model::Site::z : model::Site::resid_pre);
  check_drawn(sweep, "sweep.png");
  if (!sweep.out.empty() && sweep.estimates == EstimatesWritten::only)
    throw UsageError("--estimates only is for text and JSON; pictures and csv have the exact differences");
}

}  // namespace

Finish describe_sweep(CommandSyntax& command) {
  const auto own = std::make_shared<SweepCommand>();
  command.reading();
  measured_options(command, own->measured, kSweepMetrics, "what is measured of the prediction");
  command.choice_option("sweep-over", "what is edited, one at a time (default: heads)", own->over,
                        kSweepOver);
  command.old_name("over");
  command.choice_option("ablate",
                        "set each to zero, or to its mean over the prompt (default: zero; with\n--second or "
                        "--second-model each is patched)",
                        own->ablation, kAblations);
  command.choice_option("site", "the activation of each layer to edit (default: resid_pre; for heads: z)",
                        own->given_site, kSweepSites);
  command.option("receiver", "RECEIVER",
                 "of --sweep-over senders: logits, or a later head's q, k or v, as in L9H6.q\n(default: "
                 "logits). Each head and MLP before it is edited on its direct path alone\n(path patching)",
                 own->receiver);
  command.choice_option("estimates",
                        "first-order estimates of all cells by one backward pass (attribution\npatching): "
                        "besides the exact differences, or only them (default: none)",
                        own->estimates, kEstimates);
  second_prompt_options(command, *own,
                        "patch from this prompt instead of ablating; it must have as many tokens,\nunless "
                        "--align matches them");
  drawn_output(command, *own);
  return command.finish(own, check_sweep, run_sweep);
}

}  // namespace headscope::app
