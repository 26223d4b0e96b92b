#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/named.h"
#include "app/run/prompt_list.h"
#include "app/run/question.h"

// Searches for the largest attention weights between chosen tokens, and for the largest activations of
// neurons.
namespace headscope::app {

/// A condition on tokens.
struct TokenSelector {
  enum class Kind { any, text, position, from_position, from_end, before_query };
  Kind kind = Kind::any;
  std::string text;  ///< Kind::text: the token's label, with or without a leading space
  int number = 0;  ///< position: from 0; from_position: that one and all later ones; from_end: 1 is the last;
                   ///< before_query: 1 is the token before it (for keys only)

  bool matches(std::string_view label, int position, int length, int query) const;
  bool operator==(const TokenSelector&) const = default;
};

/// The tokens of a prompt around a place, with a number for each.
struct Excerpt {
  int first = 0;                    ///< position of the first
  bool continues = false;           ///< tokens of the run follow the last
  std::vector<std::string> labels;  ///< of the tokens
  std::vector<float> values;        ///< a number for each token; empty: there is none
  std::string key;                  ///< of a weight: label of its key's token

  std::string text() const;  ///< "…·gave·a·drink": up to the last token
  std::size_t bytes() const;
  bool operator==(const Excerpt&) const = default;
};

/// What was found in one prompt or in many.
template <class One>
struct Found {
  static constexpr std::size_t kMax = 200;  ///< how many are kept
  /// With the tokens around it, see One.
  struct Match : One {
    Excerpt excerpt;
    bool operator==(const Match&) const = default;
  };
  std::vector<Match> best;  ///< best first
  std::int64_t count = 0;   ///< total number of matches
  ListProgress progress;    ///< progress of a list
  std::size_t bytes() const {
    std::size_t sum = bytes_of(best) + progress.problem.size();
    for (const Match& match : best) sum += match.excerpt.bytes();
    return sum;
  }
};

/// Its excerpt has the tokens up to the query.
struct FoundWeight {
  int prompt = 1;  ///< from 1
  int layer = 0, head = 0, query = 0, key = 0;
  int query_id = 0, key_id = 0;  ///< ids of the tokens
  float weight = 0;
  bool operator==(const FoundWeight&) const = default;
};
using FoundWeights = Found<FoundWeight>;

struct WeightSearch {
  /// A query and a key, as positions.
  struct Cell {
    int query = 0, key = 0;
    bool operator==(const Cell&) const = default;
  };
  TokenSelector from, to;               ///< queries, keys
  double above = 0;                     ///< weights larger than this
  std::vector<model::HeadIndex> heads;  ///< none: all
  /// Used instead of tokens: the mean over these cells' queries of each query's sum of weights on the cells,
  /// reported at the last query, at its largest weight in the shape. Cells must be unique.
  std::vector<Cell> shape = {};
  bool moves = true;  ///< the shape may move along the diagonal to the best place for each head

  bool operator==(const WeightSearch&) const = default;
};

/// The largest weights, ties by prompt, layer, head, query and key. Query 0 is skipped where it can only look
/// at itself; so are shapes that do not fit into the pattern. Throws model::RunError for a head that the
/// model does not have, or model::Stopped.
struct WeightsOf {
  static constexpr std::string_view kName = "weight search";
  static constexpr Capability kNeeds = Capability::patterns;
  WeightSearch search;
  OverPrompts over = {};
  bool operator==(const WeightsOf&) const = default;
  /// Parts cover the first prompts of the list.
  FoundWeights compute(const PromptRun& run, const Computation<FoundWeights>& computation) const;
};

/// Its excerpt has the neuron's activation on each token.
struct FoundActivation {
  int prompt = 1;  ///< from 1
  int layer = 0, neuron = 0, position = 0;
  int id = 0;  ///< of the token
  float activation = 0;
  bool operator==(const FoundActivation&) const = default;
};
using FoundActivations = Found<FoundActivation>;

/// The largest activations (mlp.hook_post, after edits), ties by prompt, layer, neuron and position.
struct ActivationsOf {
  static constexpr std::string_view kName = "activations of neurons";
  static constexpr Capability kNeeds = Capability::weights | Capability::mlp;
  std::vector<NeuronIndex> neurons;
  OverPrompts over = {};
  bool operator==(const ActivationsOf&) const = default;
  /// Parts cover the first prompts of the list. Throws RunError for a neuron that the model does not have.
  FoundActivations compute(const PromptRun& run, const Computation<FoundActivations>& computation) const;
};

}  // namespace headscope::app
