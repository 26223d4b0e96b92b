#pragma once
// GPT-2's pass over a prompt, for any kind of number.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/circuit/stream_graph.h"
#include "model/files/config.h"
#include "model/pass/hooks.h"

namespace headscope::testing {

inline double value_of(double number) {
  return number;
}

/// An activation as transformers' table defines it (activations.py).
template <class Number>
Number activated_by_hand(model::Activation activation, const Number& x) {
  using model::Activation;
  using std::erf, std::exp, std::log, std::tanh;
  const auto number = [](double value) { return Number{value}; };
  const auto gelu = [&] { return number(0.5) * x * (number(1) + erf(x / number(std::numbers::sqrt2))); };
  const auto sigmoid = [&](const Number& y) { return number(1) / (number(1) + exp(number(0) - y)); };
  const auto clamped = [&](const Number& y, double low, double high) {
    return value_of(y) < low ? number(low) : value_of(y) > high ? number(high) : y;
  };
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  switch (activation) {
    case Activation::gelu_new:
      return number(0.5) * x *
             (number(1) + tanh(number(std::sqrt(2 / std::numbers::pi)) * (x + number(0.044715) * x * x * x)));
    case Activation::gelu:
      return gelu();
    case Activation::gelu_10:
      return clamped(gelu(), -10, 10);
    case Activation::quick_gelu:
      return x * sigmoid(number(1.702) * x);
    case Activation::relu:
      return clamped(x, 0, kEndless);
    case Activation::relu2:
      return clamped(x, 0, kEndless) * clamped(x, 0, kEndless);
    case Activation::relu6:
      return clamped(x, 0, 6);
    case Activation::leaky_relu:
      return value_of(x) > 0 ? x : number(0.01) * x;
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::mish:
      return x * tanh(log(number(1) + exp(x)));
    case Activation::tanh:
      return tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::laplace:
      return number(0.5) * (number(1) + erf((x - number(0.707107)) / number(0.282095 * std::numbers::sqrt2)));
    case Activation::linear:
      return x;
  }
  throw std::logic_error("an activation that the reference does not know");
}

inline double attention_scale(const model::Config& config, int layer) {
  const double scale = config.scale_attn_weights ? 1 / std::sqrt(static_cast<double>(config.d_head())) : 1;
  return config.scale_attn_by_inverse_layer_idx ? scale / (layer + 1) : scale;
}

/// A simple pass, written for tests from the textbook definition: one scalar at a time, and no cache.
template <class Number>
struct ReferencePass {
  using Row = std::vector<Number>;
  using Rows = std::vector<Row>;  ///< [pos][units], or [query][key]

  const model::Config& config;
  std::function<const std::vector<double>&(const std::string&)> parameter;
  /// Takes each activation, of each head if it has heads; the pass goes on with what it leaves.
  std::function<void(model::HookPoint, std::vector<Rows>& heads)> hook;
  std::function<bool(int layer, int head, std::size_t query, std::size_t key)> sees;
  std::function<int(std::size_t pos)> row_of_wpe;  ///< -1: none
  std::function<Number(const Number&)> activated;
  /// What a part of the model reads in place of the stream; empty: the stream.
  std::function<Rows(model::StreamReader, const Rows& stream)> reads = {};

