#include "app/run/analyses/heads.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "app/run/analyses/over_prompts.h"
#include "app/run/analyses/patterns.h"
#include "model/files/error.h"
#include "model/pass/plan.h"
#include "model/tokens/sampling.h"

namespace headscope::app {
namespace {

using Number = std::optional<double>;

double weight(const QueryWeights& q, int key) {
  return static_cast<double>(q.weights[key]);
}

/// Weight on the tokens so far after earlier occurrences of the query's token, but not on the query itself.
template <int kAfter>
Number weight_on_repeats(const QueryWeights& q) {
  Number sum;
  for (int at = q.earlier[q.query]; at >= 0; at = q.earlier[at])
    if (at + kAfter != q.query) sum = sum.value_or(0) + weight(q, at + kAfter);
  return sum;
}

constexpr HeadMetricKind kTable[] = {
    {.id = HeadMetric::first,
     .name = "first",
     .label = "First",
     .help = "Weight on the first token",
     .title = "Mean weight on the first token",
     .phrase = "first token",
     .of = [](const QueryWeights& q) { return Number(weight(q, 0)); }},
    {.id = HeadMetric::previous,
     .name = "previous",
     .label = "Previous",
     .help = "Weight on the token before the query",
     .title = "Mean weight on the previous token",
     .phrase = "previous token",
     .of_text = true,
     .of = [](const QueryWeights& q) { return Number(weight(q, q.query - 1)); }},
    {.id = HeadMetric::self,
     .name = "self",
     .label = "Itself",
     .help = "Weight on the query's own position",
     .title = "Mean weight on the query itself",
     .phrase = "the query itself",
     .of_text = true,
     .of = [](const QueryWeights& q) { return Number(weight(q, q.query)); }},
    {.id = HeadMetric::induction,
     .name = "induction",
     .label = "Induction",
     .help = "Weight on the token after an earlier occurrence of the query's token",
     .title = "Induction",
     .phrase = "induction",
     .detail = "mean weight on tokens after earlier occurrences of the query's token",
     .lacking = "no token of this prompt recurs after other tokens",
     .of_text = true,
     .of = weight_on_repeats<1>},
    {.id = HeadMetric::duplicate,
     .name = "duplicate",
     .label = "Duplicate",
     .help = "Weight on earlier occurrences of the query's token",
     .title = "Duplicate tokens",
     .phrase = "duplicate tokens",
     .detail = "mean weight on earlier occurrences of the query's token",
     .lacking = "no token of this prompt occurs twice",
     .of_text = true,
     .of = weight_on_repeats<0>},
    {.id = HeadMetric::entropy,
     .name = "entropy",
     .label = "Entropy",
     .help = "How widely the weights are spread, in bits",
     .title = "Entropy of the weights",
     .phrase = "entropy",
     .detail = "in bits, mean over queries 1 and later",
     .unit = "bits",
     .decimals = 3,
     .of = [](const QueryWeights& q) { return Number(q.entropy); }},
    {.id = HeadMetric::distance,
     .name = "distance",
     .label = "Distance",
     .help = "How far from the query the head looks, in tokens",
     .title = "Distance",
     .phrase = "distance",
     .detail = "mean distance between query and key, weighted by attention",
     .unit = "tokens",
     .decimals = 2,
     .of_text = true,
     .of = [](const QueryWeights& q) { return Number(q.distance); }},
    {.id = HeadMetric::sink,
     .name = "sink",
     .label = "Sink",
     .help = "Share of queries with more than half of their weight on the first token",
     .title = "First-token sink",
     .phrase = "first-token sink",
     .detail = "share of queries with more than half of their weight on the first token",
     .unit = "share",
     .of =
         [](const QueryWeights& q) {
           const double first = weight(q, 0);
           return Number(std::isnan(first) ? first : static_cast<double>(first > 0.5));
         }},
};
static_assert(std::size(kTable) == kHeadMetrics, "every HeadMetric has a row");

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

/// The weight of larger magnitude; NaN wins, so that it is visible.
float stronger(float a, float b) {
  return std::abs(b) <= std::abs(a) || std::isnan(a) ? a : b;
}

/// Adds some rows of a head's pattern to its metrics. `earlier`: earlier_occurrences of the run's tokens.
void add_rows(HeadMetrics& metrics, const PromptRun& run, model::HeadIndex head, int first_query,
              model::ConstFloatRows rows, std::span<const int> earlier) {
  const bool own_keys = has_own_keys(run);
  for (int i = first_query == 0 ? 1 : 0; i < rows.rows; ++i) {
    const int query = first_query + i;
    metrics.add(query, rows.row(i).first(end_of_keys(run, head, query)), earlier, own_keys);
  }
}

/// A query's weights with their entropy and mean distance.
QueryWeights query_weights(int query, std::span<const float> weights, std::span<const int> earlier) {
  QueryWeights of{query, weights, earlier};
  const float* row = weights.data();
  const int n = static_cast<int>(weights.size());
  constexpr int kLanes = 16;
  std::array<float, kLanes> entropy{}, distance{};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float w = row[i + lane];
      entropy[lane] -= w * fast_log2(w);
      distance[lane] += w * static_cast<float>(std::abs(query - i - lane));
    }
  }
  for (; i < n; ++i) {
    of.entropy -= static_cast<double>(row[i] * fast_log2(row[i]));
    of.distance += static_cast<double>(row[i] * static_cast<float>(std::abs(query - i)));
  }
  for (const float part : entropy) of.entropy += static_cast<double>(part);
  for (const float part : distance) of.distance += static_cast<double>(part);
  return of;
}

