#include "app/run/analyses/head_circuit.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <tuple>

#include "app/run/analyses/vectors.h"
#include "model/kernels/kernels.h"
#include "model/maths/decompositions.h"

namespace headscope::app {
namespace {

/// Each row minus its mean.
ParameterRows centered(ParameterRows x) {
  for (int i = 0; i < x.rows; ++i) {
    double mean = 0;
    for (const float v : x.row(i)) mean += static_cast<double>(v) / x.cols;
    for (float& v : x.row(i)) v = static_cast<float>(static_cast<double>(v) - mean);
  }
  return x;
}

/// [d_model, count]: ln_1's gain times columns of W_Q, W_K or W_V of all heads, from `first` on.
ParameterRows scaled_columns(const model::Transformer& transformer, int layer, AttentionColumns column,
                             int first, int count) {
  const int d = transformer.config().n_embd;
  const ParameterRows attention = layer_rows(transformer, layer, "attn.c_attn.weight"),
                      gain = layer_rows(transformer, layer, "ln_1.weight");
  ParameterRows result = zeros(d, count);
  for (int i = 0; i < d; ++i) {
    const auto from = attention.row(i).subspan(static_cast<int>(column) * d + first);
    for (int j = 0; j < count; ++j) result.row(i)[j] = gain.values[i] * from[j];
  }
  return result;
}

/// [d_model, d_model]: the transposed W_Q, W_K or W_V of all heads, with ln_1's gain and centring.
ParameterRows reading_of(const model::Transformer& transformer, int layer, AttentionColumns column) {
  return centered(transposed(scaled_columns(transformer, layer, column, 0, transformer.config().n_embd)));
}

/// [d_model, d_model]: W_O of all heads, each row without its mean.
ParameterRows writing_of(const model::Transformer& transformer, int layer) {
  return centered(layer_rows(transformer, layer, "attn.c_proj.weight"));
}

/// The upper triangular R with R^T R = a a^T, for each head's rows of a: [d_model, d_head], the heads' R
/// below each other. By Cholesky's method; directions that rounding alone has filled are left out.
ParameterRows factors_of(const ParameterRows& a, int d_head) {
  ParameterRows result = zeros(a.rows, d_head);
  for (int first = 0; first < a.rows; first += d_head) {
    std::vector<double> g = model::gram(a.view().middle_rows(first, d_head));
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
    model::multiply(factors.view().middle_rows(first, d_head), x.view().middle_rows(first, d_head), workspace,
                    result.view().middle_rows(first, d_head));
  return result;
}

/// Frobenius norms of each head's rows.
std::vector<double> norms_by_head(const ParameterRows& x, int d_head) {
  std::vector<double> norms;
  for (int first = 0; first < x.rows; first += d_head)
    norms.push_back(norm_of({x.row(first).data(), static_cast<std::size_t>(d_head * x.cols)}));
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
  if (kind == CompositionKind::q)
    return made(AttentionColumns::query, reading_of(transformer, layer, AttentionColumns::key));
  if (kind == CompositionKind::k)
    return made(AttentionColumns::key, reading_of(transformer, layer, AttentionColumns::query));
  return made(AttentionColumns::value, writing_of(transformer, layer));
}

constexpr int kVocabularyRows = 256;  // rows of the vocabulary at a time

/// [d_model, d_head]: ln_1's gain times W_Q, W_K or W_V of a head.
ParameterRows reading_of(const model::Transformer& transformer, int layer, int head,
                         AttentionColumns column) {
  const int width = transformer.config().d_head();
  return scaled_columns(transformer, layer, column, head * width, width);
}

/// [d_head, d_model]: W_O of a head with ln_f's centring and gain.
ParameterRows writing_of(const model::Transformer& transformer, int layer, int head) {
  const int width = transformer.config().d_head();
  const ParameterRows gain = parameter_rows(transformer, "ln_f.weight");
  ParameterRows result = centered(layer_rows(transformer, layer, "attn.c_proj.weight", head * width, width));
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < result.cols; ++i) result.row(j)[i] *= gain.values[i];
  return result;
}

/// x [n] times `weights` [n, m].
std::vector<float> carried(std::span<const float> x, const ParameterRows& weights) {
  std::vector<double> sum(weights.cols);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::span<const float> row = weights.row(static_cast<int>(i));
    for (std::size_t j = 0; j < sum.size(); ++j)
      sum[j] += static_cast<double>(x[i]) * static_cast<double>(row[j]);
  }
  return {sum.begin(), sum.end()};
}

/// Subtracts the mean and divides by the standard deviation.
void normalize(std::span<float> row, float epsilon) {
  const std::vector<float> x(row.begin(), row.end());
  model::divide(row, model::center(x, epsilon, row));
}

/// Rows of tokens [first, first + count) as the heads of a layer read them, before ln_1's gain: [count,
/// d_model].
ParameterRows token_rows(const model::Transformer& transformer, int layer, TokenReading reading, int first,
                         int count, model::Workspace& workspace) {
  ParameterRows stream = parameter_rows(transformer, "wte.weight", first, count);
  if (reading.after_first_mlp && layer > 0) transformer.add_mlp(0, stream.view(), workspace);
  if (reading.normalized)
    for (int i = 0; i < count; ++i) normalize(stream.row(i), transformer.config().layer_norm_epsilon);
  return stream;
}

/// Calls visit(first, rows) with all tokens as the heads of a layer read them, in blocks. Throws Stopped.
template <class Visit>
void for_all_tokens(const model::Transformer& transformer, int layer, TokenReading reading,
                    const Resources& with, const Visit& visit) {
  const int vocabulary = transformer.config().vocab_size;
  for (int first = 0; first < vocabulary; first += kVocabularyRows) {
    with.poll();
    const int count = std::min(kVocabularyRows, vocabulary - first);
    visit(first, token_rows(transformer, layer, reading, first, count, with.workspace));
  }
}

HeadTokens ranked(std::vector<float> logits, int id) {
  HeadTokens result;
  result.own = {id, logits[id]};
  result.own_rank =
      static_cast<int>(std::ranges::count_if(logits, [&](float logit) { return logit > result.own.logit; }));
  static_cast<TokenPushes&>(result) = strongest_pushes(std::move(logits));
  return result;
}

/// The copying scores of some heads of a layer, whose tokens are read once for all of them. Throws Stopped.
std::vector<double> copying_of(const model::Transformer& transformer, int layer, int first_head, int count,
                               TokenReading reading, const Resources& with) {
  std::vector<ParameterRows> in, out;
  for (int head = first_head; head < first_head + count; ++head) {
    in.push_back(reading_of(transformer, layer, head, AttentionColumns::value));
    out.push_back(transposed(writing_of(transformer, layer, head)));
  }
  std::vector<model::LowRankProduct> products;
  for (std::size_t i = 0; i < in.size(); ++i) products.emplace_back(in[i].view(), out[i].view());
  for_all_tokens(transformer, layer, reading, with, [&](int first, const ParameterRows& tokens) {
    const ParameterRows unembedding = parameter_rows(transformer, kUnembedding, first, tokens.rows);
    for (model::LowRankProduct& product : products) {
      with.poll();
      product.add(tokens.view(), unembedding.view());
    }
  });
  std::vector<double> scores;
  for (const model::LowRankProduct& product : products) {
    double sum = 0, magnitudes = 0;
    for (const std::complex<double>& value : product.eigenvalues())
      sum += value.real(), magnitudes += std::abs(value);
    scores.push_back(magnitudes > 0 ? sum / magnitudes : NAN);
  }
  return scores;
}

}  // namespace

