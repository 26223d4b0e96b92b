#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "app/run/analyses/stream_parts.h"

// Where a score comes from: the score of a query and a key in one head, taken apart by what wrote the
// residual streams that q and k are read from.
//
// The stream at a position is a sum of parts: the embeddings, and what each earlier head, bias and MLP wrote.
// With the scale s of ln_1 at the position held fixed, q is a sum of theirs, too (Elhage et al. 2021):
//
//     q = sum over parts p of ((p - mean(p)) / s * gain) W_Q  +  ln_1's bias W_Q  +  W_Q's own bias
//
// The gain multiplies every part; the two biases are parts of their own, the same for every position, and
// each part has its own mean subtracted, which takes the mean of the whole stream. Likewise k. So the scaled
// score, q . k times attention_scale, is the sum of the products of all parts of q with all parts of k, but
// for float32 rounding.
namespace headscope::app {

struct ScoreSources {
  double score = 0;        ///< scaled, as the model computed it, before the mask and edits of scores
  double query_scale = 1;  ///< divisor of ln_1 at the query: sqrt(variance + epsilon), or as edited
  double key_scale = 1;    ///< at the key
  /// In the order of the pass. The last one is what edits added outside the parts, to the stream, to the
  /// normalized stream, or to q and k; only if there are such edits.
  std::vector<StreamSource> sources;
  std::vector<double> products;  ///< [sources, sources], row: part of q, column: part of k; scaled

  static constexpr int kAll = -1;  ///< in place of a part's number
  int count() const { return static_cast<int>(sources.size()); }
  /// The product of a part of q with a part of k, or of all parts of either.
  double product(int of_query, int of_key) const {
    double sum = 0;
    for (int q = std::max(0, of_query); q < (of_query == kAll ? count() : of_query + 1); ++q)
      for (int k = std::max(0, of_key); k < (of_key == kAll ? count() : of_key + 1); ++k)
        sum += products[std::ptrdiff_t{q} * count() + k];
    return sum;
  }
  double sum() const { return product(kAll, kAll); }
  /// The score minus the sum, which is the error of float32 rounding.
  double rounding_error() const { return score - sum(); }
  bool edited() const { return !sources.empty() && sources.back().kind == StreamSource::Kind::edits; }
  std::size_t bytes() const { return bytes_of(sources, products); }
};

struct ScoreSourcesOf {
  static constexpr std::string_view kName = "sources of a score";
  int layer = 0;
  int head = 0;
  int query = 0;
  int key = 0;
  bool operator==(const ScoreSourcesOf&) const = default;
  /// Throws RunError for a place that the run does not have, or Stopped.
  ScoreSources compute(const PromptRun& run, const Computation<ScoreSources>& computation) const;
  /// Pair by pair, from the counterparts of query and key in the baseline, each side with its own scales of
  /// ln_1. Throws RunError without a counterpart.
  ScoreSources compute_difference(const PromptRun& run, const PromptRun& baseline,
                                  const Computation<ScoreSources>& computation) const;
};

}  // namespace headscope::app