/// Goes on with an answer: `make` makes the thumbnails of the next heads, a few at a time.
template <class Make>
Thumbnails go_on(Thumbnails result, const PromptRun& run, const Computation<Thumbnails>& computation,
                 int heads_at_once, const Make& make) {
  const std::vector<model::HeadIndex> all = all_heads(run.run->config);
  const auto count = static_cast<int>(all.size());
  result.of_head.resize(all.size());
  while (result.done < count) {
    computation.poll();
    const auto heads = std::span(all).subspan(result.done, std::min(heads_at_once, count - result.done));
    for (Thumbnail& made : make(heads))
      result.of_head[result.done++] = std::make_shared<const Thumbnail>(std::move(made));
    if (result.done < count) computation.show(result, static_cast<double>(result.done) / count);
  }
  return result;
}

}  // namespace

std::span<const HeadMetricKind> head_metrics() {
  return kTable;
}

const HeadMetricKind& kind_of(HeadMetric metric) {
  return *std::ranges::find(kTable, metric, &HeadMetricKind::id);
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
    sums_[i] += std::isfinite(*number) ? *number : NAN;
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
  return queries_[i] > 0 ? sums_[i] / static_cast<double>(queries_[i]) : NAN;
}

HeadMetrics HeadMetrics::minus(const HeadMetrics& before) const {
  HeadMetrics difference;
  for (const HeadMetricKind& metric : head_metrics()) {
    const auto i = static_cast<std::size_t>(metric.id);
    difference.sums_[i] =
        static_cast<double>(static_cast<float>((*this)[metric.id]) - static_cast<float>(before[metric.id]));
    difference.queries_[i] = 1;
  }
  difference.left_out_ = std::max(left_out_, before.left_out_);
  return difference;
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

std::optional<HeadMetricsOf> HeadMetricsOf::minus(const HeadMetricsOf& before, const PromptRun&) const {
  if (progress.done != before.progress.done) return std::nullopt;
  HeadMetricsOf result = *this;
  for (std::size_t i = 0; i < heads.size(); ++i)
    result.heads[i] = heads[i].minus(i < before.heads.size() ? before.heads[i] : HeadMetrics());
  return result;
}

HeadMetricsOf MetricsOnList::compute(const PromptRun& run,
                                     const Computation<HeadMetricsOf>& computation) const {
  const std::vector<model::HeadIndex> all = all_heads(run.run->config);
  return over_prompts(over, run, computation, [&](const PromptRun& one, std::size_t, HeadMetricsOf& answer) {
    const std::vector<int> earlier = earlier_occurrences(one.run->tokens);
    std::vector<HeadMetrics> heads(all.size());
    patterns_of(one, all, computation, [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
      add_rows(heads[index], one, all[index], first_query, rows, earlier);
    });
    answer.heads.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) answer.heads[i] += heads[i];
  });
}

HeadMetricsOf MetricsOnRepeated::compute(const PromptRun& run,
                                         const Computation<HeadMetricsOf>& computation) const {
  const model::Config& config = run.model->transformer->config();
  const int longest = RepeatedTokens::longest(config.n_ctx);
  if (texts.length < 1 || texts.length > longest)
    throw model::RunError(run.model->name + " takes " + std::to_string(config.n_ctx) + " tokens (n_ctx): " +
                          (longest < 1 ? "too few to repeat one"
                                       : "room for the start token and twice " + std::to_string(longest) +
                                             " at most, not twice " + std::to_string(texts.length)));
  const std::optional<int> start = start_token_of(*run.model);
  const auto list = std::make_shared<PromptList>();
  for (int i = 0; i < texts.sequences; ++i)
    list->prompts.push_back({{.text = "", .ids = texts.sequence(i, config.vocab_size, start)}});
  return MetricsOnList{{list}}.compute(run, computation);
}

ThumbnailMaker::ThumbnailMaker(int length, int keys) : length_(length), keys_(keys) {
  thumbnail_.rows = std::min(length, Thumbnail::kMax);
  thumbnail_.cols = std::min(keys, Thumbnail::kMax);
  thumbnail_.values.assign(std::ptrdiff_t{thumbnail_.rows} * thumbnail_.cols, 0.F);
  thumbnail_.first_column_without_key0.assign(thumbnail_.rows, 0.F);
}

