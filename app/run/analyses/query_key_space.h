#pragma once
#include <array>
#include <vector>

#include "app/run/prompt_list.h"
#include "app/run/question.h"

namespace headscope::app {

/// A head's queries and keys in the plane along whose two directions they lie furthest apart, taken together
/// (principal components); about their common mean.
struct QueryKeySpace {
  int length = 0;                  ///< T
  std::vector<float> coordinates;  ///< [2 T, 2]: the queries by position, then the keys
  std::array<double, 2> shares{};  ///< of the whole variance, along each direction
  bool finite = true;              ///< else there is no plane: a query or key is not finite

  std::array<float, 2> at(bool key, int position) const {
    const int i = 2 * (position + (key ? length : 0));
    return {coordinates[i], coordinates[i + 1]};
  }
  std::size_t bytes() const { return bytes_of(coordinates); }
};

struct PlaneOf {
  using Answer = QueryKeySpace;
  static constexpr std::string_view kWork = "queries and keys in a plane";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const PlaneOf&) const = default;
  QueryKeySpace compute(const PromptRun& run, const Work<QueryKeySpace>& work) const;
};

/// The same of all tokens of a list's prompts, as far as there is room for.
struct ListPlane {
  static constexpr int kMostTokens = 4000;  ///< more marks than these hide each other

  struct Place {
    std::size_t prompt = 0;  ///< index in the list
    int position = 0;
    int id = 0;  ///< of the token
    bool operator==(const Place&) const = default;
  };
  QueryKeySpace plane;        ///< its length is that of `places`
  std::vector<Place> places;  ///< of the queries, and of the keys
  std::size_t prompts = 0;    ///< that there is room for, of the list's first
  ListProgress progress;
  std::vector<float> queries, keys;  ///< [places, d_head]
  std::size_t bytes() const {
    return plane.bytes() + bytes_of(places, queries, keys) + progress.problem.size();
  }
};

struct PlaneOverList {
  using Answer = ListPlane;
  static constexpr std::string_view kWork = "queries and keys of many prompts";
  static constexpr bool kOfModel = true;
  OverPrompts over;
  int layer = 0;
  int head = 0;
  bool operator==(const PlaneOverList&) const = default;
  /// Parts are of the first prompts.
  ListPlane compute(const PromptRun& run, const Work<ListPlane>& work) const;
};

}  // namespace headscope::app
