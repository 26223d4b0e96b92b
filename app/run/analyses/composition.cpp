#include "app/run/analyses/composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "app/run/analyses/parameter_rows.h"
#include "app/run/analyses/vectors.h"
#include "model/files/error.h"
#include "model/maths/plain_product.h"

namespace headscope::app {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::span<const float> rows_of(const ParameterRows& x, int first, int count) {
  return std::span(x.values).subspan(std::ptrdiff_t{first} * x.cols, std::ptrdiff_t{count} * x.cols);
}

void subtract_mean(std::span<float> row) {
  double mean = 0;
  for (const float v : row) mean += static_cast<double>(v) / static_cast<double>(row.size());
  for (float& v : row) v = static_cast<float>(static_cast<double>(v) - mean);
}

ParameterRows parameter_of(const model::Transformer& transformer, int layer, std::string_view name) {
  return parameter_rows(transformer, "h." + std::to_string(layer) + "." + std::string(name));
}

/// [d_model, d_model]: the transposed W_Q, W_K or W_V of all heads, with ln_1's gain and centring.
ParameterRows reading_of(const model::Transformer& transformer, int layer, AttentionColumns column) {
  const int d = transformer.config().n_embd;
  const ParameterRows attention = parameter_of(transformer, layer, "attn.c_attn.weight"),
                      gain = parameter_of(transformer, layer, "ln_1.weight");
  ParameterRows result = zeros(d, d);
  for (int i = 0; i < d; ++i) {
    const auto from =
        attention.row(i).subspan(static_cast<std::size_t>(column) * static_cast<std::size_t>(d));
    for (int j = 0; j < d; ++j) result.row(j)[i] = gain.values[i] * from[j];
  }
  for (int j = 0; j < d; ++j) subtract_mean(result.row(j));
  return result;
}

/// [d_model, d_model]: W_O of all heads, each row without its mean.
ParameterRows writing_of(const model::Transformer& transformer, int layer) {
  ParameterRows result = parameter_of(transformer, layer, "attn.c_proj.weight");
  for (int j = 0; j < result.rows; ++j) subtract_mean(result.row(j));
  return result;
}

/// The upper triangular R with R^T R = a a^T, for each head's rows of a: [d_model, d_head], the heads' R
/// below each other. By Cholesky's method; directions that rounding alone has filled are left out.
ParameterRows factors_of(const ParameterRows& a, int d_head) {
  ParameterRows result = zeros(a.rows, d_head);
  for (int first = 0; first < a.rows; first += d_head) {
    std::vector<double> g = model::gram({rows_of(a, first, d_head).data(), d_head, a.cols, a.cols});
    const auto at = [&](int i, int j) -> double& { return g[std::ptrdiff_t{i} * d_head + j]; };
    double trace = 0;
    for (int i = 0; i < d_head; ++i) trace += at(i, i);
    const double least = 1e-13 * trace;
    for (int i = 0; i < d_head; ++i) {
      const bool none = at(i, i) <= least;  // NaN is carried on
      const double root = std::sqrt(at(i, i));
      for (int j = i; j < d_head; ++j) {
        at(i, j) = none ? 0 : at(i, j) / root;
        result.row(first + i)[j] = static_cast<float>(at(i, j));
      }
      for (int k = i + 1; k < d_head; ++k)
        for (int j = k; j < d_head; ++j) at(k, j) -= at(i, k) * at(i, j);
    }
  }
  return result;
}

/// Each head's factor times its rows of `x`: [d_model, d_model].
ParameterRows product_by_head(const ParameterRows& factors, const ParameterRows& x,
                              model::Workspace& workspace) {
  const int d_head = factors.cols;
  ParameterRows result = zeros(x.rows, x.cols);
  for (int first = 0; first < x.rows; first += d_head)
    model::multiply({rows_of(factors, first, d_head).data(), d_head, d_head, d_head},
                    {rows_of(x, first, d_head).data(), d_head, x.cols, x.cols}, workspace,
                    {result.row(first).data(), d_head, x.cols, x.cols});
  return result;
}

/// Frobenius norms of each head's rows.
std::vector<double> norms_by_head(const ParameterRows& x, int d_head) {
  std::vector<double> norms;
  for (int first = 0; first < x.rows; first += d_head) norms.push_back(norm_of(rows_of(x, first, d_head)));
  return norms;
}

/// What a layer's receivers read through, transposed: W_QK, its transpose, or W_OV as d_head rows that have
/// the same norm after any matrix.
ParameterRows receivers_of(const model::Transformer& transformer, int layer, CompositionKind kind,
                           model::Workspace& workspace) {
  const auto made = [&](AttentionColumns read, const ParameterRows& then) {
    return product_by_head(factors_of(then, transformer.config().d_head()),
                           reading_of(transformer, layer, read), workspace);
  };
  switch (kind) {
    case CompositionKind::q:
      return made(AttentionColumns::query, reading_of(transformer, layer, AttentionColumns::key));
    case CompositionKind::k:
      return made(AttentionColumns::key, reading_of(transformer, layer, AttentionColumns::query));
    case CompositionKind::v:
      break;
  }
  return made(AttentionColumns::value, writing_of(transformer, layer));
}

}  // namespace

