#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/drawn.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/list_means.h"
#include "app/cli/commands/measured_tokens.h"
#include "app/cli/commands/output.h"
#include "app/recipe/names.h"
#include "app/run/analyses/measured_cells.h"
#include "app/run/analyses/sweep.h"
#include "app/run/answers.h"
#include "app/run/edits/edit_text.h"
#include "app/run/recompute.h"
#include "app/views/output/path_receiver.h"
#include "app/views/output/sweep_options.h"
#include "app/views/output/sweep_words.h"
#include "model/pass/hooks.h"

namespace headscope::app {
namespace {

constexpr Named<SweepEdit> kSweepAblations[] = {{"zero", SweepEdit::zero}, {"mean", SweepEdit::mean}};

constexpr Named<EstimatesWritten> kEstimates[] = {{"also", EstimatesWritten::also},
                                                  {"only", EstimatesWritten::only}};

/// The question that the arguments define for every prompt, without the means of a list.
SweepOf question_of(const SweepCommand& command, const Engine& engine) {
  SweepOf question;
  question.over = command.over;
  question.site = command.site;
  question.edit = command.edit;
  if (command.over == SweepOver::senders)
    question.receiver = {parse_receiver(command.receiver.value_or("logits"), *engine.model),
                         engine.model->config().n_head};
  if (command.over == SweepOver::neurons) question.neurons = command.top.value_or(question.neurons);
  // The view has estimates, and its picture must be the same when it is made again.
  question.estimates =
      question.has_estimates() && (command.estimates != EstimatesWritten::none || !command.out.empty());
  question.largest_of = command.measured.metric;
  set_tokens(question, command.measured, *engine.model);
  return question;
}

/// A sweep of one prompt, and how it is written.
struct PromptSweep {
  const SweepCommand& command;
  const PromptRun& run;
  const SweepOf& question;
  const Sweep& sweep;
  SweepMetric metric;
  std::optional<SweepReading> source =
      {};                               ///< of what is patched from; nothing: changes are not shares of it
  const MeanList* mean_over = nullptr;  ///< the list whose means are set; null: none
  bool own_second = false;              ///< the prompt's line has what it is patched from

