#include "app/run/analyses/geometry.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <tuple>

#include "app/run/analyses/over_prompts.h"
#include "app/run/analyses/parameters.h"
#include "model/files/error.h"
#include "model/maths/decompositions.h"

namespace headscope::app {
namespace {

/// Radians from one position to the next in a dimension: 1 / 10000^(2i/d) for both dimensions of the i-th
/// pair.
double sinusoidal_frequency(int dimension, int dimensions) {
  const int even = dimension - dimension % 2;
  return std::pow(10000.0, -static_cast<double>(even) / dimensions);
}

/// The sine for an even dimension, the cosine for an odd one.
float wave(double angle, int dimension) {
  return static_cast<float>(dimension % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

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

/// Every `step`-th row from `first` that still has a row `after` positions later.
model::ConstFloatRows every(model::ConstFloatRows x, int first, int step, int after) {
  const int last = x.rows - 1 - after;
  return {x.row_data(std::min(first, x.rows - 1)), last < first ? 0 : (last - first) / step + 1, x.cols,
          x.stride * step};
}

std::vector<double> doubles(model::ConstFloatRows x) {
  std::vector<double> values;
  for (int i = 0; i < x.rows; ++i) values.insert(values.end(), x.row(i).begin(), x.row(i).end());
  return values;
}

/// The relative error of `guess` against `truth`, both [n, d].
float error_of(std::span<const double> guess, model::ConstFloatRows truth) {
  double missed = 0, met = 0;
  auto next = guess.begin();
  for (int i = 0; i < truth.rows; ++i)
    for (const float value : truth.row(i)) {
      const double t = static_cast<double>(value), miss = *next++ - t;
      missed += miss * miss;
      met += t * t;
    }
  return met > 0 ? static_cast<float>(std::sqrt(missed / met)) : NAN;
}

/// Maps rows `first`, first + step, ... of x once more with each call, which returns the error against the
/// rows so many positions further along, as far as there are such. map: [d, d].
auto errors_of_map(model::ConstFloatRows x, int first, int step, std::vector<double> map) {
  std::vector<double> now = doubles(every(x, first, step, 0)), next(now.size());
  return [=, done = 0]() mutable {
    ++done;
    const model::ConstFloatRows truth = every(x, first + done, step, 0);
    const std::size_t values = static_cast<std::size_t>(truth.rows) * x.cols;
    model::map_rows(std::span(now).first(values), map, x.cols, std::span(next).first(values));
    now.swap(next);
    return error_of(now, truth);
  };
}

/// The error over all positions with one k further along, each pair of dimensions rotated by k times its
/// angle. A last dimension without its pair is left out.
float turned_error(model::ConstFloatRows x, int k) {
  std::vector<std::complex<double>> turns;
  for (int i = 0; i < x.cols / 2; ++i)
    turns.push_back(std::polar(1.0, k * sinusoidal_frequency(2 * i, x.cols)));
  // The sine and the cosine of an angle are a complex number of length 1.
  const auto number = [&](int row, std::size_t i) {
    return std::complex<double>(std::complex(x.row_data(row)[2 * i + 1], x.row_data(row)[2 * i]));
  };
  double missed = 0, met = 0;
  for (int t = 0; t + k < x.rows; ++t)
    for (std::size_t i = 0; i < turns.size(); ++i) {
      missed += std::norm(number(t, i) * turns[i] - number(t + k, i));
      met += 1;
    }
  return met > 0 ? static_cast<float>(std::sqrt(missed / met)) : 0;
}

/// Adds a head's queries and keys in a run, the prompt with this index.
void add_run(QueryKeySpace& space, const model::Run& run, int layer, int head, std::size_t prompt) {
  for (int position = 0; position < run.length(); ++position) {
    std::ranges::copy(run.q(layer, head, position), std::back_inserter(space.queries));
    std::ranges::copy(run.k(layer, head, position), std::back_inserter(space.keys));
    space.places.push_back({prompt, position, run.tokens[position]});
  }
}

/// How many of a list's first prompts fit into a space.
std::size_t prompts_that_fit(const OverPrompts& over, const LoadedModel& model) {
  std::size_t prompts = 0;
  for (int tokens = 0; prompts < over.list->prompts.size(); ++prompts) {
    try {
      Prompt prompt = over.list->prompts[prompts];
      prompt.start_token = over.start_token;
      const int length = tokenize(model, prompt).length();
      if (length <= model.config().n_ctx) tokens += length;  // one that is skipped costs no room
    } catch (const model::RunError&) {
    }
    if (tokens > QueryKeySpace::kMaxTokens && prompts > 0) break;
  }
  return prompts;
}

/// Finds the coordinates of the queries and keys. Throws Stopped.
void project(QueryKeySpace& space, int width, const std::stop_token& stop) {
  std::vector<float> rows = space.queries;
  rows.insert(rows.end(), space.keys.begin(), space.keys.end());
  if (rows.empty()) return;
  space.coordinates.assign(4 * space.places.size(), 0.F);
  space.shares = {};
  space.finite = std::ranges::all_of(rows, [](float v) { return std::isfinite(v); });
  if (!space.finite) return;
  const model::PrincipalDirections found =
      model::principal_directions({rows.data(), 2 * space.length(), width, width}, 2, stop);
  const std::size_t count = found.count;
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
}

}  // namespace

float sinusoidal_value(int position, int dimension, int dimensions) {
  return wave(position * sinusoidal_frequency(dimension, dimensions), dimension);
}

std::vector<int> readable_dimensions(std::span<const float> learned, int positions, int dimensions) {
  std::vector<int> chosen;
  for (const double periods : {1.0, 0.125}) {
    auto best = std::tuple(double{INFINITY}, 0.0, -1);  // distance, minus the smoothness, dimension
    for (int d = 0; d < dimensions; ++d) {
      if (std::ranges::find(chosen, d) != chosen.end()) continue;
      const double made = positions * sinusoidal_frequency(d, dimensions) / (2 * std::numbers::pi);
      // All candidates within half an octave count as equally near.
      const double distance = std::max(0.5, std::abs(std::log2(made / periods)));
      if (distance > std::get<0>(best)) continue;
      best = std::min(best, std::tuple(distance, -smoothness(learned, positions, dimensions, d), d));
    }
    if (const int dimension = std::get<2>(best); dimension >= 0) chosen.push_back(dimension);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<float> sinusoidal_encoding(int positions, int dimensions) {
  ParameterRows encoding = zeros(positions, dimensions);
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    const double frequency = sinusoidal_frequency(dimension, dimensions);
    for (int position = 0; position < positions; ++position)
      encoding.row(position)[dimension] = wave(position * frequency, dimension);
  }
  return std::move(encoding.values);
}

PositionCosines CosinesOfPositions::compute(const PromptRun& run,
                                            const Computation<PositionCosines>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  PositionCosines result;
  result.positions = config.n_ctx;
  result.learned = model::cosines(rows_of(transformer.position_embedding(), config), computation.workspace);
  computation.poll();
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

PositionShift ShiftOfPositions::compute(const PromptRun& run,
                                        const Computation<PositionShift>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const model::ConstFloatRows learned = rows_of(transformer.position_embedding(), config);
  const std::vector<float> encoding = sinusoidal_encoding(config.n_ctx, config.n_embd);
  const model::ConstFloatRows sinusoidal = rows_of(encoding, config);
  PositionShift result;
  result.steps = std::min(PositionShift::kMax, config.n_ctx / 2);
  result.pairs = config.n_ctx - 1;
  result.sinusoidal = result.learned = result.unseen = result.stay = {0.F};
  if (result.steps == 0) return result;
  const auto mapped = [&](int first, int step) {
    return errors_of_map(
        learned, first, step,
        model::best_linear_map(every(learned, 0, step, 1), every(learned, 1, step, 0), computation.stop));
  };
  auto all = mapped(0, 1), odd = mapped(1, 2);  // odd positions under the map of the even ones
  constexpr int kShownAtOnce = 8;
  for (int k = 1; k <= result.steps; ++k) {
    computation.poll();
    result.learned.push_back(all());
    result.unseen.push_back(odd());
    result.stay.push_back(error_of(doubles(every(learned, 0, 1, k)), every(learned, k, 1, 0)));
    result.sinusoidal.push_back(turned_error(sinusoidal, k));
    if (k % kShownAtOnce == 0 && k < result.steps)
      computation.show(result, static_cast<double>(k) / result.steps);
  }
  return result;
}

QueryKeySpace QueryKeySpaceOf::compute(const PromptRun& run,
                                       const Computation<QueryKeySpace>& computation) const {
  const std::size_t prompts = over.list ? prompts_that_fit(over, *run.model) : 1;
  const auto add = [&](const PromptRun& one, std::size_t index, QueryKeySpace& space) {
    add_run(space, *one.run, layer, head, index);
  };
  const auto finish = [&](QueryKeySpace& space) {
    space.prompts = prompts;
    project(space, run.model->config().d_head(), computation.stop);
  };
  return over_prompts(over, run, computation, add, {.finish = finish, .most = prompts});
}

}  // namespace headscope::app