HeadTokens TokensOfHead::compute(const PromptRun& run, const Computation<HeadTokens>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  check_head(*run.model, layer, head);
  const ParameterRows token = token_rows(transformer, layer, reading, id, 1, computation.workspace);
  const std::vector<float> value =
      carried(token.values, reading_of(transformer, layer, head, AttentionColumns::value));
  std::vector<float> logits(transformer.config().vocab_size);
  transformer.unembed(carried(value, writing_of(transformer, layer, head)), computation.workspace, logits);
  return ranked(std::move(logits), id);
}

double CopyingOfHead::compute(const PromptRun& run, const Computation<double>& computation) const {
  check_head(*run.model, layer, head);
  return copying_of(*run.model->transformer, layer, head, 1, reading, computation).front();
}

std::vector<double> CopyingOfModel::compute(const PromptRun& run,
                                            const Computation<std::vector<double>>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  std::vector<double> scores;
  for (int layer = 0; layer < config.n_layer; ++layer)
    std::ranges::copy(copying_of(transformer, layer, 0, config.n_head, reading, computation),
                      std::back_inserter(scores));
  return scores;
}

HeadTokens KeysOfToken::compute(const PromptRun& run, const Computation<HeadTokens>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  check_head(*run.model, layer, head);
  const ParameterRows token = token_rows(transformer, layer, reading, id, 1, computation.workspace);
  std::vector<float> query =
      carried(token.values, reading_of(transformer, layer, head, AttentionColumns::query));
  for (float& v : query) v *= config.attention_scale(layer);
  const std::vector<float> along =
      carried(query, transposed(reading_of(transformer, layer, head, AttentionColumns::key)));
  std::vector<float> scores;
  for_all_tokens(transformer, layer, reading, computation, [&](int, const ParameterRows& tokens) {
    for (int i = 0; i < tokens.rows; ++i) scores.push_back(static_cast<float>(dot(tokens.row(i), along)));
  });
  return ranked(std::move(scores), id);
}