  bool estimates_only() const { return command.estimates == EstimatesWritten::only; }
  double change(int layer, int column) const {
    return estimates_only() ? sweep.estimate(metric, layer, column) : sweep.difference(metric, layer, column);
  }
  double share(int layer, int column) const {
    return restored(sweep, *source, metric, change(layer, column));
  }
};

std::string cell_name(const SweepPlace& place, const PromptRun& run) {
  const std::string part = part_name(place);
  if (!place.position) return part;
  return part + " at " + std::to_string(*place.position) + "  " + run.tokens.labels[*place.position];
}

/// A number for each cell, layer by layer, of heads at positions also head by head; null if it is not finite.
template <class Number>
Json cells_json(const SweepOf& question, const Sweep& sweep, const Number& number) {
  const bool by_head = question.over == SweepOver::head_positions;
  Json layers = Json::array();
  for (int layer = 0; layer < sweep.layers; ++layer) {
    Json places = Json::array();
    for (int column = 0; column < sweep.columns; ++column) {
      if (by_head && column % question.edited_positions() == 0) places.push_back(Json::array());
      (by_head ? places.back() : places).push_back(number(layer, column));
    }
    layers.push_back(std::move(places));
  }
  return layers;
}

/// The neurons of a sweep, the strongest first.
Json neurons_json(const PromptSweep& reading) {
  const Sweep& sweep = reading.sweep;
  const SweepMetric metric = reading.metric;
  Json neurons = Json::array();
  for (const std::size_t cell : listed_cells(reading.question, sweep, metric)) {
    const NeuronIndex neuron = sweep.neurons[cell];
    const auto column = static_cast<int>(cell);
    Json& object = neurons.emplace_back(Json{
        {"layer", neuron.layer}, {"neuron", neuron.neuron}, {"estimate", sweep.estimate(metric, 0, column)}});
    if (sweep.known[cell]) object["change"] = sweep.difference(metric, 0, column);
    if (reading.source) object["restored"] = reading.share(0, column);
  }
  return neurons;
}

/// How the run is edited, of one prompt or of many.
Json change_json(const PromptSweep& reading) {
  Json json = {{"over", name_of(kSweepOver, reading.command.over)},
               {"change", name_of(kSweepEdits, reading.question.edit)}};
  if (reading.command.over == SweepOver::senders) {
    json["receiver"] = receiver_text(reading.question.receiver.at);
  } else {
    json["site"] = model::hook_name({reading.command.site, 0}).substr(sizeof("blocks.0.") - 1);
  }
  return json;
}

void write_json(const Json& how, const PromptSweep& reading, std::ostream& out) {
  const SweepCommand& command = reading.command;
  const SweepOf& question = reading.question;
  const Sweep& sweep = reading.sweep;
  const SweepMetric metric = reading.metric;
  const model::Tokenizer& tokenizer = *reading.run.model->tokenizer;
  const int tokens = token_count(metric);
  Json result = measured_json(tokenizer, name_of(kSweepMetrics, metric), metric == SweepMetric::divergence,
                              sweep.position, tokens > 0 ? sweep.token : -1, tokens > 1 ? sweep.against : -1);
  result.update(change_json(reading));
  result["before"] = sweep.before.of(metric);
  const bool neurons = command.over == SweepOver::neurons;
  if (reading.source) result["second"] = reading.source->of(metric);
  if (reading.source && !neurons)
    result["restored"] =
        cells_json(question, sweep, [&](int layer, int column) { return reading.share(layer, column); });
  if (neurons) result["neurons"] = neurons_json(reading);
  if (command.estimates != EstimatesWritten::only && !neurons)
    result["changes"] = cells_json(
        question, sweep, [&](int layer, int column) { return sweep.difference(metric, layer, column); });
  if (command.estimates != EstimatesWritten::none && !neurons)
    result["estimates"] = cells_json(
        question, sweep, [&](int layer, int column) { return sweep.estimate(metric, layer, column); });
  if (command.estimates == EstimatesWritten::also)
    result["rank_correlation"] = sweep.estimate_correlation(metric);
  write_json_line(how, tokenizer, reading.run.tokens.tokens, result, out);
}

std::string subject_of(SweepMetric metric, const PromptRun& run, const Sweep& sweep) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  if (metric == SweepMetric::divergence) return "KL(run || edited), bits";
  if (metric == SweepMetric::probability) return "probability of " + token_words(tokenizer, sweep.token);
  return logit_name(tokenizer, sweep.token, metric == SweepMetric::difference ? sweep.against : -1);
}

void write_text(const PromptSweep& reading, std::ostream& out) {
  const SweepCommand& command = reading.command;
  const SweepOf& question = reading.question;
  const PromptRun& run = reading.run;
  const Sweep& sweep = reading.sweep;
  const SweepMetric metric = reading.metric;
  const bool also = command.estimates == EstimatesWritten::also, only = reading.estimates_only();
  std::string title = sweep_title(run, question) + ": " + (reading.source ? "restored of " : "") +
                      subject_of(metric, run, sweep) + (metric == SweepMetric::divergence ? "," : "") +
                      format(" after position %d  ", sweep.position) + run.tokens.labels[sweep.position];
  if (command.over == SweepOver::senders) title += "; direct paths into " + receiver_name(question.receiver);
  if (also || only) title += also ? ": exact, first-order estimate" : ": first-order estimates";
  if (reading.mean_over) title += "; " + words_of(*reading.mean_over);
  NumberList text{std::move(title)};
  std::size_t cell = 0;
  for (int layer = 0; layer < sweep.layers; ++layer)
    for (int column = 0; column < sweep.columns; ++column, ++cell) {
      const double estimate = also || only ? sweep.estimate(metric, layer, column) : 0;
      const double number = reading.source ? reading.share(layer, column)
                            : only         ? estimate
                                           : sweep.difference(metric, layer, column);
      if (std::isnan(number)) continue;
      const std::string second = also ? format("%+14.6f  ", printable(estimate)) : std::string();
      text.numbers.push_back({number, second + cell_name(question.place_of(sweep, cell), run)});
    }
  text.facts = {{sweep.before.of(metric), "in this run"}};
  if (reading.source) text.facts.push_back({reading.source->of(metric), "in the second one"});
  if (also)
    text.facts.push_back(
        {sweep.estimate_correlation(metric), "rank correlation of estimates and exact differences"});
  write_text(std::move(text), out);
}

/// What is measured of all prompts whose changes are averaged.
Json of_means(const PromptSweep& reading) {
  const bool shares = reading.source.has_value();
  const std::string metric = reading.metric == SweepMetric::divergence ? "KL(run || edited)"
                             : reading.metric == SweepMetric::difference
                                 ? "logit difference"
                                 : std::string(name_of(kSweepMetrics, reading.metric));
  const std::string title =
      reading.own_second ? sweep_list_title(reading.question) : sweep_title(reading.run, reading.question);
  Json of = {{"command", "sweep"}, {"metric", name_of(kSweepMetrics, reading.metric)}};
  of.update(change_json(reading));
  if (reading.mean_over) of["mean_over"] = words_of(*reading.mean_over);
  add_given(of, reading.command.measured);
  if (const auto& by = reading.command.comparison.alignment) of["align"] = name_of(kAlignmentNames, *by);
  if (reading.command.comparison.second)
    of["second"] = utf8_or_replacement(*reading.command.comparison.second);
  of["restored"] = shares;
  of["estimates"] = reading.estimates_only();
  // Last: where prompts differ, the member that differs first is named.
  of["what"] = title + ": " + (reading.estimates_only() ? "estimated " : "") +
               (shares ? "restored of " : "change of ") + metric;
  return of;
}

void add_to(ListMeans& means, const PromptSweep& reading, const std::string& where) {
  const MeasuredCells cells = cells_of(reading.question, reading.sweep, reading.metric,
                                       reading.estimates_only(), reading.source ? &*reading.source : nullptr);
  means.add(of_means(reading), cells, where);
}

/// The prompt's edit: a line with a second prompt is patched from it, unless an ablation is asked for.
SweepEdit edit_of(const SweepCommand& command, const ListedPrompt& prompt) {
  return prompt.second && !command.ablation ? SweepEdit::patch : command.edit;
}

void run_sweep(const SweepCommand& command, const Streams& streams) {
  if (!command.merge.empty())
    return write_means(ListMeans::merge(command.merge, "sweep"), command, true, streams);
  How how(command);
  const bool patched = command.edit == SweepEdit::patch;
  Engine engine = start_engine(command, streams,
                               {.second = patched ? SecondModelUse::baseline : SecondModelUse::patch_source,
                                .takes_means = command.ablates_with_means()});
  SweepOf asked = question_of(command, engine);
  AnswersInAdvance::Known known;
  if (asked.edit == SweepEdit::list_mean)
    asked.mean_over =
        known_means(asked.means_over(engine.mean_over->over, engine.config()), engine, streams, known);
  SecondPrompts seconds(command, engine);
  const Drawing drawing(command, engine);
  ListMeans means;
  const auto work = [&](const PromptSource& source, const ListedPrompt& prompt) {
    const std::string where = source.where();
    const auto measured = measured_of(command.measured, prompt);
    const auto run = std::make_shared<PromptRun>(run_prompt(engine, prompt, where));
    SweepOf question = asked;
    question.edit = edit_of(command, prompt);
    question.largest_of = measured.metric;
    set_tokens_of_line(question, prompt, token_count(measured.metric), *engine.model, where);
    const int position = measured.position.value_or(-1);
    question.position = position < 0 ? run->run->length() - 1 : position;
    question.positions = acting_positions(*run, question.position);
    const bool patches = question.edit == SweepEdit::patch;
    if (run->run->plan) run->unedited = unedited_run(*run, engine.workspace, {});
    if (!patches && run->unedited) compare_with_unedited(*run, run->unedited);
    name_by_id(question.token, question.against, *run, question.position, engine, where);
    std::optional<std::string> second;
    if (patches) {
      second = seconds.compare(*run, prompt, where);
      if (!second)
        compare_with(*run, run_second(engine, run->prompt, where), command.comparison.aligned_by());
      question.from = patch_prompt_of(*run);
    }
    DirectAnswers others(run, engine.workspace, progress_of(where, streams));
    AnswersInAdvance answers(known, others);
    const bool estimated = command.estimates == EstimatesWritten::only;
    const auto answer = saying_where(where, [&] {
      return answers.ask(estimated ? Question(SweepEstimatesOf{question}) : Question(question));
    });
    const Sweep& sweep = *static_cast<const Sweep*>(answer->value.get());
    PromptSweep reading{command, *run, question, sweep, measured.metric};
    const bool lists = question.edit == SweepEdit::list_mean;
    if (lists) reading.mean_over = engine.mean_over.get();
    reading.own_second = prompt.second.has_value();
    if (command.restored) {
      if (!patches)
        throw model::RunError(where + "it has no second prompt whose metric --restored could compare with");
      reading.source = saying_where(where, [&] { return source_reading(*run, sweep, engine.workspace); });
    }
    warn_about(*run, where, streams.err);
    if (command.mean) return add_to(means, reading, where);
    if (drawing.is_wanted())
      saying_where(where, [&] {
        drawing.write(view_of_sweeps(), sweep_options(question, measured.metric), question.position, second,
                      run, lists ? engine.mean_over->over.list : nullptr, answers, source, streams);
      });
    if (command.json) return write_json(how.of(engine, *run), reading, streams.out);
    if (drawing.is_wanted()) return;
    source.separate(streams.out);
    write_text(reading, streams.out);
  };
  const PromptsRun done = for_each_prompt(command.prompt, streams, work);
  if (!command.mean) return;
  means.finish(command.json ? how.shared(engine) : Json(), command.prompt.shard, done);
  write_means(means, command, true, streams);
}

/// Checks and completes the arguments.
void check_sweep(SweepCommand& sweep) {
  check_means(sweep, sweep);
  check_measured(sweep.measured, kSweepMetrics);
  const ComparisonArguments& comparison = sweep.comparison;
  const bool over_senders = sweep.over == SweepOver::senders, over_neurons = sweep.over == SweepOver::neurons;
  const bool estimates = sweep.estimates != EstimatesWritten::none;
  const bool kl = sweep.measured.metric == SweepMetric::divergence;
  const bool list = sweep.prompt.from == PromptArguments::From::list;  // whose lines may name a second one
  if (over_neurons && !estimates) sweep.estimates = EstimatesWritten::also;  // why a neuron is in the list
  const auto unless_said = sweep.prompt.edits.second_model ? SweepEdit::patch : SweepEdit::zero;
  sweep.edit = comparison.second ? SweepEdit::patch : sweep.ablation.value_or(unless_said);
  if (sweep.edit == SweepEdit::mean && sweep.prompt.edits.mean_over) sweep.edit = SweepEdit::list_mean;
  sweep.site = sweep.given_site.value_or(sites_of(sweep.over).front());
  const std::string no_metric = refuse_metric(sweep.over, sweep.measured.metric),
                    no_site = refuse_site(sweep.over, sweep.site, sweep.edit);
  refuse({
      {sweep.ablation && comparison.second,
       "one kind of edit at a time: both --ablate and --second were given"},
      {estimates && kl,
       "--estimates has none of --metric kl: KL is smallest at the run itself, so its slope is 0 there"},
      {sweep.given_site && sites_of(sweep.over).size() == 1,
       "--site does not apply to --sweep-over " + std::string(name_of(kSweepOver, sweep.over))},
      {sweep.top && !over_neurons, "--top requires --sweep-over neurons"},
      {!no_metric.empty(), no_metric},
      {sweep.receiver && !over_senders, "--receiver requires --sweep-over senders"},
      {estimates && over_senders,
       "--estimates has none of --sweep-over senders: each path is computed exactly"},
      {!no_site.empty(), no_site},
      {sweep.restored && !comparison.second && !sweep.prompt.edits.second_model && !list,
       "--restored compares with a second prompt; give --second"},
      {comparison.alignment && !comparison.second && sweep.ablation,
       "--align matches the tokens of a second prompt, which --ablate does not use"},
      {sweep.restored && sweep.ablation,
       "--restored compares with the second prompt, which --ablate does not use"},
      {sweep.restored && kl, "--metric kl has no value in the second prompt; --restored does not apply"},
      {sweep.mean && over_neurons,
       "each prompt has other strongest neurons; --mean and --sweep-over neurons cannot be combined"},
      {sweep.mean && sweep.estimates == EstimatesWritten::also,
       "--mean has one number a cell: --estimates also does not apply, only does"},
  });
  if (sweep.writes_means()) {
    if (!sweep.out_name.empty() && !is_answer_format(answer_format(sweep)) && !sweep.csv)
      throw UsageError(
          "means are numbers: the file after --out must end in .txt, .json, .jsonl or .csv; headscope plot "
          "sweep --mean draws them");
    if (sweep.no_recipe) throw UsageError("--no-recipe is for a picture; means are numbers");
    return reject_picture_options(sweep, "is for a picture; means are numbers");
  }
  check_drawn(sweep, "sweep.png");
  if (sweep.restored && !sweep.out.empty())
    throw UsageError("--restored is for text and JSON, and for csv with --mean; pictures have the changes");
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
  command.choice_option("ablate",
                        "set each to zero, or to its mean over the prompt, or with --mean-over over a\nlist "
                        "(default: zero; with --second or --second-model each is patched)",
                        own->ablation, kSweepAblations);
  command.choice_option("site",
                        "the activation to edit: of heads z (default), q, k, v or pattern, of\n"
                        "head-position all of these but pattern; of layer-position all but pattern\n"
                        "(default: resid_pre)",
                        own->given_site, kSweepSites);
  command.option("top", "N",
                 "of --sweep-over neurons: the N whose edits have the largest estimated effect\n"
                 "(default: 64)",
                 own->top, whole(1, 1000));
  command.option("receiver", "RECEIVER",
                 "of --sweep-over senders: logits, or a later head's q, k or v, as in L9H6.q\n(default: "
                 "logits). Each head and MLP before it is edited on its direct path alone\n(path patching)",
                 own->receiver);
  command.choice_option("estimates",
                        "first-order estimates of all cells by one backward pass (attribution\npatching): "
                        "besides the exact differences, or only them (default: none;\nof neurons also)",
                        own->estimates, kEstimates);
  command.second_prompt(
      "patch from this prompt instead of ablating; it must have as many tokens,\nunless "
      "--align matches them");
  command.flag("restored",
               "each change as a share of the difference between both prompts' metrics:\n0 as in the prompt, "
               "1 as in the second one",
               own->restored);
  mean_options(command, *own);
  drawn_output(command, *own);
  return command.finish(own, check_sweep, run_sweep);
}

}  // namespace headscope::app
