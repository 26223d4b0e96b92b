#include "app/run/analyses/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "app/run/analyses/over_prompts.h"
#include "model/files/error.h"
#include "model/maths/row_geometry.h"

namespace headscope::app {
namespace {

/// How similar each value of a column is to the one before: 1 a smooth curve, 0 noise.
double smoothness(std::span<const float> values, int rows, int cols, int col) {
  const auto at = [&](int row) { return static_cast<double>(values[std::ptrdiff_t{row} * cols + col]); };
  double mean = 0, variance = 0, together = 0;
  for (int row = 0; row < rows; ++row) mean += at(row) / rows;
  for (int row = 0; row < rows; ++row) {
    variance += (at(row) - mean) * (at(row) - mean);
    if (row > 0) together += (at(row) - mean) * (at(row - 1) - mean);
  }
  const double ratio = together / variance;
  return std::isfinite(ratio) ? ratio : -1;
}

model::ConstFloatRows rows_of(std::span<const float> values, const model::Config& config) {
  return {values.data(), config.n_ctx, config.n_embd, config.n_embd};
}

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

double sinusoidal_frequency(int dimension, int dimensions) {
  const int even = dimension - dimension % 2;
  return std::pow(10000.0, -static_cast<double>(even) / dimensions);
}

float sinusoidal_value(int position, int dimension, int dimensions) {
  const double angle = position * sinusoidal_frequency(dimension, dimensions);
  return static_cast<float>(dimension % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

std::vector<int> readable_dimensions(std::span<const float> learned, int positions, int dimensions) {
  std::vector<int> chosen;
  for (const double periods : {1.0, 0.125}) {
    int best = -1;
    double best_distance = 0, best_smoothness = 0;
    for (int d = 0; d < dimensions; ++d) {
      if (std::ranges::find(chosen, d) != chosen.end()) continue;
      const double made = positions * sinusoidal_frequency(d, dimensions) / (2 * std::numbers::pi);
      // All candidates within half an octave count as equally near.
      const double distance = std::max(0.5, std::abs(std::log2(made / periods)));
      if (best >= 0 && distance > best_distance) continue;
      const double its_smoothness = smoothness(learned, positions, dimensions, d);
      if (best >= 0 && distance == best_distance && its_smoothness <= best_smoothness) continue;
      best = d, best_distance = distance, best_smoothness = its_smoothness;
    }
    if (best >= 0) chosen.push_back(best);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<float> sinusoidal_encoding(int positions, int dimensions) {
  std::vector<double> frequencies;
  for (int dimension = 0; dimension < dimensions; ++dimension)
    frequencies.push_back(sinusoidal_frequency(dimension, dimensions));
  std::vector<float> encoding;
  for (int position = 0; position < positions; ++position)
    for (int dimension = 0; dimension < dimensions; ++dimension) {
      const double angle = position * frequencies[dimension];
      encoding.push_back(static_cast<float>(dimension % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  return encoding;
}

PositionCosines CosinesOfPositions::compute(const PromptRun& run,
                                            const Computation<PositionCosines>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  PositionCosines result;
  result.positions = config.n_ctx;
  result.learned = model::cosines(rows_of(transformer.position_embedding(), config), computation.workspace);
  if (computation.stop.stop_requested()) throw model::Stopped();
  const std::vector<float> encoding = sinusoidal_encoding(config.n_ctx, config.n_embd);
  result.sinusoidal = model::cosines(rows_of(encoding, config), computation.workspace);
  return result;
}

PositionPath PathOfPositions::compute(const PromptRun& run,
                                      const Computation<PositionPath>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  model::PrincipalDirections found = model::principal_directions(
      rows_of(transformer.position_embedding(), transformer.config()), PositionPath::kMax, computation.stop);
  return {found.count, std::move(found.coordinates), std::move(found.shares)};
}

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
  return over_prompts(over, run, computation,
                      [&](const PromptRun& one, std::size_t index, ListQueryKeySpace& answer) {
                        add_queries_and_keys(*one.run, layer, head, answer.queries, answer.keys);
                        for (int position = 0; position < one.run->length(); ++position)
                          answer.places.push_back({index, position, one.run->tokens[position]});
                      },
                      {.finish =
                           [&](ListQueryKeySpace& answer) {
                             answer.prompts = prompts;
                             answer.space = query_key_space(answer.queries, answer.keys,
                                                            static_cast<int>(answer.places.size()),
                                                            run.model->config().d_head(), computation.stop);
                           },
                       .most = prompts});
}

}  // namespace headscope::app
