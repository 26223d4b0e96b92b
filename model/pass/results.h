#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "model/kernels/view.h"

/// What Transformer tells of a run.
namespace headscope::model {

/// The four stages of attention, [T, T] row-major each (row: query, column: key).
/// See Vaswani et al. 2017, "Scaled Dot-Product Attention"; GPT-2 masks keys after the query.
struct AttentionStages {
  int length = 0;
  std::vector<float> scores;   ///< q.k for all pairs
  std::vector<float> scaled;   ///< times attention_scale(layer)
  std::vector<float> masked;   ///< -inf above the diagonal, or as edits have it
  std::vector<float> pattern;  ///< softmax of each row, exactly 0 where masked; or as edited
};

/// How one query's weights are computed, step by step, as in the pass: for all keys that the query sees,
/// [query + 1], or [T] if edits let it see later keys. With non-finite values the weights are NaN.
struct AttentionRow {
  std::vector<float> scores;   ///< q.k
  std::vector<float> scaled;   ///< times attention_scale(layer)
  std::vector<float> masked;   ///< the same, or as edited
  int largest_key = 0;         ///< the first key with the largest masked score
  float largest = 0;           ///< the largest masked score, subtracted from all
  std::vector<float> powers;   ///< e^(masked - largest)
  float sum = 0;               ///< sum of the powers, in the pass's order
  std::vector<float> weights;  ///< powers times 1 / sum, or as edited
};

/// How a layer's heads are combined at one position, as the pass computed it.
struct AttentionOutput {
  std::vector<float> z;        ///< [n_head, d_head]: each head's sum of weight times value
  std::vector<float> results;  ///< [n_head, d_model]: each head's z times its rows of c_proj.weight
  std::vector<float> out;  ///< [d_model]: all of z times c_proj.weight, plus bias; equal to the sum of the
                           ///< results and the bias, except for float32 rounding
};

/// A head of a layer.
struct HeadIndex {
  int layer = 0;
  int head = 0;
  bool operator==(const HeadIndex&) const = default;
};

/// May be called by several threads at once, but always by the same thread for one index.
using PatternVisitor = std::function<void(std::size_t index, int first_query, ConstFloatRows rows)>;

/// A guess at the next token.
struct Guess {
  int id = 0;
  float logit = 0;
  double probability = 0;  ///< over the whole vocabulary, at temperature 1
};

/// The model's prediction of the token after one position.
struct PositionStatistics {
  double log_sum_exp = 0;  ///< log-sum-exp of the position's logits, natural logarithm; NaN if a logit is NaN
  float next_logit = 0;    ///< logit of the token that follows in the run; NaN at the last position
  double next_probability =
      0;                   ///< probability of the token that follows in the run; NaN at the last position
  int next_rank = -1;      ///< 0: the first guess; -1 at the last position, or if a logit is NaN
  std::vector<Guess> top;  ///< the most probable, best first; ties by the smaller id; NaN last
};

/// The prediction of a row of the residual stream, as if it were the end of the stream.
struct LensReading {
  PositionStatistics guesses;  ///< next_* belong to the target
  double divergence = 0;  ///< KL(end || this), in nats, from the distribution at the end of the stream; 0 for
                          ///< the end itself; NaN if a logit of either is NaN
};

/// Receives a variant's logits, [positions, vocab_size], valid during the call.
using VariantVisitor = std::function<void(std::size_t index, ConstFloatRows logits)>;

}  // namespace headscope::model