TokenPairs PairsOfHead::compute(const PromptRun& run, const Computation<TokenPairs>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  check_head(*run.model, layer, head);
  ParameterRows to_query = reading_of(transformer, layer, head, AttentionColumns::query);
  for (float& v : to_query.values) v *= config.attention_scale(layer);
  const ParameterRows to_key = reading_of(transformer, layer, head, AttentionColumns::key);
  ParameterRows queries = zeros(config.vocab_size, config.d_head()), keys = queries;
  for_all_tokens(transformer, layer, reading, computation, [&](int first, const ParameterRows& tokens) {
    model::multiply(tokens.view(), to_query.view(), computation.workspace,
                    queries.view().middle_rows(first, tokens.rows));
    model::multiply(tokens.view(), to_key.view(), computation.workspace,
                    keys.view().middle_rows(first, tokens.rows));
  });
  return model::largest_entries(queries.view(), keys.view(), kMax, computation.workspace, computation.stop);
}

Composition CompositionOf::compute(const PromptRun& run, const Computation<Composition>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const int d = config.n_embd, d_head = config.d_head(), heads = config.n_head;
  Composition result;
  result.layers = config.n_layer, result.heads_per_layer = heads;
  result.baseline = d > 1 ? 1 / std::sqrt(static_cast<double>(d - 1)) : NAN;
  result.values.assign(std::ptrdiff_t{result.heads()} * result.heads(), NAN);
  std::vector<ParameterRows> of_values;  // of the layers so far: factors of W_V
  ParameterRows products = zeros(d, d);
  for (int layer = 1; layer < config.n_layer; ++layer) {
    of_values.push_back(factors_of(reading_of(transformer, layer - 1, AttentionColumns::value), d_head));
    const ParameterRows read = receivers_of(transformer, layer, kind, computation.workspace);
    const std::vector<double> read_norms = norms_by_head(read, d_head);
    const ParameterRows columns = transposed(read);
    for (int from = 0; from < layer; ++from) {
      computation.poll();
      const ParameterRows written =
          product_by_head(of_values[from], writing_of(transformer, from), computation.workspace);
      const std::vector<double> written_norms = norms_by_head(written, d_head);
      model::multiply(written.view(), columns.view(), computation.workspace, products.view());
      for (int s = 0; s < heads; ++s)
        for (int r = 0; r < heads; ++r) {
          double square = 0;
          for (int i = s * d_head; i < (s + 1) * d_head; ++i) {
            const auto part = products.row(i).subspan(std::ptrdiff_t{r} * d_head, d_head);
            square += dot(part, part);
          }
          result.values[std::ptrdiff_t{from * heads + s} * result.heads() + layer * heads + r] =
              static_cast<float>(std::sqrt(square) / (written_norms[s] * read_norms[r]));
        }
    }
    result.done = layer + 1;
    if (!result.complete())
      computation.show(result, static_cast<double>(layer * (layer + 1)) /
                                   static_cast<double>(config.n_layer * (config.n_layer - 1)));
  }
  return result;
}

Composition Composition::minus(const Composition& before, const PromptRun&) const {
  Composition result = *this;
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
