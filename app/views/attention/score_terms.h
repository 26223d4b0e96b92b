#pragma once
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/vectors.h"
#include "app/views/view.h"

// The score breakdown of a query and a key: its terms, and the steps from score to weight.
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
  /// The result of softmax; edits may replace it by another weight.
  float softmax() const { return power() * (1 / row->sum); }
  double other_powers() const { return static_cast<double>(row->sum) - static_cast<double>(power()); }
  double cosine() const { return static_cast<double>(score()) / (q_norm * k_norm); }
};

/// The shown numbers of a pair; on the difference side their differences from the pair's counterpart.
struct Numbers {
  ScoreTerms now;
  std::optional<ScoreTerms> before;  ///< on the difference side
  std::vector<float> q, k;           ///< as shown: differences if there is a `before`, like the members below
  std::vector<double> products;      ///< [d_head]
  std::vector<float> of_keys;  ///< the query's exponentials, or the differences of its weights; NaN: none
  /// The parts of the score's difference due to the query and to the key, each times the mean of the other;
  /// they add up to it, except for rounding.
  double through_q = 0, through_k = 0;

  int key() const { return now.key; }
};

/// For the selected key, or else the strongest; on the difference side, the one with the largest difference.
/// None while an answer is missing, and if the query or the chosen key has no counterpart.
std::optional<Numbers> numbers_of(const ViewContext& context);
/// The picture to show while the numbers are not `known`; null if they are.
std::optional<Picture> waiting_for(const ViewContext& context, bool known);
/// Whether no number of the pair differs.
bool unchanged(const Numbers& numbers);

/// Calls visit(name, value) for all scalars, in order; on the difference side with the differences.
template <class Visit>
void visit_quantities(const Numbers& n, const Visit& visit) {
  const auto one = [&](const char* name, const auto& of) {
    visit(name, n.before ? difference(of(n.now), of(*n.before)) : of(n.now));
  };
  one("norm of q", [](const ScoreTerms& t) { return t.q_norm; });
  one("norm of k", [](const ScoreTerms& t) { return t.k_norm; });
  one("cosine", [](const ScoreTerms& t) { return t.cosine(); });
  one("score", [](const ScoreTerms& t) { return t.score(); });
  one("scaled", [](const ScoreTerms& t) { return t.scaled(); });
  if (n.now.edited() || (n.before && n.before->edited()))
    one("masked", [](const ScoreTerms& t) { return t.masked(); });
  one("largest", [](const ScoreTerms& t) { return t.row->largest; });
  one("difference", [](const ScoreTerms& t) { return t.shifted(); });
  one("exponential", [](const ScoreTerms& t) { return t.power(); });
  one("row sum", [](const ScoreTerms& t) { return t.row->sum; });
  one("weight", [](const ScoreTerms& t) { return t.weight(); });
}

/// One step of the score breakdown.
struct Step {
  std::string name;
  std::string brief;       ///< short form of the name, for little room
  std::string expression;  ///< left of the sign; may be empty
  std::string result;
  std::string sign;                ///< between expression and result: equal, rounded, or an arrow
  std::vector<std::string> exact;  ///< lines of the tooltip
  double difference = 0;           ///< the result, if it is a difference; 0: none, or in words
};
std::vector<Step> steps_of(const ViewContext& context, const Numbers& numbers);
/// The number of steps.
int step_count(const ViewContext& context);

}  // namespace headscope::app::score_breakdown
