#include "app/run/analyses/head_metrics.h"

#include <algorithm>
#include <bit>
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

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kRoom = 137438953471;  // 2^37 - 1 units of one number: times kMostNumbers below 2^63

constexpr std::array<HeadMetricWords, kHeadMetrics> kWords{{
    {"first", "Weight on the first token", "mean over the queries from 1 on", "weight", 4},
    {"previous", "Weight on the previous token", "mean over the queries from 1 on", "weight", 4},
    {"self", "Weight on the query itself", "mean over the queries from 1 on", "weight", 4},
    {"induction", "Induction", "mean weight on what followed earlier occurrences of the query's token",
     "weight", 4},
    {"duplicate", "Duplicate tokens", "mean weight on earlier occurrences of the query's token", "weight", 4},
    {"entropy", "Entropy of the weights", "in bits, mean over the queries from 1 on", "bits", 3},
    {"distance", "Distance", "tokens from a query back to what it takes, mean by weight", "tokens back", 2},
    {"sink", "First-token sink", "share of queries that give the first token more than all others together",
     "share", 4},
}};
constexpr std::array<int, kHeadMetrics> kBits{36, 36, 36, 36, 36, 32, 20, 36};

/// log2 of a positive normal number, to 2e-7; of 0 some finite number, so that 0 log 0 is 0. Without a
/// branch: there are millions of weights.
inline float fast_log2(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const auto exponent = static_cast<float>((bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x007FFFFF) | 0x3F800000);  // [1, 2)
  const float t = (m - 1) / (m + 1), s = t * t;
  // 2 / ln 2 times the series of artanh t
  const float series = 1 + s * (1.F / 3 + s * (1.F / 5 + s * (1.F / 7 + s * (1.F / 9 + s * (1.F / 11)))));
  return exponent + 2.8853900817779268F * t * series;
}

struct Spread {
  double entropy = 0;   ///< bits
  double distance = 0;  ///< mean of |query - key| by weight
};

/// Of the weights of keys 0 .. n - 1.
Spread spread_of(const float* row, int query, int n) {
  constexpr int kLanes = 16;
  std::array<float, kLanes> entropy{}, distance{};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float w = row[i + lane];
      entropy[static_cast<std::size_t>(lane)] -= w * fast_log2(w);
      distance[static_cast<std::size_t>(lane)] += w * static_cast<float>(std::abs(query - i - lane));
    }
  }
  Spread spread;
  for (; i < n; ++i) {
    spread.entropy -= static_cast<double>(row[i] * fast_log2(row[i]));
    spread.distance += static_cast<double>(row[i] * static_cast<float>(std::abs(query - i)));
  }
  for (const float part : entropy) spread.entropy += static_cast<double>(part);
  for (const float part : distance) spread.distance += static_cast<double>(part);
  return spread;
}

}  // namespace

const HeadMetricWords& words_of(HeadMetric figure) {
  return kWords[static_cast<std::size_t>(figure)];
}

std::optional<HeadMetric> head_figure(std::string_view name) {
  const auto found = std::ranges::find(kWords, name, &HeadMetricWords::name);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<HeadMetric>(found - kWords.begin());
}

void ExactMean::add(double number, int bits) {
  ++count;
  const double scaled = number * static_cast<double>(std::int64_t{1} << bits);
  if (std::abs(scaled) < kRoom) {
    units += std::llrint(scaled);
  } else {
    ++lost;  // NaN, too
  }
}

ExactMean& ExactMean::operator+=(const ExactMean& other) {
  if (other.count > kMostNumbers - count) {
    throw model::RunError("figures of heads can be taken over " + std::to_string(kMostNumbers) +
                          " queries at most; take fewer texts");
  }
  units += other.units, count += other.count, lost += other.lost;
  return *this;
}

double ExactMean::mean(int bits) const {
  if (count == 0 || lost > 0) return kNone;
  return std::ldexp(static_cast<double>(units) / static_cast<double>(count), -bits);
}

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

int HeadMetrics::bits(HeadMetric figure) {
  return kBits[static_cast<std::size_t>(figure)];
}

