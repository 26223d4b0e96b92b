#pragma once
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/prompt_list.h"
#include "app/run/question.h"

// Search for the largest attention weights between chosen tokens, over any number of prompts.
namespace headscope::app {

/// A condition on tokens.
struct TokenSelector {
  enum class Kind { any, text, position, from_end, before_query };
  Kind kind = Kind::any;
  std::string text;  ///< Kind::text: the token's bytes, with or without a leading space
  int number = 0;  ///< position: from 0; from_end: 1 is the last; before_query: 1 is the token before it (for
                   ///< keys only)

  bool matches(std::string_view bytes, int position, int length, int query) const;
  bool operator==(const TokenSelector&) const = default;
};

struct FoundWeight {
  int prompt = 1;  ///< from 1
  int layer = 0, head = 0, query = 0, key = 0;
  int query_id = 0, key_id = 0;  ///< ids of the tokens
  float weight = 0;
  bool operator==(const FoundWeight&) const = default;
};

/// The largest weights found, and how many there were. The result does not depend on the order of insertion:
/// ties go to the first prompt, layer, head, query and key.
class BestWeights {
 public:
  explicit BestWeights(std::size_t most) : most_(most) {}
  void add(const FoundWeight& found);
  void add(const BestWeights& others);
  BestWeights none() const { return BestWeights(most_); }  ///< an empty list with the same limit
  std::int64_t count() const { return count_; }
  std::vector<FoundWeight> best() const;  ///< best first

 private:
  void keep(const FoundWeight& found);
  std::size_t most_;
  std::int64_t count_ = 0;
  std::vector<FoundWeight> heap_;  // the smallest kept weight is in front
};

struct WeightSearch {
  /// A query and a key, as positions.
  struct Cell {
    int query = 0, key = 0;
    bool operator==(const Cell&) const = default;
  };
  TokenSelector from, to;               ///< queries, keys
  double above = 0;                     ///< weights larger than this
  std::vector<model::HeadIndex> heads;  ///< none: all
  /// Used instead of tokens: the attention of these cells' queries to the cells, as the mean over queries of
  /// each query's sum of weights. The match is reported at the last query, at its largest weight in the
  /// shape. Cells must be unique.
  std::vector<Cell> shape = {};
  bool moves = true;  ///< the shape may move along the diagonal to the best place for each head

  bool operator==(const WeightSearch& other) const;
};

/// Adds the matches in a run. Query 0 is skipped, since it can only look at itself; so are shapes that do not
/// fit into the pattern. Throws model::RunError for a head that the model does not have, or model::Stopped,
/// which leaves `best` unchanged.
void search_weights(const PromptRun& run, const WeightSearch& search, int prompt, model::Workspace& workspace,
                    BestWeights& best, std::stop_token stop = {});

/// The largest matches.
struct FoundWeights {
  std::vector<FoundWeight> best;      ///< best first
  std::vector<std::string> excerpts;  ///< for each: labels of the tokens up to its query
  std::int64_t count = 0;             ///< total number of matches
  ListProgress progress;              ///< progress of a list
  std::size_t bytes() const {
    std::size_t sum = bytes_of(best) + progress.problem.size();
    for (const std::string& excerpt : excerpts) sum += sizeof excerpt + excerpt.size();
    return sum;
  }
};

struct WeightsOfRun {
  static constexpr std::size_t kMax = 200;  ///< how many are kept
  using Answer = FoundWeights;
  static constexpr std::string_view kName = "weight search";
  WeightSearch search;
  bool operator==(const WeightsOfRun&) const = default;
  FoundWeights compute(const PromptRun& run, const Computation<FoundWeights>& computation) const;
};

struct WeightsOverList {
  using Answer = FoundWeights;
  static constexpr std::string_view kName = "weight search over many prompts";
  static constexpr bool kModelOnly = true;
  OverPrompts over;
  WeightSearch search;
  bool operator==(const WeightsOverList&) const = default;
  /// Parts cover the first prompts.
  FoundWeights compute(const PromptRun& run, const Computation<FoundWeights>& computation) const;
};

}  // namespace headscope::app
