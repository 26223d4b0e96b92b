#pragma once
#include <array>
#include <vector>

#include "app/run/prompt_list.h"
#include "app/run/question.h"

namespace headscope::app {

/// A head's queries and keys in two dimensions: their first two principal components, taken together, about
/// their common mean.
struct QueryKeySpace {
  int length = 0;                  ///< T
  std::vector<float> coordinates;  ///< [2 T, 2]: the queries by position, then the keys
  std::array<double, 2> shares{};  ///< share of the total variance along each direction
  bool finite = true;              ///< false: a query or key is not finite, and there are no coordinates

  std::array<float, 2> at(bool key, int position) const {
    const int i = 2 * (position + (key ? length : 0));
    return {coordinates[i], coordinates[i + 1]};
  }
  std::size_t bytes() const { return bytes_of(coordinates); }
};

struct QueryKeySpaceOf {
  using Answer = QueryKeySpace;
  static constexpr std::string_view kName = "query-key space";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const QueryKeySpaceOf&) const = default;
  QueryKeySpace compute(const PromptRun& run, const Computation<QueryKeySpace>& computation) const;
};

/// The same for all tokens of a list's prompts, up to a limit.
struct ListQueryKeySpace {
  static constexpr int kMaxTokens = 4000;  ///< more marks than this would cover each other

  struct Place {
    std::size_t prompt = 0;  ///< index in the list
    int position = 0;
    int id = 0;  ///< id of the token
    bool operator==(const Place&) const = default;
  };
  QueryKeySpace space;        ///< its length is that of `places`
  std::vector<Place> places;  ///< the source of each query and key
  std::size_t prompts = 0;    ///< number of the list's first prompts that fit
  ListProgress progress;
  std::vector<float> queries, keys;  ///< [places, d_head]
  std::size_t bytes() const {
    return space.bytes() + bytes_of(places, queries, keys) + progress.problem.size();
  }
};

struct QueryKeySpaceOverList {
  using Answer = ListQueryKeySpace;
  static constexpr std::string_view kName = "query-key space of many prompts";
  static constexpr bool kModelOnly = true;
  OverPrompts over;
  int layer = 0;
  int head = 0;
  bool operator==(const QueryKeySpaceOverList&) const = default;
  /// Parts cover the first prompts.
  ListQueryKeySpace compute(const PromptRun& run, const Computation<ListQueryKeySpace>& computation) const;
};

}  // namespace headscope::app
