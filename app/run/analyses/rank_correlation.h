#pragma once
#include <span>

namespace headscope::app {

/// Spearman's rank correlation of two lists of equal length: the correlation of their ranks, in [-1, 1].
/// Equal values share the mean of their ranks. Pairs with a value that is not finite are left out. NaN with
/// fewer than two pairs, and if all values of a list are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace headscope::app
