#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "app/run/analyses/head_metric.h"
#include "app/run/prompt_list.h"
#include "app/run/question.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

// What heads do with a text, in numbers: means over queries, which can be taken over many texts.
namespace headscope::app {

/// The mean of numbers that comes out the same, to the bit, in whatever order they were added and however
/// they were cut into parts: each is rounded once to a whole number of small units, and whole numbers add up
/// exactly. What adds must agree on the unit.
struct ExactMean {
  /// More numbers than this could leave the range of `units`.
  static constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;

  std::int64_t units = 0;  ///< the sum
  std::int64_t count = 0;  ///< numbers that were added
  std::int64_t lost = 0;   ///< of them: not finite, or too large for the unit

  /// `bits`: the unit is 2^-bits. Numbers to 2^(37 - bits) have room.
  void add(double number, int bits);
  /// Throws model::RunError for more numbers than kMostNumbers.
  ExactMean& operator+=(const ExactMean& other);
  /// NaN where there are none, and where one is lost.
  double mean(int bits) const;
  bool operator==(const ExactMean&) const = default;
};

/// For each position the last one before it with the same token; -1: there is none.
std::vector<int> earlier_occurrences(std::span<const int> tokens);

/// All metrics of a head: of one run, or the difference of two. NaN where no query counts.
struct HeadMetricValues {
  std::array<double, kHeadMetrics> all{};
  double operator[](HeadMetric metric) const { return all[static_cast<std::size_t>(metric)]; }
};

/// After minus before, of float32: as pictures show it.
HeadMetricValues difference_of(const HeadMetricValues& after, const HeadMetricValues& before);

/// What one head does at queries of any number of texts. Sums of parts are those of the whole, to the bit.
/// The first query of a text, which sees nothing but itself, is no part of any metric.
class HeadMetrics {
 public:
  /// The weights of a text's query, query >= 1: [query + 1], or [T] where it may see later keys. `earlier`:
  /// earlier_occurrences of the text; empty: no token occurs twice. Where keys are not the text's own tokens,
  /// there are [K] weights, and no metrics that relate the query to its text.
  void add(int query, std::span<const float> weights, std::span<const int> earlier, bool own_keys = true);
  /// Throws model::RunError where there are more queries than can be added up.
  HeadMetrics& operator+=(const HeadMetrics& other);

  /// NaN where no query counts.
  double operator[](HeadMetric metric) const;
  HeadMetricValues values() const;
  const ExactMean& sum(HeadMetric metric) const { return sums_[static_cast<std::size_t>(metric)]; }
  ExactMean& sum(HeadMetric metric) { return sums_[static_cast<std::size_t>(metric)]; }
  bool operator==(const HeadMetrics&) const = default;

 private:
  std::array<ExactMean, kHeadMetrics> sums_{};
};

/// Adds what all heads do in a run to `heads`, [n_layer * n_head]: layer * n_head + head. Throws
/// model::RunError, or model::Stopped with `heads` as they were.
void add_figures_of(const PromptRun& run, model::Workspace& workspace, std::vector<HeadMetrics>& heads,
                    std::stop_token stop = {});

/// Random tokens, and the same ones again: what came after a token the first time comes after it the second,
/// and nothing else can be known of the text (Olsson et al. 2022, "In-context learning and induction heads").
struct RepeatedTokens {
  static constexpr int kUsualLength = 50;  ///< tokens that are repeated, where the context has room
  static constexpr int kUsualSequences = 8;

  int length = kUsualLength;
  int sequences = kUsualSequences;
  std::uint64_t seed = 0;
  bool operator==(const RepeatedTokens&) const = default;

  /// The longest that a context has room for.
  static int longest(int n_ctx) { return (n_ctx - 1) / 2; }
  /// The default ones, as far as the context goes.
  static RepeatedTokens usual(int n_ctx);

  /// One of the sequences, which depends on nothing but its number and the seed: [1 + 2 length], the start
  /// token first where there is one. The others are drawn from all ids below `vocabulary` but it.
  std::vector<int> sequence(int number, int vocabulary, std::optional<int> start_token) const;
};

/// Of all heads, over a number of sequences or prompts. Parts can be subtracted where they are of the same
/// texts.
struct HeadMetricsOf {
  std::vector<HeadMetricValues> heads;  ///< layer * n_head + head
  std::vector<HeadMetrics> sums;        ///< likewise, to add more texts to; empty: a difference
  int sequences = 0;                    ///< of random tokens
  ListProgress progress;                ///< of a list
  std::size_t bytes() const { return bytes_of(heads, sums) + progress.problem.size(); }
};
std::optional<HeadMetricsOf> difference_of(const HeadMetricsOf& after, const HeadMetricsOf& before);

/// What the model's heads do with the prompts of a list, whatever the prompt.
struct MetricsOnList {
  using Answer = HeadMetricsOf;
  static constexpr bool kOfModel = true;
  static constexpr std::string_view kWork = "heads over many prompts";
  OverPrompts over;
  bool operator==(const MetricsOnList&) const = default;
  /// Parts are of the first prompts.
  HeadMetricsOf compute(const PromptRun& run, const Work<HeadMetricsOf>& work) const;
  std::optional<HeadMetricsOf> difference(const HeadMetricsOf& after, const HeadMetricsOf& before,
                                          const PromptRun&) const {
    return difference_of(after, before);
  }
};

/// What the model's heads do with repeated random tokens, whatever the prompt.
struct MetricsOnRepeated {
  using Answer = HeadMetricsOf;
  static constexpr bool kOfModel = true;
  static constexpr std::string_view kWork = "heads on repeated tokens";
  RepeatedTokens texts;
  bool operator==(const MetricsOnRepeated&) const = default;
  /// Parts are of the first sequences. Throws RunError for sequences that the context has no room for.
  HeadMetricsOf compute(const PromptRun& run, const Work<HeadMetricsOf>& work) const;
  std::optional<HeadMetricsOf> difference(const HeadMetricsOf& after, const HeadMetricsOf& before,
                                          const PromptRun&) const {
    return difference_of(after, before);
  }
};

}  // namespace headscope::app
