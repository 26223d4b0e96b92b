#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/analyses/softmax_row.h"
#include "app/run/analyses/vectors.h"
#include "app/views/view.h"

// The arithmetic of a query and a key: its numbers, and the lines in which they stand.
namespace headscope::app::cell {

/// All numbers of one query and one of its keys, in one run.
struct Cell {
  int layer = 0, head = 0, query = 0, key = 0;
  std::vector<float> q, k;            ///< [d_head]
  std::vector<double> products;       ///< exact: two float32 have a product that double holds
  double positive = 0, negative = 0;  ///< sums of those above and below zero
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
  /// What softmax gives; edits may put another weight in its place.
  float softmax() const { return power() * (1 / row->sum); }
  double other_powers() const { return static_cast<double>(row->sum) - static_cast<double>(power()); }
  double cosine() const { return static_cast<double>(score()) / (q_norm * k_norm); }
};

/// What is shown of a pair: its numbers, or on the difference side their difference from the pair that
/// stands for it.
struct Numbers {
  Cell now;
  std::optional<Cell> before;    ///< on the difference side
  std::vector<float> q, k;       ///< as shown: differences where there is a `before`, as those below
  std::vector<double> products;  ///< [d_head]
  std::vector<float> of_keys;    ///< the query's exponentials, or the differences of its weights; NaN: none
  /// The parts of the score's difference that come from the query's and the key's, each times the mean of the
  /// other; they add up to it, but for rounding.
  double through_q = 0, through_k = 0;

  int key() const { return now.key; }
};

/// For the selected key, or else the strongest: of differences, the largest. None while an
/// answer is missing, and where nothing stands for the query or for the chosen key.
std::optional<Numbers> numbers_of(const ViewContext& context);
/// Why there is no picture of them; null where they are `known`.
std::optional<Picture> waiting_for(const ViewContext& context, bool known);
/// Whether no number of the pair differs.
bool unchanged(const Numbers& numbers);

/// Calls visit(name, value) for all but vectors, in their order; on the difference side with the difference.
template <class Visit>
void visit_quantities(const Numbers& n, const Visit& visit) {
  const auto one = [&](const char* name, const auto& of) {
    visit(name, n.before ? difference(of(n.now), of(*n.before)) : of(n.now));
  };
  one("norm of q", [](const Cell& c) { return c.q_norm; });
  one("norm of k", [](const Cell& c) { return c.k_norm; });
  one("cosine", [](const Cell& c) { return c.cosine(); });
  one("score", [](const Cell& c) { return c.score(); });
  one("scaled", [](const Cell& c) { return c.scaled(); });
  if (n.now.edited() || (n.before && n.before->edited()))
    one("masked", [](const Cell& c) { return c.masked(); });
  one("largest", [](const Cell& c) { return c.row->largest; });
  one("difference", [](const Cell& c) { return c.shifted(); });
  one("exponential", [](const Cell& c) { return c.power(); });
  one("row sum", [](const Cell& c) { return c.row->sum; });
  one("weight", [](const Cell& c) { return c.weight(); });
}

/// One line of the arithmetic.
struct Step {
  std::string name;
  std::string brief;       ///< of the name, where the rest has no room
  std::string expression;  ///< left of the sign; may be empty
  std::string result;
  std::string sign;                ///< between them: exact, rounded here, or in words
  std::vector<std::string> exact;  ///< lines under the mouse
  double change = 0;               ///< the result if it is a difference; 0: none, or in words
};
std::vector<Step> steps_of(const ViewContext& context, const Numbers& numbers);
/// The number of steps.
int step_count(const ViewContext& context);

}  // namespace headscope::app::cell
