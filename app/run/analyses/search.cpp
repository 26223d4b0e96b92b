#include "app/run/analyses/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "app/run/analyses/over_prompts.h"
#include "app/run/analyses/patterns.h"
#include "app/run/run_prompt.h"
#include "model/maths/best.h"

namespace headscope::app {

namespace {

auto order_of_weight(const FoundWeight& f) {
  return std::tuple(-f.weight, f.prompt, f.layer, f.head, f.query, f.key);
}

auto order_of_activation(const FoundActivation& f) {
  return std::tuple(-f.activation, f.prompt, f.layer, f.neuron, f.position);
}

using BestWeights = model::Best<FoundWeight, order_of_weight>;
using BestActivations = model::Best<FoundActivation, order_of_activation>;

/// The excerpt around a position of a run. `value`: the number of each position; empty: none.
Excerpt excerpt_of(const PromptRun& run, int position, int before, int after,
                   const std::function<float(int position)>& value = {}) {
  const int last = run.run->length() - 1, end = std::min(position + after, last);
  Excerpt excerpt;
  excerpt.first = std::max(0, position - before);
  excerpt.continues = end < last;
  for (int i = excerpt.first; i <= end; ++i) {
    excerpt.labels.push_back(run.tokens.labels[i]);
    if (value) excerpt.values.push_back(value(i));
  }
  return excerpt;
}

/// Adds what was found in one more prompt to what is kept, and to the count of all. `excerpt(found)` makes
/// that of a place in the prompt.
template <class One, class Best, class MakeExcerpt>
void join_found(Found<One>& all, const Best& found, int prompt, const MakeExcerpt& excerpt) {
  all.count += found.count();
  for (const One& one : found.sorted()) all.best.push_back({one, {}});
  std::ranges::sort(all.best, Best::is_better);
  all.best.resize(std::min(all.best.size(), Found<One>::kMax));
  for (auto& match : all.best)
    if (match.prompt == prompt) match.excerpt = excerpt(match);
}

std::vector<model::HeadIndex> heads_of(const WeightSearch& search, const PromptRun& run) {
  for (const auto& [layer, head] : search.heads) check_head(*run.model, layer, head);
  return search.heads.empty() ? all_heads(run.run->config) : search.heads;
}

int key_id(const PromptRun& run, int key) {
  return run.model->patterns ? key_tokens(run).tokens[key].id : run.run->tokens[key];
}

/// How well a shape fits one head's pattern at each of its places.
class ShapeFit {
 public:
  ShapeFit(const WeightSearch& search, int queries, int keys) : shape_(search.shape) {
    if (!search.moves) std::erase_if(shape_, [](const WeightSearch::Cell& cell) { return cell.query == 0; });
    if (shape_.empty()) return;
    std::ranges::sort(shape_, {},
                      [](const WeightSearch::Cell& cell) { return std::pair(cell.query, cell.key); });
    // In 64 bits: the coordinates of cells are not bounded.
    const auto [first_key, last_key] = std::ranges::minmax_element(shape_, {}, &WeightSearch::Cell::key);
    const std::int64_t least_key = first_key->key, most_key = last_key->key;
    int before = -1;
    for (const WeightSearch::Cell& cell : shape_) queries_ += cell.query != std::exchange(before, cell.query);
    const std::int64_t least_query = shape_.front().query, most_query = shape_.back().query;
    std::int64_t last_move = std::min(queries - 1 - most_query, keys - 1 - most_key);
    first_move_ = std::max(1 - least_query, -least_key);
    if (!search.moves) {
      if (last_move < 0) return;
      first_move_ = last_move = 0;
    }
    if (last_move >= first_move_) places_.resize(static_cast<std::size_t>(last_move - first_move_) + 1);
  }

  void add(int query, std::span<const float> weights) {
    for (const WeightSearch::Cell& cell : shape_) {
      const std::int64_t place = std::int64_t{query} - cell.query - first_move_;
      if (place < 0 || place >= std::ssize(places_)) continue;
      Place& p = places_[place];
      const int key = cell.key + query - cell.query;
      const float weight = weights[key];
      p.sum += static_cast<double>(weight);
      if (query > p.query || weight > p.weight) p.query = query, p.key = key, p.weight = weight;
    }
  }

  struct BestPlace {
    double fit = 0;
    int query = 0, key = 0;
  };
  /// The first of equally good places; nothing if the shape has no place.
  std::optional<BestPlace> best() const {
    const auto found = std::ranges::max_element(places_, {}, &Place::sum);
    if (found == places_.end()) return std::nullopt;
    return BestPlace{found->sum / queries_, found->query, found->key};
  }

