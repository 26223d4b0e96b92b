#pragma once
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/vectors.h"
#include "app/views/content.h"

// How a query's weight on a key is computed: its terms, and the steps from score to weight.
namespace headscope::app::score_breakdown {

/// All numbers of one query and one of its keys, in one run.
struct ScoreTerms {
  int layer = 0, head = 0, query = 0, key = 0;
  std::vector<float> q, k;            ///< [d_head]
  std::vector<double> products;       ///< exact: the product of two float32 fits into a double
  double positive = 0, negative = 0;  ///< sums of the positive and negative products
  double q_norm = 0, k_norm = 0;
  std::shared_ptr<const SoftmaxRow> row;

  float of_key(const std::vector<float>& values) const { return values[key]; }
  float score() const { return of_key(row->scores); }
  float scaled() const { return of_key(row->scaled); }
  float masked() const { return of_key(row->masked); }
  bool edited() const { return masked() != scaled(); }  ///< or hidden
  float shifted() const { return masked() - row->largest; }
  float power() const { return of_key(row->powers); }
  float weight() const { return of_key(row->weights); }
  double other_powers() const { return double{row->sum} - double{power()}; }
  double cosine() const { return double{score()} / (q_norm * k_norm); }
};

/// The shown numbers of a pair; on the difference side their differences from the pair's counterpart.
struct Breakdown {
  ScoreTerms now;
  std::optional<ScoreTerms> before;  ///< on the difference side
  std::vector<float> q, k;           ///< as shown: differences if there is a `before`, like the members below
  std::vector<double> products;      ///< [d_head]
  /// The parts of the score's difference due to the query and to the key, each times the mean of the other;
  /// they add up to it, except for rounding.
  double through_q = 0, through_k = 0;
};

/// For the selected key, or else the strongest; on the difference side, the one with the largest difference.
/// None while an answer is missing, or without a counterpart of query or chosen key; the content says why.
std::optional<Breakdown> breakdown_of(Content& content);

/// The components; facts are each number from the score to the weight that is not missing on one side.
Table table_of(const ViewContext& context, const Breakdown& breakdown);

/// q, k and their products as strips, and the steps as a list. The content keeps the breakdown.
BoxPtr box_of(Content& content, const Breakdown& breakdown, int strip_role, int step_role);

}  // namespace headscope::app::score_breakdown
