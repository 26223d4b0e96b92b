#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/run/neuron_index.h"
#include "app/run/prompt_list.h"
#include "app/run/prompt_run.h"
#include "app/run/question.h"
#include "model/pass/hooks.h"

namespace headscope::app {

/// How many tokens around a place belong to its excerpt.
struct ExcerptSize {
  int before = 0, after = 0;
  bool operator==(const ExcerptSize&) const = default;
};

/// The tokens of a prompt around a place, with a number for each.
struct Excerpt {
  int first = 0;                    ///< position of the first
  bool continues = false;           ///< tokens of the run follow the last
  std::vector<int> ids;             ///< of the tokens
  std::vector<std::string> labels;  ///< of the tokens
  std::vector<float> values;        ///< a number for each token; empty: there is none

  std::string text() const;  ///< "…·gave·a·drink": up to the last token
  std::size_t bytes() const;
  bool operator==(const Excerpt&) const = default;
};

/// The excerpt around a position of a run. `value`: the number of each position; empty: none.
Excerpt excerpt_of(const PromptRun& run, int position, ExcerptSize size,
                   const std::function<float(int position)>& value = {});

// The best results of a search over any number of prompts, in memory for no more than are kept.

/// The best of what was found, and how much there was. `is_better(a, b)` is a strict order without ties, so
/// that the result does not depend on the order of insertion.
template <class Found>
class BestFound {
 public:
  explicit BestFound(std::size_t most) : most_(most) {}
  void add(const Found& found) {
    ++count_;
    keep(found);
  }
  void add(const BestFound& others) {
    count_ += others.count_;
    for (const Found& found : others.heap_) keep(found);
  }
  BestFound none() const { return BestFound(most_); }  ///< an empty list with the same limit
  std::int64_t count() const { return count_; }
  /// Best first.
  std::vector<Found> best() const {
    std::vector<Found> sorted = heap_;
    std::ranges::sort(sorted, kBetter);
    return sorted;
  }

 private:
  static constexpr auto kBetter = [](const Found& a, const Found& b) { return is_better(a, b); };
  void keep(const Found& found) {
    if (most_ == 0) return;
    if (heap_.size() == most_) {
      if (!is_better(found, heap_.front())) return;
      std::ranges::pop_heap(heap_, kBetter);
      heap_.back() = found;
    } else {
      heap_.push_back(found);
    }
    std::ranges::push_heap(heap_, kBetter);
  }
  std::size_t most_;
  std::int64_t count_ = 0;
  std::vector<Found> heap_;  // the worst that is kept is in front
};

/// Adds what was found in one more prompt to an answer with `best`, best first and at most `most`, an excerpt
/// for each of them, and the `count` of all. `excerpt(found)` makes that of a place in the prompt.
template <class Answer, class Found, class MakeExcerpt>
void join_found(Answer& all, const BestFound<Found>& found, int prompt, std::size_t most,
                const MakeExcerpt& excerpt) {
  const std::vector<Found> candidates = found.best();
  const bool is_full = all.best.size() == most;
  if (candidates.empty() || (is_full && !is_better(candidates.front(), all.best.back()))) {
    all.count += found.count();
    return;
  }
  std::vector<Found> kept;
  std::ranges::merge(all.best, candidates, std::back_inserter(kept),
                     [](const Found& a, const Found& b) { return is_better(a, b); });
  kept.resize(std::min(kept.size(), most));
  std::vector<Excerpt> excerpts(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i].prompt == prompt) excerpts[i] = excerpt(kept[i]);
  // Nothing throws from here on, so that an answer is whole whatever happens.
  std::size_t before = 0;  // what is kept of the former ones is in the same order
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].prompt == prompt) continue;
    while (!(all.best[before] == kept[i])) ++before;
    excerpts[i] = std::move(all.excerpts[before]);
  }
  all.best = std::move(kept);
  all.excerpts = std::move(excerpts);
  all.count += found.count();
}

// Search for the largest attention weights between chosen tokens, over any number of prompts.

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

// Search for the largest activations of neurons, over any number of prompts.

struct FoundActivation {
  int prompt = 1;  ///< from 1
  int layer = 0, neuron = 0, position = 0;
  int id = 0;  ///< of the token
  float activation = 0;
  bool operator==(const FoundActivation&) const = default;
};
/// The larger one; ties: the earlier prompt, layer, neuron and position.
bool is_better(const FoundActivation& a, const FoundActivation& b);
using BestActivations = BestFound<FoundActivation>;

struct ActivationSearch {
  std::vector<NeuronIndex> neurons;
  TokenSelector at;                                         ///< positions
  double above = -std::numeric_limits<double>::infinity();  ///< activations larger than this
  ExcerptSize excerpt = {16, 8};
  bool operator==(const ActivationSearch&) const = default;
};

/// Keeps the activations of neurons at all positions of a pass (mlp.hook_post, after the nonlinearity and
/// edits) that has its hooks; each pass replaces those of the one before.
class WatchedNeurons {
 public:
  /// Throws model::RunError for a neuron that the model does not have.
  WatchedNeurons(std::vector<NeuronIndex> neurons, const LoadedModel& model);
  WatchedNeurons(const WatchedNeurons&) = delete;
  WatchedNeurons& operator=(const WatchedNeurons&) = delete;
  const model::Hooks& hooks() const { return hooks_; }
  const std::vector<NeuronIndex>& neurons() const { return neurons_; }
  /// [T]: the activations of the neuron with this index in neurons().
  std::span<const float> of(std::size_t index) const { return values_[index]; }

 private:
  std::vector<NeuronIndex> neurons_;
  std::vector<std::vector<float>> values_;
  model::Hooks hooks_;
};

/// The largest activations.
struct FoundActivations {
  std::vector<FoundActivation> best;  ///< best first
  std::vector<Excerpt> excerpts;  ///< for each: the tokens around it, with the neuron's activation on each
  std::int64_t count = 0;         ///< total number of matches
  ListProgress progress;          ///< progress of a list
  std::size_t bytes() const;
};

/// Adds the activations in a run that `watched` saw to the `most` that are kept.
void add_activations(const PromptRun& run, const ActivationSearch& search, const WatchedNeurons& watched,
                     int prompt, std::size_t most, FoundActivations& found);

struct ActivationsOfRun {
  using Answer = FoundActivations;
  static constexpr std::string_view kName = "activations of neurons";
  static constexpr Capabilities kNeeds = Capability::weights | Capability::mlp;
  static constexpr std::size_t kMax = 200;  ///< how many are kept
  ActivationSearch search;
  bool operator==(const ActivationsOfRun&) const = default;
  FoundActivations compute(const PromptRun& run, const Computation<FoundActivations>& computation) const;
};

struct ActivationsOverList {
  using Answer = FoundActivations;
  static constexpr std::string_view kName = "activations of neurons over many prompts";
  static constexpr Capabilities kNeeds = ActivationsOfRun::kNeeds;
  static constexpr bool kModelOnly = true;
  OverPrompts over;
  ActivationSearch search;
  bool operator==(const ActivationsOverList&) const = default;
  /// Parts cover the first prompts.
  FoundActivations compute(const PromptRun& run, const Computation<FoundActivations>& computation) const;
};

}  // namespace headscope::app
