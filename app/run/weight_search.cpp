#include "app/run/weight_search.h"

#include <algorithm>
#include <tuple>

#include "app/run/masked_cells.h"
#include "model/error.h"
#include "model/plan.h"

namespace headscope::app {
namespace {

bool better(const FoundWeight& a, const FoundWeight& b) {
  const auto place = [](const FoundWeight& f) {
    return std::tuple(-f.weight, f.prompt, f.layer, f.head, f.query, f.key);
  };
  return place(a) < place(b);
}

std::vector<model::HeadIndex> heads_of(const WeightSearch& search, const PromptRun& run) {
  const model::Config& config = run.run->config;
  std::vector<model::HeadIndex> heads = search.heads;
  for (const auto& [layer, head] : heads) {
    if (layer < 0 || layer >= config.n_layer || head < 0 || head >= config.n_head) {
      throw model::RunError(run.model->name + " has no head " + std::to_string(layer) + "." +
                            std::to_string(head) + ": it has layers 0 to " +
                            std::to_string(config.n_layer - 1) + " of heads 0 to " +
                            std::to_string(config.n_head - 1));
    }
  }
  if (heads.empty()) {
    for (int i = 0; i < config.n_layer * config.n_head; ++i)
      heads.push_back({i / config.n_head, i % config.n_head});
  }
  return heads;
}

}  // namespace

bool TokenSelector::holds(std::string_view bytes, int position, int length, int query) const {
  switch (kind) {
    case Kind::any:
      return true;
    case Kind::text:
      return bytes == text || (bytes.starts_with(' ') && bytes.substr(1) == text);
    case Kind::position:
      return position == number;
    case Kind::from_end:
      return position == length - number;
    case Kind::before_query:
      return position == query - number;
  }
  return false;
}

void BestWeights::keep(const FoundWeight& found) {
  if (most_ == 0) return;
  if (heap_.size() == most_) {
    if (!better(found, heap_.front())) return;
    std::ranges::pop_heap(heap_, better);
    heap_.back() = found;
  } else {
    heap_.push_back(found);
  }
  std::ranges::push_heap(heap_, better);
}

void BestWeights::add(const FoundWeight& found) {
  ++count_;
  keep(found);
}

void BestWeights::add(const BestWeights& others) {
  count_ += others.count_;
  for (const FoundWeight& found : others.heap_) keep(found);
}

std::vector<FoundWeight> BestWeights::best() const {
  std::vector<FoundWeight> sorted = heap_;
  std::ranges::sort(sorted, better);
  return sorted;
}

void search_weights(const PromptRun& run, const WeightSearch& search, int prompt, model::Workspace& workspace,
                    BestWeights& best, std::stop_token stop) {
  const std::vector<model::HeadIndex> heads = heads_of(search, run);
  const std::vector<int>& ids = run.run->tokens;
  const int length = run.run->length();
  const auto bytes = [&](int position) {
    return run.model->tokenizer->bytes(ids[static_cast<std::size_t>(position)]);
  };
  // Of each query the keys that are meant; the patterns come later, one query after the other.
  std::vector<std::vector<int>> keys(ids.size());
  const model::Plan* plan = run.run->plan.get();
  const bool later = plan != nullptr && std::ranges::any_of(heads, [&](model::HeadIndex head) {
                       return plan->sees_future(head.layer, head.head);
                     });
  for (int query = 1; query < length; ++query) {
    if (!search.from.holds(bytes(query), query, length, query)) continue;
    for (int key = 0; key < (later ? length : query + 1); ++key) {
      if (search.to.holds(bytes(key), key, length, query))
        keys[static_cast<std::size_t>(query)].push_back(key);
    }
  }
  std::vector<BestWeights> of_heads(heads.size(), best.none());
  run.model->transformer->patterns(
      *run.run, heads, workspace,
      [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
        for (int i = 0; i < rows.rows; ++i) {
          const int query = first_query + i;
          for (const int key : keys[static_cast<std::size_t>(query)]) {
            if (!may_see(*run.run, heads[index], query, key)) continue;
            const float weight = rows.row_data(i)[key];
            if (!(static_cast<double>(weight) > search.above)) continue;
            of_heads[index].add({prompt, heads[index].layer, heads[index].head, query, key,
                                 ids[static_cast<std::size_t>(query)], ids[static_cast<std::size_t>(key)],
                                 weight});
          }
        }
      },
      stop);
  for (const BestWeights& of_head : of_heads) best.add(of_head);
}

}  // namespace headscope::app