  /// The logits, [pos][vocabulary].
  Rows run(std::span<const int> tokens) const {
    using model::Site;
    using Reader = model::StreamReader;
    const auto d = static_cast<std::size_t>(config.n_embd);
    Rows resid, positions;
    for (std::size_t pos = 0; pos < tokens.size(); ++pos) {
      const int row = row_of_wpe(pos);
      resid.emplace_back();
      positions.emplace_back();
      for (std::size_t i = 0; i < d; ++i) {
        resid.back().push_back({parameter("wte.weight")[static_cast<std::size_t>(tokens[pos]) * d + i]});
        positions.back().push_back(
            {row < 0 ? 0 : parameter("wpe.weight")[static_cast<std::size_t>(row) * d + i]});
      }
    }
    hook_rows({Site::embed}, resid);
    hook_rows({Site::pos_embed}, positions);
    add(resid, positions);
    for (int layer = 0; layer < config.n_layer; ++layer) {
      const std::string h = "h." + std::to_string(layer) + ".";
      hook_rows({Site::resid_pre, layer}, resid);
      add(resid, attend(layer, resid));
      hook_rows({Site::resid_mid, layer}, resid);
      Rows hidden = affine(layer_norm(read({Reader::Kind::mlp, layer, 0}, resid), h + "ln_2",
                                      {Site::ln2_scale, layer}, {Site::ln2_normalized, layer}),
                           h + "mlp.c_fc");
      hook_rows({Site::mlp_pre, layer}, hidden);
      for (Row& row : hidden)
        for (Number& x : row) x = activated(x);
      hook_rows({Site::mlp_post, layer}, hidden);
      Rows out = affine(hidden, h + "mlp.c_proj");
      hook_rows({Site::mlp_out, layer}, out);
      add(resid, out);
      hook_rows({Site::resid_post, layer}, resid);
    }
    const auto& unembedding = parameter(config.tie_word_embeddings ? "wte.weight" : "lm_head.weight");
    Rows logits;
    for (const Row& row :
         layer_norm(read({}, resid), "ln_f", {Site::ln_final_scale}, {Site::ln_final_normalized})) {
      logits.emplace_back();
      for (std::size_t id = 0; id < static_cast<std::size_t>(config.vocab_size); ++id) {
        Number sum{};
        for (std::size_t i = 0; i < d; ++i) sum += row[i] * Number{unembedding[id * d + i]};
        logits.back().push_back(sum);
      }
    }
    hook_rows({Site::logits}, logits);
    return logits;
  }

 private:
  void hook_rows(model::HookPoint point, Rows& rows) const {
    std::vector<Rows> heads{std::move(rows)};
    hook(point, heads);
    rows = std::move(heads[0]);
  }

  static void add(Rows& to, const Rows& what) {
    for (std::size_t pos = 0; pos < to.size(); ++pos)
      for (std::size_t i = 0; i < to[pos].size(); ++i) to[pos][i] += what[pos][i];
  }

  Rows read(model::StreamReader reader, const Rows& stream) const {
    return reads ? reads(reader, stream) : stream;
  }

  /// `count` columns from `first` on.
  Rows affine(const Rows& x, const std::string& name, std::size_t first, std::size_t count) const {
    const auto &weight = parameter(name + ".weight"), &bias = parameter(name + ".bias");
    Rows result;
    for (const Row& row : x) {
      Row& out = result.emplace_back();
      for (std::size_t j = 0; j < count; ++j) out.push_back({bias[first + j]});
      for (std::size_t i = 0; i < row.size(); ++i)
        for (std::size_t j = 0; j < count; ++j)
          out[j] += row[i] * Number{weight[i * bias.size() + first + j]};
    }
    return result;
  }
  Rows affine(const Rows& x, const std::string& name) const {
    return affine(x, name, 0, parameter(name + ".bias").size());
  }

  Rows layer_norm(const Rows& x, const std::string& name, model::HookPoint scale_point,
                  model::HookPoint normalized_point) const {
    using std::sqrt;
    const auto &gain = parameter(name + ".weight"), &bias = parameter(name + ".bias");
    Rows normalized = x, scales;
    for (Row& row : normalized) {
      const Number size{static_cast<double>(row.size())};
      Number sum{}, squares{};
      for (const Number& value : row) sum += value;
      const Number mean = sum / size;
      for (Number& value : row) value = value - mean;
      for (const Number& value : row) squares += value * value;
      scales.push_back({sqrt(squares / size + Number{static_cast<double>(config.layer_norm_epsilon)})});
    }
    hook_rows(scale_point, scales);
    for (std::size_t pos = 0; pos < x.size(); ++pos)
      for (Number& value : normalized[pos]) value = value / scales[pos][0];
    hook_rows(normalized_point, normalized);
    for (Row& row : normalized)
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] * Number{gain[i]} + Number{bias[i]};
    return normalized;
  }