void ThumbnailMaker::add(int first_query, model::ConstFloatRows rows, std::span<const std::uint8_t> masked,
                         bool later) {
  Thumbnail& t = thumbnail_;
  if (!masked.empty() && t.masked.empty()) t.masked.assign(t.values.size(), 1);
  const auto cell_of = [](int position, int all, int cells) {
    return static_cast<int>(std::int64_t{position} * cells / all);
  };
  for (int i = 0; i < rows.rows; ++i) {
    const int query = first_query + i, keys = later ? keys_ : query + 1;
    const float* row = rows.row_data(i);
    const int out_row = cell_of(query, length_, t.rows);
    float* out = t.values.data() + std::ptrdiff_t{out_row} * t.cols;
    for (int key = 0; !masked.empty() && key < keys_; ++key)
      if (masked[i * keys_ + key] == 0) t.masked[out_row * t.cols + cell_of(key, keys_, t.cols)] = 0;
    if (t.cols == keys_) {  // a column a key
      for (int key = 0; key < keys; ++key) out[key] = stronger(out[key], row[key]);
      continue;
    }
    float& other = t.first_column_without_key0[out_row];
    for (int col = 0, key = 1; key < keys; ++col) {
      // This column's keys end where the next column's begin.
      const auto next = static_cast<int>((std::int64_t{col + 1} * keys_ + t.cols - 1) / t.cols);
      float& cell = col == 0 ? other : out[col];
      float most = cell;
      for (const int end = std::min(next, keys); key < end; ++key) most = stronger(most, row[key]);
      cell = most;
    }
    out[0] = stronger(out[0], stronger(other, row[0]));
  }
}

Thumbnail ThumbnailMaker::finish(const HeadMetrics& metrics) && {
  thumbnail_.metrics = metrics;
  const int rows = thumbnail_.rows, cols = thumbnail_.cols;
  const auto range = [&](int without_column) {
    return viz::value_range(viz::Matrix::row_major(thumbnail_.values, rows, cols),
                            {thumbnail_.masked.empty(), without_column});
  };
  thumbnail_.range = range(-1);
  if (keys_ <= Thumbnail::kMax) {
    thumbnail_.first_column_without_key0.clear();
    thumbnail_.range_without_key0 = range(cols > 1 ? 0 : -1);
  } else {
    const viz::ValueRange column =
        viz::value_range(viz::Matrix::row_major(thumbnail_.first_column_without_key0, rows, 1));
    thumbnail_.range_without_key0 = viz::united(range(0), column);
  }
  return std::move(thumbnail_);
}

std::size_t Thumbnails::bytes() const {
  std::size_t sum = bytes_of(of_head);
  for (const auto& made : of_head)
    if (made)
      sum += sizeof(Thumbnail) + bytes_of(made->masked, made->values, made->first_column_without_key0);
  return sum;
}

Thumbnails ThumbnailsOfHeads::compute(const PromptRun& run,
                                      const Computation<Thumbnails>& computation) const {
  constexpr int kHeadsPerThread = 2;  // made between two checks for newer work
  Thumbnails begun;
  if (computation.partial != nullptr)
    begun = *computation.partial;
  else if (computation.previous != nullptr)
    begun.of_head = computation.previous->of_head;
  const std::vector<int> earlier = earlier_occurrences(run.run->tokens);
  const auto make = [&](std::span<const model::HeadIndex> heads) {
    std::vector<ThumbnailMaker> makers(heads.size(), ThumbnailMaker(run.run->length(), key_count(run)));
    std::vector<HeadMetrics> metrics(heads.size());
    patterns_of(run, heads, computation, [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
      makers[index].add(first_query, rows, masked_cells(run, heads[index], first_query, rows),
                        sees_later(run, heads[index]));
      add_rows(metrics[index], run, heads[index], first_query, rows, earlier);
    });
    std::vector<Thumbnail> made;
    for (std::size_t i = 0; i < heads.size(); ++i) made.push_back(std::move(makers[i]).finish(metrics[i]));
    return made;
  };
  return go_on(std::move(begun), run, computation, kHeadsPerThread * computation.workspace.threads(), make);
}

Thumbnails ThumbnailsOfHeads::compute_difference(const PromptRun& run, const PromptRun& baseline,
                                                 const Computation<Thumbnails>& computation) const {
  const std::vector<int> earlier = earlier_occurrences(run.run->tokens),
                         earlier_there = earlier_occurrences(baseline.run->tokens);
  const auto make = [&](std::span<const model::HeadIndex> heads) {
    const model::HeadIndex head = heads.front();
    const PatternOf question{head.layer, head.head};
    const Computation<Pattern> of_patterns{computation};
    const Pattern after = question.compute(run, of_patterns),
                  before = question.compute(baseline, of_patterns), difference = after.minus(before, run);
    ThumbnailMaker maker(difference.length, difference.keys());
    maker.add(0, model::rows_of(difference.values, difference.keys()), difference.masked.cells,
              !difference.masked.causal());
    HeadMetrics metrics, metrics_there;
    add_rows(metrics, run, head, 0, model::rows_of(after.values, after.keys()), earlier);
    add_rows(metrics_there, baseline, head, 0, model::rows_of(before.values, before.keys()), earlier_there);
    return std::vector{std::move(maker).finish(metrics.minus(metrics_there))};
  };
  return go_on(computation.partial != nullptr ? *computation.partial : Thumbnails(), run, computation, 1,
               make);
}

}  // namespace headscope::app
