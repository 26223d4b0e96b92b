#include "app/run/analyses/query_key_space.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "app/run/analyses/over_prompts.h"
#include "model/maths/row_geometry.h"

namespace headscope::app {

namespace {

/// Projects queries and keys, [length, width] each.
QueryKeySpace query_key_space(std::span<const float> queries, std::span<const float> keys, int length,
                              int width, const std::stop_token& stop) {
  std::vector<float> rows(queries.begin(), queries.end());
  rows.insert(rows.end(), keys.begin(), keys.end());
  QueryKeySpace space;
  space.length = length;
  if (length == 0) return space;
  space.coordinates.assign(4 * static_cast<std::size_t>(space.length), 0.F);
  space.finite = std::ranges::all_of(rows, [](float v) { return std::isfinite(v); });
  if (!space.finite) return space;
  const model::PrincipalDirections found =
      model::principal_directions({rows.data(), 2 * space.length, width, width}, 2, stop);
  const auto count = static_cast<std::size_t>(found.count);
  for (std::size_t i = 0; i < found.coordinates.size(); ++i)
    space.coordinates[2 * (i / count) + i % count] = found.coordinates[i];
  std::ranges::copy(found.shares, space.shares.begin());
  // If everything lies on one line, or in one point, the other directions contain rounding errors alone.
  constexpr double kRounding = 1e-9;
  for (std::size_t axis = 0; axis < space.shares.size(); ++axis) {
    if (space.shares[axis] > 1 - kRounding) space.shares[axis] = 1;
    if (space.shares[axis] >= kRounding) continue;
    space.shares[axis] = 0;
    for (std::size_t i = axis; i < space.coordinates.size(); i += 2) space.coordinates[i] = 0;
  }
  return space;
}

void add_queries_and_keys(const model::Run& run, int layer, int head, std::vector<float>& queries,
                          std::vector<float>& keys) {
  for (int position = 0; position < run.length(); ++position) {
    const auto q = run.q(layer, head, position);
    const auto k = run.k(layer, head, position);
    queries.insert(queries.end(), q.begin(), q.end());
    keys.insert(keys.end(), k.begin(), k.end());
  }
}

}  // namespace

QueryKeySpace QueryKeySpaceOf::compute(const PromptRun& run,
                                       const Computation<QueryKeySpace>& computation) const {
  std::vector<float> queries, keys;
  add_queries_and_keys(*run.run, layer, head, queries, keys);
  return query_key_space(queries, keys, run.run->length(), run.run->config.d_head(), computation.stop);
}

ListQueryKeySpace QueryKeySpaceOverList::compute(const PromptRun& run,
                                                 const Computation<ListQueryKeySpace>& computation) const {
  std::size_t prompts = 0;
  const int n_ctx = run.model->config().n_ctx;
  for (int tokens = 0; prompts < over.list->prompts.size(); ++prompts) {
    try {
      Prompt prompt = over.list->prompts[prompts];
      prompt.start_token = over.start_token;
      const int length = tokenize(*run.model, prompt).length();
      if (length <= n_ctx) tokens += length;  // one that is skipped costs no room
    } catch (const model::RunError&) {
    }
    if (tokens > ListQueryKeySpace::kMaxTokens && prompts > 0) break;
  }
  return over_prompts(
      over, prompts, run, computation,
      [&](const PromptRun& one, std::size_t index, ListQueryKeySpace& answer) {
        add_queries_and_keys(*one.run, layer, head, answer.queries, answer.keys);
        for (int position = 0; position < one.run->length(); ++position)
          answer.places.push_back({index, position, one.run->tokens[position]});
      },
      [&](ListQueryKeySpace& answer) {
        answer.prompts = prompts;
        answer.space = query_key_space(answer.queries, answer.keys, static_cast<int>(answer.places.size()),
                                       run.model->config().d_head(), computation.stop);
      });
}

}  // namespace headscope::app