double random_composition(const model::Config& config) {
  if (config.n_embd < 2) return std::numeric_limits<double>::quiet_NaN();
  return 1 / std::sqrt(static_cast<double>(config.n_embd - 1));
}

Composition CompositionOf::compute(const PromptRun& run, const Computation<Composition>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const int d = config.n_embd, d_head = config.d_head(), heads = config.n_head;
  Composition result;
  result.layers = config.n_layer, result.heads_per_layer = heads,
  result.baseline = random_composition(config);
  result.values.assign(static_cast<std::size_t>(result.heads()) * static_cast<std::size_t>(result.heads()),
                       kNone);
  std::vector<ParameterRows> of_values;  // of the layers so far: factors of W_V
  ParameterRows products = zeros(d, d);
  for (int layer = 1; layer < config.n_layer; ++layer) {
    of_values.push_back(factors_of(reading_of(transformer, layer - 1, AttentionColumns::value), d_head));
    const ParameterRows read = receivers_of(transformer, layer, kind, computation.workspace);
    const std::vector<double> read_norms = norms_by_head(read, d_head);
    const ParameterRows columns = transposed(read);
    for (int from = 0; from < layer; ++from) {
      if (computation.stop.stop_requested()) throw model::Stopped();
      const ParameterRows written =
          product_by_head(of_values[from], writing_of(transformer, from), computation.workspace);
      const std::vector<double> written_norms = norms_by_head(written, d_head);
      model::multiply(written.view(), columns.view(), computation.workspace,
                      {products.values.data(), d, d, d});
      std::vector<double> squares(static_cast<std::size_t>(heads) * static_cast<std::size_t>(heads));
      for (int i = 0; i < d; ++i)
        for (int head = 0; head < heads; ++head) {
          const auto part = products.row(i).subspan(std::ptrdiff_t{head} * d_head, d_head);
          squares[std::ptrdiff_t{i / d_head} * heads + head] += dot(part, part);
        }
      for (int s = 0; s < heads; ++s)
        for (int r = 0; r < heads; ++r)
          result.values[std::ptrdiff_t{from * heads + s} * result.heads() + layer * heads + r] =
              static_cast<float>(std::sqrt(squares[std::ptrdiff_t{s} * heads + r]) /
                                 (written_norms[s] * read_norms[r]));
    }
    result.done = layer + 1;
    if (!result.complete())
      computation.show(result, static_cast<double>(layer * (layer + 1)) /
                                   static_cast<double>(config.n_layer * (config.n_layer - 1)));
  }
  return result;
}

Composition CompositionOf::difference(const Composition& after, const Composition& before,
                                      const PromptRun&) const {
  Composition result = after;
  result.baseline -= before.baseline;
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] -= before.values[i];
  return result;
}

std::vector<ComposedPair> strongest_pairs(const Composition& composition, std::size_t most, bool by_size,
                                          int head) {
  std::vector<ComposedPair> pairs;
  for (int sender = 0; sender < composition.heads(); ++sender)
    for (int receiver = 0; receiver < composition.heads(); ++receiver) {
      if (head >= 0 && sender != head && receiver != head) continue;
      const double excess = composition.excess(sender, receiver);
      if (!std::isnan(excess)) pairs.push_back({sender, receiver, excess});
    }
  const auto key = [&](const ComposedPair& pair) {
    return std::tuple(by_size ? -std::abs(pair.excess) : -pair.excess, pair.sender, pair.receiver);
  };
  const std::size_t kept = most == 0 ? pairs.size() : std::min(most, pairs.size());
  std::ranges::partial_sort(pairs, pairs.begin() + static_cast<std::ptrdiff_t>(kept), {}, key);
  pairs.resize(kept);
  return pairs;
}

}  // namespace headscope::app