void HeadMetrics::add(int query, std::span<const float> weights, std::span<const int> earlier,
                      bool own_keys) {
  const auto put = [this](HeadMetric figure, double number) { sum(figure).add(number, bits(figure)); };
  const float* row = weights.data();
  put(HeadMetric::first, static_cast<double>(row[0]));
  put(HeadMetric::sink, std::isnan(row[0]) ? kNone : static_cast<double>(row[0] > 0.5F));
  const Spread spread = spread_of(row, query, static_cast<int>(weights.size()));
  put(HeadMetric::entropy, spread.entropy);
  if (!own_keys) return;
  put(HeadMetric::previous, static_cast<double>(row[query - 1]));
  put(HeadMetric::self, static_cast<double>(row[query]));
  put(HeadMetric::distance, spread.distance);
  if (earlier.empty()) return;
  bool induces = false, repeats = false;
  double induction = 0, duplicate = 0;
  for (int at = earlier[static_cast<std::size_t>(query)]; at >= 0;
       at = earlier[static_cast<std::size_t>(at)]) {
    repeats = true;
    duplicate += static_cast<double>(row[at]);
    if (at + 1 == query) continue;
    induces = true;
    induction += static_cast<double>(row[at + 1]);
  }
  if (repeats) put(HeadMetric::duplicate, duplicate);
  if (induces) put(HeadMetric::induction, induction);
}

HeadMetrics& HeadMetrics::operator+=(const HeadMetrics& other) {
  for (std::size_t i = 0; i < kHeadMetrics; ++i) sums_[i] += other.sums_[i];
  return *this;
}

double HeadMetrics::operator[](HeadMetric figure) const {
  return sum(figure).mean(bits(figure));
}

void add_figures_of(const PromptRun& run, model::Workspace& workspace, std::vector<HeadMetrics>& heads,
                    std::stop_token stop) {
  const int n_head = run.run->config.n_head;
  std::vector<model::HeadIndex> all;
  for (int i = 0; i < run.run->config.n_layer * n_head; ++i) all.push_back({i / n_head, i % n_head});
  std::vector<HeadMetrics> of_run(all.size());
  const std::vector<int> earlier = earlier_occurrences(run.run->tokens);
  const bool own_keys = has_own_keys(run);
  patterns_of(
      run, all, workspace,
      [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
        for (int i = first_query == 0 ? 1 : 0; i < rows.rows; ++i) {
          const int query = first_query + i;
          const int keys = end_of_keys(run, all[index], query);
          of_run[index].add(query, rows.row(i).first(static_cast<std::size_t>(keys)), earlier, own_keys);
        }
      },
      stop);
  heads.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) of_run[i] += heads[i];
  heads = std::move(of_run);
}

RepeatedTokens RepeatedTokens::usual(int n_ctx) {
  return {std::min(kUsualLength, longest(n_ctx)), kUsualSequences, 0};
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

HeadMetricsOf MetricsOnList::compute(const PromptRun& run, const Work<HeadMetricsOf>& work) const {
  return over_prompts(
      over, over.list->prompts.size(), run, work,
      [&](const PromptRun& one, std::size_t, HeadMetricsOf& answer) {
        add_figures_of(one, work.workspace, answer.heads, work.stop);
      },
      [](HeadMetricsOf&) {});
}

HeadMetricsOf MetricsOnRepeated::compute(const PromptRun& run, const Work<HeadMetricsOf>& work) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const int longest = RepeatedTokens::longest(config.n_ctx);
  if (texts.length < 1 || texts.length > longest) {
    throw model::RunError(run.model->name + " takes " + std::to_string(config.n_ctx) + " tokens (n_ctx): " +
                          (longest < 1 ? "too few for one that is repeated"
                                       : "the start token and twice " + std::to_string(longest) +
                                             " at most, not twice " + std::to_string(texts.length)));
  }
  const std::optional<int> start = run.model->tokenizer->end_of_text();
  HeadMetricsOf result = work.begun != nullptr ? *work.begun : HeadMetricsOf{};
  while (result.sequences < texts.sequences) {
    const std::vector<int> tokens = texts.sequence(result.sequences, config.vocab_size, start);
    model::ForwardOptions options;
    options.stop = work.stop;
    const auto pass = transformer.forward(tokens, work.workspace, options);
    add_figures_of({run.model, {}, {}, pass}, work.workspace, result.heads, work.stop);
    ++result.sequences;
    if (result.sequences < texts.sequences)
      work.show(result, static_cast<double>(result.sequences) / texts.sequences);
  }
  return result;
}

}  // namespace headscope::app
