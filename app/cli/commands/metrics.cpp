#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/arguments/measurement.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

Measurement measure_repeated(Engine& engine, const RepeatedTokens& texts, const Streams& streams) {
  const auto model_only = std::make_shared<PromptRun>();
  model_only->model = engine.model;
  DirectAnswers answers(model_only, engine.workspace, progress_of("", streams));
  const auto metrics = ask(answers, MetricsOnRepeated{texts});
  Measurement measured;
  measured.prompts = metrics->sequences;
  measured.heads = metrics->sums;
  measured.n_head = engine.config().n_head;
  return measured;
}

// ---- writing ----

/// The heads to show, in order, as layer * n_head + head.
std::vector<int> chosen(const Measurement& measured, const MetricsCommand& command) {
  std::vector<int> order(measured.heads.size());
  std::iota(order.begin(), order.end(), 0);
  if (command.sort) {
    const auto value = [&](int i) {
      const double metric = measured.heads[i][*command.sort];
      return std::isnan(metric) ? -std::numeric_limits<double>::infinity() : metric;
    };
    std::ranges::stable_sort(order, std::ranges::greater(), value);
  }
  if (command.top > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(command.top)));
  return order;
}

/// " ± 0.0123": of fewer than two prompts as many spaces; nothing if no errors are written.
std::string error_text(const SampleMean* mean) {
  constexpr int kWidth = 8;
  if (mean == nullptr) return "";
  const double error = mean->standard_error();
  return std::isnan(error) ? std::string(3 + kWidth, ' ') : format(" ± %-*.2g", kWidth, error);
}

/// The prompts that have a metric: "20", or of heads that differ in them "3-20".
std::string counts_text(const Measurement& measured, const std::vector<int>& order, HeadMetric metric) {
  if (order.empty()) return "";
  const auto count = [&](int head) { return measured.over_prompts_of(head, metric)->count(); };
  const auto [least, most] = std::ranges::minmax(order | std::views::transform(count));
  return std::to_string(least) + (least == most ? "" : "-" + std::to_string(most));
}

void write_text(const Measurement& measured, const std::vector<int>& order, std::ostream& out) {
  const bool has_errors = !measured.over_prompts.empty();
  const auto write_line = [&](const std::string& name, const auto& cell) {
    std::string line = format("%-8s", name.c_str());
    for (const HeadMetricKind& metric : head_metrics()) line += cell(metric);
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  };
  const auto write_words = [&](const std::string& name, const auto& word) {
    write_line(name, [&](const HeadMetricKind& metric) {
      return format(" %9s", std::string(word(metric)).c_str()) + (has_errors ? std::string(11, ' ') : "");
    });
  };
  write_words("head", [](const HeadMetricKind& metric) { return metric.name; });
  for (const int i : order)
    write_line(head_name(i / measured.n_head, i % measured.n_head), [&](const HeadMetricKind& metric) {
      const double value = measured.heads[i][metric.id];
      return (std::isnan(value) ? format(" %9s", "none") : format(" %9.*f", metric.decimals, value)) +
             error_text(measured.over_prompts_of(i, metric.id));
    });
  if (has_errors) {
    write_words("prompts",
                [&](const HeadMetricKind& metric) { return counts_text(measured, order, metric.id); });
    out << "± standard error over these prompts, each with its own value\n";
  }
  std::string units;
  for (const HeadMetricKind& metric : head_metrics())
    if (!metric.unit_in_files().empty())
      units += (units.empty() ? "" : ", ") + std::string(metric.name) + " in " + std::string(metric.unit);
  out << units << '\n';
  std::vector<std::int64_t> left_out;
  for (const int i : order) left_out.push_back(measured.heads[i].left_out());
  if (const std::string words = left_out_words(left_out); !words.empty()) out << words << '\n';
}

void write_csv(const Measurement& measured, const std::vector<int>& order, std::ostream& out) {
  const bool has_errors = !measured.over_prompts.empty();
  Table table{{"layer", "head"}, {}};
  std::vector<std::string> errors;
  for (const HeadMetricKind& metric : head_metrics()) {
    const std::string name(metric.name), unit(metric.unit_in_files());
    table.header.push_back(name + (unit.empty() ? "" : "_") + unit);
    if (has_errors) add_cells(errors, name + "_standard_error", name + "_count");
  }
  table.header.push_back("queries_left_out");
  add_cells(table.header, errors);
  for (const int i : order) {
    auto& row = table.rows.emplace_back();
    add_cells(row, i / measured.n_head, i % measured.n_head);
    for (const HeadMetricKind& metric : head_metrics()) add_cells(row, measured.heads[i][metric.id]);
    add_cells(row, measured.heads[i].left_out());
    for (const HeadMetricKind& metric : head_metrics())
      if (const SampleMean* mean = measured.over_prompts_of(i, metric.id))
        add_cells(row, mean->standard_error(), mean->count());
  }
  out << to_csv(table);
}

