#include "app/run/analyses/head_metric.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace headscope::app {
namespace {

using Number = std::optional<double>;

double weight(const QueryWeights& q, int key) {
  return static_cast<double>(q.weights[key]);
}
int before(const QueryWeights& q, int position) {
  return q.earlier.empty() ? -1 : q.earlier[position];
}

Number weight_on_repeats(const QueryWeights& q) {
  Number sum;
  for (int at = before(q, q.query); at >= 0; at = before(q, at)) sum = sum.value_or(0) + weight(q, at);
  return sum;
}
/// Weight on the tokens after earlier occurrences of the query's token. An occurrence directly before the
/// query does not count: the query itself comes after it.
Number weight_on_followers(const QueryWeights& q) {
  Number sum;
  for (int at = before(q, q.query); at >= 0; at = before(q, at))
    if (at + 1 != q.query) sum = sum.value_or(0) + weight(q, at + 1);
  return sum;
}

constexpr HeadMetricKind kTable[] = {
    {.id = HeadMetric::first,
     .name = "first",
     .heading = "first",
     .label = "First",
     .help = "Weight on the first token",
     .title = "Weight on the first token",
     .phrase = "first token",
     .caption = "heads by weight on token 0",
     .detail = "mean over queries 1 and later",
     .of = [](const QueryWeights& q) { return Number(weight(q, 0)); }},
    {.id = HeadMetric::previous,
     .name = "previous",
     .heading = "previous",
     .label = "Previous",
     .help = "Weight on the token before the query",
     .title = "Weight on the previous token",
     .phrase = "previous token",
     .caption = "previous-token heads",
     .detail = "mean over queries 1 and later",
     .of_text = true,
     .of = [](const QueryWeights& q) { return Number(weight(q, q.query - 1)); }},
    {.id = HeadMetric::self,
     .name = "self",
     .heading = "itself",
     .label = "Itself",
     .help = "Weight on the query's own position",
     .title = "Weight on the query itself",
     .phrase = "the query itself",
     .caption = "heads by weight on the query",
     .detail = "mean over queries 1 and later",
     .of_text = true,
     .of = [](const QueryWeights& q) { return Number(weight(q, q.query)); }},
    {.id = HeadMetric::induction,
     .name = "induction",
     .heading = "induction",
     .label = "Induction",
     .help = "Weight on the token after an earlier occurrence of the query's token",
     .title = "Induction",
     .phrase = "induction",
     .caption = "induction heads",
     .detail = "mean weight on tokens after earlier occurrences of the query's token",
     .lacking = "no token of this prompt recurs after other tokens",
     .of_text = true,
     .of = weight_on_followers},
    {.id = HeadMetric::duplicate,
     .name = "duplicate",
     .heading = "duplicate",
     .label = "Duplicate",
     .help = "Weight on earlier occurrences of the query's token",
     .title = "Duplicate tokens",
     .phrase = "duplicate tokens",
     .caption = "duplicate-token heads",
     .detail = "mean weight on earlier occurrences of the query's token",
     .lacking = "no token of this prompt occurs twice",
     .of_text = true,
     .of = weight_on_repeats},
    {.id = HeadMetric::entropy,
     .name = "entropy",
     .heading = "entropy",
     .label = "Entropy",
     .help = "How widely the weights are spread, in bits",
     .title = "Entropy of the weights",
     .phrase = "entropy",
     .caption = "heads by entropy",
     .detail = "in bits, mean over queries 1 and later",
     .unit = "bits",
     .decimals = 3,
     .of = [](const QueryWeights& q) { return Number(q.entropy); }},
    {.id = HeadMetric::distance,
     .name = "distance",
     .heading = "distance",
     .label = "Distance",
     .help = "How far from the query the head looks, in tokens",
     .title = "Distance",
     .phrase = "distance",
     .caption = "heads by distance",
     .detail = "mean distance between query and key, weighted by attention",
     .unit = "tokens",
     .decimals = 2,
     .of_text = true,
     .of = [](const QueryWeights& q) { return Number(q.distance); }},
    {.id = HeadMetric::sink,
     .name = "sink",
     .heading = "sink",
     .label = "Sink",
     .help = "Share of queries with more than half of their weight on the first token",
     .title = "First-token sink",
     .phrase = "first-token sink",
     .caption = "sink heads",
     .detail = "share of queries with more than half of their weight on the first token",
     .unit = "share",
     .of =
         [](const QueryWeights& q) {
           const double first = weight(q, 0);
           return Number(std::isnan(first) ? first : static_cast<double>(first > 0.5));
         }},
};
static_assert(std::size(kTable) == kHeadMetrics, "every HeadMetric has a row");
static_assert(
    [] {
      for (std::size_t i = 0; i < kHeadMetrics; ++i)
        if (kTable[i].id != static_cast<HeadMetric>(i) || kTable[i].of == nullptr) return false;
      return true;
    }(),
    "the rows stand in the order of HeadMetric, each with its function");

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

}  // namespace

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

std::span<const HeadMetricKind> head_metrics() {
  return kTable;
}

const HeadMetricKind& kind_of(HeadMetric metric) {
  return kTable[static_cast<std::size_t>(metric)];
}

std::optional<HeadMetric> head_metric(std::string_view name) {
  const auto* const found = std::ranges::find(kTable, name, &HeadMetricKind::name);
  if (found == std::end(kTable)) return std::nullopt;
  return found->id;
}

}  // namespace headscope::app