  /// Weights of 0 where no key is seen.
  static Row softmax(const Row& scores) {
    using std::exp;
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    double most = kHidden;
    for (const Number& score : scores) most = std::max(most, value_of(score));
    Row powers;
    Number total{};
    for (const Number& score : scores) {
      powers.push_back(value_of(score) == kHidden ? Number{0} : exp(score - Number{most}));
      total += powers.back();
    }
    for (Number& power : powers) power = value_of(total) == 0 ? Number{0} : power / total;
    return powers;
  }

  /// The sum of what the heads add, and the bias.
  Rows attend(int layer, const Rows& stream) const {
    using model::Site;
    const std::string block = "h." + std::to_string(layer) + ".", h = block + "attn.";
    const auto d_head = static_cast<std::size_t>(config.d_head()),
               d = static_cast<std::size_t>(config.n_embd), heads = static_cast<std::size_t>(config.n_head),
               length = stream.size();
    std::vector<Rows> q(heads), k(heads), v(heads), scores(heads), patterns(heads), zs(heads), results(heads);
    const auto normalized = [&](const Rows& from) {
      return layer_norm(from, block + "ln_1", {Site::ln1_scale, layer}, {Site::ln1_normalized, layer});
    };
    const Rows shared = reads ? Rows() : normalized(stream);
    for (std::size_t which = 0; which < 3; ++which)
      for (std::size_t head = 0; head < heads; ++head) {
        const model::StreamReader reader{static_cast<model::StreamReader::Kind>(which), layer,
                                         static_cast<int>(head)};
        (which == 0   ? q
         : which == 1 ? k
                      : v)[head] = affine(reads ? normalized(reads(reader, stream)) : shared, h + "c_attn",
                                          which * d + head * d_head, d_head);
      }
    hook({Site::q, layer}, q);
    hook({Site::k, layer}, k);
    hook({Site::v, layer}, v);
    const double scale = attention_scale(config, layer);
    for (std::size_t head = 0; head < heads; ++head)
      for (std::size_t query = 0; query < length; ++query) {
        scores[head].emplace_back(length, Number{-std::numeric_limits<double>::infinity()});
        for (std::size_t key = 0; key < length; ++key) {
          if (!sees(layer, static_cast<int>(head), query, key)) continue;
          Number dot{};
          for (std::size_t i = 0; i < d_head; ++i) dot += q[head][query][i] * k[head][key][i];
          scores[head].back()[key] = dot * Number{scale};
        }
      }
    hook({Site::attn_scores, layer}, scores);
    for (std::size_t head = 0; head < heads; ++head)
      for (const Row& row : scores[head]) patterns[head].push_back(softmax(row));
    hook({Site::pattern, layer}, patterns);
    for (std::size_t head = 0; head < heads; ++head)
      for (const Row& weights : patterns[head]) {
        Row& z = zs[head].emplace_back(d_head);
        for (std::size_t key = 0; key < length; ++key)
          for (std::size_t i = 0; i < d_head; ++i) z[i] += weights[key] * v[head][key][i];
      }
    hook({Site::z, layer}, zs);
    const auto &weight = parameter(h + "c_proj.weight"), &bias = parameter(h + "c_proj.bias");
    for (std::size_t head = 0; head < heads; ++head)
      for (const Row& z : zs[head]) {
        Row& row = results[head].emplace_back(d);
        for (std::size_t i = 0; i < d_head; ++i)
          for (std::size_t j = 0; j < d; ++j) row[j] += z[i] * Number{weight[(head * d_head + i) * d + j]};
      }
    hook({Site::result, layer}, results);
    Rows out(length);
    for (Row& row : out)
      for (const double b : bias) row.push_back({b});
    for (const Rows& result : results) add(out, result);
    hook_rows({Site::attn_out, layer}, out);
    return out;
  }
};

}  // namespace headscope::testing
