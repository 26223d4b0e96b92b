#pragma once
#include <array>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// A head's queries and keys in the plane along whose two directions they lie furthest apart, taken together
/// (principal components); about their common mean.
struct QueryKeyPlane {
  int length = 0;                  ///< T
  std::vector<float> coordinates;  ///< [2 T, 2]: the queries by position, then the keys
  std::array<double, 2> shares{};  ///< of the whole variance, along each direction
  bool finite = true;              ///< else there is no plane: a query or key is not finite

  std::array<float, 2> at(bool key, int position) const {
    const auto i = 2 * static_cast<std::size_t>(position + (key ? length : 0));
    return {coordinates[i], coordinates[i + 1]};
  }
  std::size_t bytes() const { return coordinates.size() * sizeof(float); }
};

struct PlaneOf {
  using Answer = QueryKeyPlane;
  static constexpr std::string_view kWork = "queries and keys in a plane";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const PlaneOf&) const = default;
  QueryKeyPlane compute(const PromptRun& run, const Work<QueryKeyPlane>& work) const;
};

}  // namespace headscope::app
