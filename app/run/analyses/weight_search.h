#pragma once
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/analyses/best_found.h"
#include "app/run/prompt_list.h"
#include "app/run/question.h"

// Search for the largest attention weights between chosen tokens, over any number of prompts.
namespace headscope::app {

/// A condition on tokens.
struct TokenSelector {
  enum class Kind { any, text, position, from_position, from_end, before_query };
  Kind kind = Kind::any;
  std::string text;  ///< Kind::text: the token's bytes, with or without a leading space
  int number = 0;  ///< position: from 0; from_position: that one and all later ones; from_end: 1 is the last;
                   ///< before_query: 1 is the token before it (for keys only)

  bool matches(std::string_view bytes, int position, int length, int query) const;
  bool operator==(const TokenSelector&) const = default;
};

/// Whether a selector means a token of a run; those of attention files have labels, but no bytes.
bool is_token_of(const TokenSelector& selector, const PromptRun& run, const PromptTokens& tokens,
                 int position, int query);

struct FoundWeight {
  int prompt = 1;  ///< from 1
  int layer = 0, head = 0, query = 0, key = 0;
  int query_id = 0, key_id = 0;  ///< ids of the tokens
  float weight = 0;
  bool operator==(const FoundWeight&) const = default;
};

/// The larger one; ties: the earlier prompt, layer, head, query and key.
bool is_better(const FoundWeight& a, const FoundWeight& b);
using BestWeights = BestFound<FoundWeight>;

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
  std::vector<FoundWeight> best;  ///< best first
  std::vector<Excerpt> excerpts;  ///< for each: the tokens around its query, with the query's weight on each
  std::int64_t count = 0;         ///< total number of matches
  ListProgress progress;          ///< progress of a list
  std::size_t bytes() const {
    std::size_t sum = bytes_of(best) + progress.problem.size();
    for (const Excerpt& excerpt : excerpts) sum += excerpt.bytes();
    return sum;
  }
};

/// The tokens up to the query: what it can attend to.
inline constexpr ExcerptSize kUpToQuery{13, 0};

/// Adds what was found in a run to the `most` that are kept. The excerpts of an attention file, which has no
/// activations to take a query's weights from, have no numbers.
void join_weights(FoundWeights& all, const BestWeights& found, const PromptRun& run, int prompt,
                  std::size_t most, ExcerptSize excerpt = kUpToQuery);

struct WeightsOfRun {
  static constexpr std::size_t kMax = 200;  ///< how many are kept
  using Answer = FoundWeights;
  static constexpr std::string_view kName = "weight search";
  static constexpr Capabilities kNeeds = Capability::patterns;
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
