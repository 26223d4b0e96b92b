#include "app/run/analyses/query_key_space.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "app/run/analyses/over_prompts.h"
#include "model/maths/row_geometry.h"

namespace headscope::app {

namespace {

/// Of queries and keys, [length, width] each.
QueryKeySpace plane_of(std::span<const float> queries, std::span<const float> keys, int length, int width,
                       const std::stop_token& stop) {
  std::vector<float> rows(queries.begin(), queries.end());
  rows.insert(rows.end(), keys.begin(), keys.end());
  QueryKeySpace plane;
  plane.length = length;
  if (length == 0) return plane;
  plane.coordinates.assign(4 * static_cast<std::size_t>(plane.length), 0.F);
  plane.finite = std::ranges::all_of(rows, [](float v) { return std::isfinite(v); });
  if (!plane.finite) return plane;
  const model::PrincipalDirections found =
      model::principal_directions({rows.data(), 2 * plane.length, width, width}, 2, stop);
  const auto count = static_cast<std::size_t>(found.count);
  for (std::size_t i = 0; i < found.coordinates.size(); ++i)
    plane.coordinates[2 * (i / count) + i % count] = found.coordinates[i];
  std::ranges::copy(found.shares, plane.shares.begin());
  // Where all lies on one line, or in one place, rounding alone is left of the other directions.
  constexpr double kRounding = 1e-9;
  for (std::size_t axis = 0; axis < plane.shares.size(); ++axis) {
    if (plane.shares[axis] > 1 - kRounding) plane.shares[axis] = 1;
    if (plane.shares[axis] >= kRounding) continue;
    plane.shares[axis] = 0;
    for (std::size_t i = axis; i < plane.coordinates.size(); i += 2) plane.coordinates[i] = 0;
  }
  return plane;
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

QueryKeySpace PlaneOf::compute(const PromptRun& run, const Work<QueryKeySpace>& work) const {
  std::vector<float> queries, keys;
  add_queries_and_keys(*run.run, layer, head, queries, keys);
  return plane_of(queries, keys, run.run->length(), run.run->config.d_head(), work.stop);
}

ListPlane PlaneOverList::compute(const PromptRun& run, const Work<ListPlane>& work) const {
  std::size_t prompts = 0;
  const int n_ctx = run.model->config().n_ctx;
  for (int tokens = 0; prompts < over.list->prompts.size(); ++prompts) {
    try {
      Prompt prompt = over.list->prompts[prompts];
      prompt.start_token = over.start_token;
      tokens += std::min(tokenize(*run.model, prompt).length(), n_ctx);
    } catch (const model::RunError&) {  // takes no room
    }
    if (tokens > ListPlane::kMostTokens && prompts > 0) break;
  }
  return over_prompts(
      over, prompts, run, work,
      [&](const PromptRun& one, std::size_t index, ListPlane& answer) {
        add_queries_and_keys(*one.run, layer, head, answer.queries, answer.keys);
        for (int position = 0; position < one.run->length(); ++position)
          answer.places.push_back({index, position, one.run->tokens[position]});
      },
      [&](ListPlane& answer) {
        answer.prompts = prompts;
        answer.plane = plane_of(answer.queries, answer.keys, static_cast<int>(answer.places.size()),
                                run.model->config().d_head(), work.stop);
      });
}

}  // namespace headscope::app