/// The metrics and their exact sums and counts, so that parts can be added up exactly.
void write_json(const Measurement& measured, const MetricsCommand& command, const std::vector<int>& order,
                std::ostream& out) {
  Json answer;
  answer["how"] = how_of(measured, program_name());
  add_part_members(measured, answer);
  if (command.repeated) {
    answer.erase("skipped");
    answer["repeated"] = {{"sequences", command.repeated->sequences},
                          {"length", command.repeated->length},
                          {"seed", command.repeated->seed}};
  }
  answer["n_layer"] = static_cast<int>(measured.heads.size()) / measured.n_head;
  answer["n_head"] = measured.n_head;
  for (const HeadMetricKind& metric : head_metrics()) {
    answer["unit"][std::string(metric.name)] = metric.unit;
    answer["bits"][std::string(metric.name)] = metric.bits;
  }
  answer["heads"] = Json::array();
  for (const int i : order) {
    Json head{{"layer", i / measured.n_head},
              {"head", i % measured.n_head},
              {"queries_left_out", measured.heads[i].left_out()}};
    Json sums;
    for (const HeadMetricKind& metric : head_metrics()) {
      const std::string name(metric.name);
      const ExactMean& sum = measured.heads[i].sum(metric.id);
      head[name] = measured.heads[i][metric.id];  // NaN is written as null
      sums[name] = {{"units", sum.units}, {"count", sum.count}, {"lost", sum.lost}};
    }
    for (const HeadMetricKind& metric : head_metrics())
      if (const SampleMean* mean = measured.over_prompts_of(i, metric.id))
        add_mean_members(*mean, head["over_prompts"][std::string(metric.name)]);
    head["sums"] = std::move(sums);
    answer["heads"].push_back(std::move(head));
  }
  out << json_line(answer) << '\n';
}

void write(const Measurement& measured, const MetricsCommand& command, std::ostream& out) {
  const std::vector<int> order = chosen(measured, command);
  if (command.csv) return write_csv(measured, order, out);
  if (command.json) return write_json(measured, command, order, out);
  write_text(measured, order, out);
}

void run_metrics(const MetricsCommand& command, const Streams& streams) {
  if (!command.merge.empty()) return write(merge(command.merge), command, streams.out);
  How how(command);
  Engine engine = start_engine(command, streams,
                               {.needs = command.repeated ? Capability::weights : Capability::patterns});
  const auto conditions =
      command.json ? conditions_of(how.shared(engine)) : std::map<std::string, std::string>{};
  if (command.repeated) {
    Measurement measured = measure_repeated(engine, *command.repeated, streams);
    measured.conditions = conditions;
    warn_about_weights(engine, streams.err);
    return write(measured, command, streams.out);
  }
  const model::Config& config = engine.config();
  Measurement measured;
  measured.heads.resize(config.n_layer * config.n_head);
  measured.n_head = config.n_head;
  measured.shard = command.prompt.shard;
  measured.conditions = conditions;
  if (engine.model->patterns) {
    const PromptRun run = run_of_patterns(engine, command.prompt, {});
    warn_about(run, "", streams.err);
    add_head_metrics(run, engine.workspace, measured.heads);
    measured.prompts = 1;
    return write(measured, command, streams.out);
  }
  const PromptsRun done =
      for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
        const PromptRun run = run_prompt(engine, prompt, source.where());
        warn_about(run, source.where(), streams.err);
        std::vector<HeadMetrics> of_prompt;
        add_head_metrics(run, engine.workspace, of_prompt);
        measured.add(of_prompt);
      });
  measured.skipped = done.skipped;
  measured.list = done.list;
  if (!done.list) measured.over_prompts.clear();
  write(measured, command, streams.out);
}

// ---- the command line ----

std::string metric_names() {
  return names_of(head_metrics(), "|");
}

HeadMetric metric(const std::string& option, const std::string& text) {
  if (const auto found = head_metric(text)) return *found;
  reject_name(option, metric_names(), text);
}

/// "8,50": sequences, tokens.
RepeatedTokens repeated(const std::string& option, const std::string& text) {
  constexpr int kMaxSequences = 100000;
  const auto parts = halves(text, ',');
  if (!parts)
    throw UsageError(option + " takes the number of sequences and their length, e.g. 8,50, not " +
                     model::quote(text));
  RepeatedTokens texts;
  texts.sequences = whole_number(option, parts->first, 1, kMaxSequences);
  texts.length = whole_number(option, parts->second, 1);
  return texts;
}

void check_metrics(MetricsCommand& metrics) {
  const std::string prompt = metrics.prompt_options.empty() ? "" : metrics.prompt_options[0];
  const bool is_repeated = metrics.repeated.has_value();
  refuse({{metrics.seed && !is_repeated, "--seed requires --repeated"},
          {is_repeated && metrics.model.patterns,
           "--repeated needs a model's weights; an --attention file has none"},
          {is_repeated && !prompt.empty(), "--repeated replaces " + prompt + "; give only one of them"},
          {is_repeated && !metrics.prompt.edits.empty(),
           "--repeated measures the unedited model; --edit and --edits apply only to prompts"}});
  if (is_repeated) metrics.repeated->seed = metrics.seed.value_or(0);
  if (!is_repeated && metrics.merge.empty())
    require_prompt_or_attention(metrics);  // only_with checks --merge
}

}  // namespace

Finish describe_metrics(CommandSyntax& command) {
  const auto own = std::make_shared<MetricsCommand>();
  command.reading();
  command.attention(false);
  command.option("sort", metric_names(), "sort by this metric, largest first (default: by layer and head)",
                 own->sort, metric);
  command.option("top", "N", "only the first N heads (default: all)", own->top, whole(1));
  command.option(
      "repeated", "N,L",
      "instead of a prompt: N sequences of L random tokens, each written\ntwice after the start token",
      own->repeated, repeated);
  command.option("seed", "S", "seed of the random tokens (default: 0)", own->seed, seed_number);
  command.list_option(
      "merge", "FILE.json...",
      "instead of a prompt: combine what --json wrote for parts of the\nprompts (see --shard)", own->merge,
      false);
  command.only_with("merge", {"sort", "top", "bom", "json", "out", "format"});
  command.answer_out(true);
  return command.finish(own, check_metrics, run_metrics);
}

}  // namespace headscope::app