 private:
  struct Place {
    double sum = 0;
    int query = -1, key = 0;
    float weight = 0;  // on that key
  };
  std::vector<WeightSearch::Cell> shape_;
  int queries_ = 0;  // number of the shape's queries
  std::int64_t first_move_ = 0;
  std::vector<Place> places_;
};

void search_shape(const PromptRun& run, const WeightSearch& search, int prompt, const Resources& with,
                  BestWeights& best) {
  const std::vector<model::HeadIndex> heads = heads_of(search, run);
  std::vector<ShapeFit> fits(heads.size(), ShapeFit(search, run.run->length(), key_count(run)));
  patterns_of(run, heads, with, [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
    for (int i = 0; i < rows.rows; ++i) fits[index].add(first_query + i, rows.row(i));
  });
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto found = fits[i].best();
    if (!found || !(found->fit > search.above)) continue;
    best.add({prompt, heads[i].layer, heads[i].head, found->query, found->key, run.run->tokens[found->query],
              key_id(run, found->key), static_cast<float>(found->fit)});
  }
}

void search_tokens(const PromptRun& run, const WeightSearch& search, int prompt, const Resources& with,
                   BestWeights& best) {
  const std::vector<model::HeadIndex> heads = heads_of(search, run);
  const std::vector<int>& ids = run.run->tokens;
  const std::vector<std::string>& key_labels = key_tokens(run).labels;
  const int length = run.run->length(), key_length = key_count(run);
  // The matching keys of each query; the patterns come later, one query after the other.
  std::vector<std::vector<int>> keys(ids.size());
  const bool later = std::ranges::any_of(heads, [&](model::HeadIndex head) { return sees_later(run, head); });
  for (int query = 0; query < length; ++query) {
    if (!search.from.matches(run.tokens.labels[query], query, length, query)) continue;
    for (int key = 0; key < (later ? key_length : std::min(query + 1, key_length)); ++key)
      if (search.to.matches(key_labels[key], key, length, query)) keys[query].push_back(key);
  }
  // Query 0's weight on itself is 1 in every head that shows it no other key.
  std::vector<bool> sees_others(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i)
    for (int key = 1; key < key_length && !sees_others[i]; ++key)
      sees_others[i] = may_see(run, heads[i], 0, key);
  std::vector<BestWeights> of_heads(heads.size(), BestWeights(FoundWeights::kMax));
  patterns_of(run, heads, with, [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
    for (int i = 0; i < rows.rows; ++i) {
      const int query = first_query + i;
      if (query == 0 && !sees_others[index]) continue;
      for (const int key : keys[query]) {
        if (!may_see(run, heads[index], query, key)) continue;
        const float weight = rows.row_data(i)[key];
        if (!(static_cast<double>(weight) > search.above)) continue;
        of_heads[index].add({prompt, heads[index].layer, heads[index].head, query, key, ids[query],
                             key_id(run, key), weight});
      }
    }
  });
  for (const BestWeights& of_head : of_heads) best.add(of_head);
}

}  // namespace

std::string Excerpt::text() const {
  std::string text = first > 0 ? "…" : "";
  for (const std::string& label : labels) text += label;
  return text;
}

std::size_t Excerpt::bytes() const {
  std::size_t sum = sizeof *this + values.size() * sizeof(float) + key.size();
  for (const std::string& label : labels) sum += sizeof label + label.size();
  return sum;
}

bool TokenSelector::matches(std::string_view label, int position, int length, int query) const {
  constexpr std::string_view kSpace = "·";
  if (kind == Kind::text)
    return label == text || (label.starts_with(kSpace) && label.substr(kSpace.size()) == text);
  if (kind == Kind::position) return position == number;
  if (kind == Kind::from_position) return position >= number;
  if (kind == Kind::from_end) return position == length - number;
  return kind == Kind::any || position == query - number;
}

FoundWeights WeightsOf::compute(const PromptRun& run, const Computation<FoundWeights>& computation) const {
  const auto look = search.shape.empty() ? search_tokens : search_shape;
  const auto add = [&](const PromptRun& one, std::size_t index, FoundWeights& all) {
    const int prompt = static_cast<int>(index) + 1;
    BestWeights found(FoundWeights::kMax);
    look(one, search, prompt, computation, found);
    join_found(all, found, prompt, [&](const FoundWeight& match) {
      Excerpt excerpt = excerpt_of(one, match.query, 13, 0);
      excerpt.key = key_tokens(one).labels[match.key];
      return excerpt;
    });
  };
  return over_prompts(over, run, computation, add);
}

FoundActivations ActivationsOf::compute(const PromptRun& run,
                                        const Computation<FoundActivations>& computation) const {
  Recording recording(run.model->transformer->config());
  for (const auto& [layer, neuron] : neurons) {
    check_neuron(*run.model, layer, neuron);
    recording.add({model::Site::mlp_post, layer});
  }
  const auto activation = [&](int layer, int neuron, int position) {
    return recording.row({model::Site::mlp_post, layer}, position)[neuron];
  };
  const auto add = [&](const PromptRun& one, std::size_t index, FoundActivations& all) {
    const int prompt = static_cast<int>(index) + 1;
    BestActivations found(FoundActivations::kMax);
    for (int position = 0; position < one.run->length(); ++position)
      for (const auto& [layer, neuron] : neurons)
        if (const float value = activation(layer, neuron, position); !std::isnan(value))
          found.add({prompt, layer, neuron, position, one.run->tokens[position], value});
    join_found(all, found, prompt, [&](const FoundActivation& match) {
      return excerpt_of(one, match.position, 16, 8,
                        [&](int position) { return activation(match.layer, match.neuron, position); });
    });
  };
  return over_prompts(over, run, computation, add, {.hooks = &recording.hooks()});
}

}  // namespace headscope::app
