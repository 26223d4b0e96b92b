#include "app/run/analyses/head_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <unordered_map>

#include "app/run/analyses/over_prompts.h"
#include "app/run/analyses/patterns.h"
#include "model/files/error.h"
#include "model/pass/plan.h"
#include "model/tokens/sampling.h"

namespace headscope::app {
namespace {

constexpr double kNoMetric = std::numeric_limits<double>::quiet_NaN();

/// Fills in the shown values from the sums.
void show_sums(HeadMetricsOf& answer) {
  answer.heads.clear();
  for (const HeadMetrics& head : answer.sums) answer.heads.push_back(head.values());
}

}  // namespace

std::vector<int> earlier_occurrences(std::span<const int> tokens) {
  std::vector<int> earlier;
  std::unordered_map<int, int> last;
  for (const int token : tokens) {
    const auto [found, is_new] = last.try_emplace(token, -1);
    earlier.push_back(found->second);
    found->second = static_cast<int>(earlier.size()) - 1;
  }
  return earlier;
}

void HeadMetrics::add(int query, std::span<const float> weights, std::span<const int> earlier,
                      bool own_keys) {
  const QueryWeights of = query_weights(query, weights, earlier);
  if (of.distance == 0 && std::ranges::all_of(weights, [](float weight) { return weight == 0; })) {
    ++left_out_;
    return;
  }
  for (const HeadMetricKind& metric : head_metrics()) {
    if (metric.of_text && !own_keys) continue;
    const auto number = metric.of(of);
    if (!number) continue;
    const auto i = static_cast<std::size_t>(metric.id);
    sums_[i] += std::isfinite(*number) ? *number : kNoMetric;
    ++queries_[i];
  }
}

HeadMetrics& HeadMetrics::operator+=(const HeadMetrics& other) {
  for (std::size_t i = 0; i < kHeadMetrics; ++i) sums_[i] += other.sums_[i], queries_[i] += other.queries_[i];
  left_out_ += other.left_out_;
  return *this;
}

double HeadMetrics::operator[](HeadMetric metric) const {
  const auto i = static_cast<std::size_t>(metric);
  return queries_[i] > 0 ? sums_[i] / static_cast<double>(queries_[i]) : kNoMetric;
}

HeadMetricValues HeadMetrics::values() const {
  HeadMetricValues values;
  for (const HeadMetricKind& metric : head_metrics())
    values.all[static_cast<std::size_t>(metric.id)] = (*this)[metric.id];
  values.queries = queries_;
  values.left_out = left_out_;
  return values;
}

std::string left_out_words(std::span<const std::int64_t> of_heads) {
  if (of_heads.empty()) return "";
  const auto [least, most] = std::ranges::minmax(of_heads);
  if (most == 0) return "";
  const std::string range = least < most ? std::to_string(least) + " to " : "";
  return "left out: " + range + std::to_string(most) + (most == 1 ? " query" : " queries") +
         " of a head, whose weights are all 0";
}

HeadMetricValues difference_of(const HeadMetricValues& after, const HeadMetricValues& before) {
  HeadMetricValues result;
  for (std::size_t i = 0; i < kHeadMetrics; ++i)
    result.all[i] = static_cast<double>(static_cast<float>(after.all[i]) - static_cast<float>(before.all[i]));
  result.left_out = std::max(after.left_out, before.left_out);
  return result;
}

void add_head_metrics(const PromptRun& run, model::Workspace& workspace, std::vector<HeadMetrics>& heads,
                      std::stop_token stop) {
  const std::vector<model::HeadIndex> all = all_heads(run.run->config);
  std::vector<HeadMetrics> of_run(all.size());
  const std::vector<int> earlier = earlier_occurrences(run.run->tokens);
  const bool own_keys = has_own_keys(run);
  patterns_of(
      run, all, workspace,
      [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
        for (int i = first_query == 0 ? 1 : 0; i < rows.rows; ++i) {
          const int query = first_query + i;
          const int keys = end_of_keys(run, all[index], query);
          of_run[index].add(query, rows.row(i).first(keys), earlier, own_keys);
        }
      },
      stop);
  heads.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) of_run[i] += heads[i];
  heads = std::move(of_run);
}

RepeatedTokens RepeatedTokens::default_for(int n_ctx) {
  return {std::min(kDefaultLength, longest(n_ctx)), kDefaultSequences, 0};
}

std::vector<int> RepeatedTokens::sequence(int number, int vocabulary, std::optional<int> start_token) const {
  model::RandomNumbers random(seed ^ (0x9E3779B97F4A7C15U * (static_cast<std::uint64_t>(number) + 1)));
  const int choices = start_token ? vocabulary - 1 : vocabulary;
  std::vector<int> once;
  for (int i = 0; i < length; ++i) {
    const int drawn = static_cast<int>(random.next() * choices);
    once.push_back(start_token && drawn >= *start_token ? drawn + 1 : drawn);
  }
  std::vector<int> tokens;
  if (start_token) tokens.push_back(*start_token);
  for (int i = 0; i < 2; ++i) tokens.insert(tokens.end(), once.begin(), once.end());
  return tokens;
}

std::optional<HeadMetricsOf> difference_of(const HeadMetricsOf& after, const HeadMetricsOf& before) {
  if (after.sequences != before.sequences || after.progress.done != before.progress.done) return std::nullopt;
  HeadMetricsOf result = after;
  result.sums.clear();
  const HeadMetricValues none = HeadMetrics{}.values();
  for (std::size_t i = 0; i < result.heads.size(); ++i)
    result.heads[i] = difference_of(result.heads[i], i < before.heads.size() ? before.heads[i] : none);
  return result;
}

HeadMetricsOf MetricsOnList::compute(const PromptRun& run,
                                     const Computation<HeadMetricsOf>& computation) const {
  return over_prompts(
      over, over.list->prompts.size(), run, computation,
      [&](const PromptRun& one, std::size_t, HeadMetricsOf& answer) {
        add_head_metrics(one, computation.workspace, answer.sums, computation.stop);
      },
      show_sums);
}

HeadMetricsOf MetricsOnRepeated::compute(const PromptRun& run,
                                         const Computation<HeadMetricsOf>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const int longest = RepeatedTokens::longest(config.n_ctx);
  if (texts.length < 1 || texts.length > longest) {
    throw model::RunError(run.model->name + " takes " + std::to_string(config.n_ctx) + " tokens (n_ctx): " +
                          (longest < 1 ? "too few to repeat one"
                                       : "room for the start token and twice " + std::to_string(longest) +
                                             " at most, not twice " + std::to_string(texts.length)));
  }
  const std::optional<int> start = start_token_of(*run.model);
  HeadMetricsOf result = computation.partial != nullptr ? *computation.partial : HeadMetricsOf{};
  while (result.sequences < texts.sequences) {
    const std::vector<int> tokens = texts.sequence(result.sequences, config.vocab_size, start);
    model::ForwardOptions options;
    options.stop = computation.stop;
    const auto pass = transformer.forward(tokens, computation.workspace, options);
    add_head_metrics({run.model, {}, {}, pass}, computation.workspace, result.sums, computation.stop);
    ++result.sequences;
    show_sums(result);
    if (result.sequences < texts.sequences)
      computation.show(result, static_cast<double>(result.sequences) / texts.sequences);
  }
  return result;
}

}  // namespace headscope::app
