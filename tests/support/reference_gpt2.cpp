#include "tests/support/reference_gpt2.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numbers>
#include <stdexcept>

#include "model/safetensors.h"

namespace headscope::testing {
namespace {

double number_of_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

template <class Bits>
Bits bits_at(const model::TensorView& tensor, std::size_t i) {
  Bits bits{};
  std::memcpy(&bits, tensor.data.data() + i * sizeof bits, sizeof bits);
  return bits;
}

double number_at(const model::TensorView& tensor, std::size_t i) {
  if (tensor.dtype == "F16") return number_of_f16(bits_at<std::uint16_t>(tensor, i));
  const std::uint32_t bits = tensor.dtype == "BF16" ? std::uint32_t{bits_at<std::uint16_t>(tensor, i)} << 16
                                                    : bits_at<std::uint32_t>(tensor, i);
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return static_cast<double>(number);
}

double activated(model::Activation activation, double x) {
  switch (activation) {
    case model::Activation::gelu_new:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case model::Activation::gelu:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case model::Activation::relu:
      return std::max(x, 0.0);
    case model::Activation::silu:
      return x / (1 + std::exp(-x));
    case model::Activation::tanh:
      return std::tanh(x);
  }
  throw std::logic_error("an activation that the reference does not know");
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// exp(x / temperature) over its sum.
std::vector<double> softmax(std::span<const double> x, double temperature) {
  const double most = *std::max_element(x.begin(), x.end());
  std::vector<double> result;
  double sum = 0;
  for (const double value : x) sum += result.emplace_back(std::exp((value - most) / temperature));
  for (double& value : result) value /= sum;
  return result;
}

void add(std::vector<std::vector<double>>& to, const std::vector<std::vector<double>>& what) {
  for (std::size_t pos = 0; pos < to.size(); ++pos) {
    for (std::size_t i = 0; i < to[pos].size(); ++i) to[pos][i] += what[pos][i];
  }
}

}  // namespace

ReferenceGpt2::ReferenceGpt2(const std::filesystem::path& folder) {
  std::ifstream file(folder / "config.json");
  config_ = model::parse_config(std::string(std::istreambuf_iterator<char>(file), {}), "config.json");
  const model::SafetensorsFile weights = model::SafetensorsFile::open(folder / "model.safetensors");
  for (const auto& [name, tensor] : weights.tensors()) {
    if (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16") continue;
    std::size_t count = 1;
    for (const std::int64_t extent : tensor.shape) count *= static_cast<std::size_t>(extent);
    const std::string prefix = "transformer.";
    auto& values = parameters_[name.starts_with(prefix) ? name.substr(prefix.size()) : name];
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) values.push_back(number_at(tensor, i));
  }
  // A tied model may be kept under either of its names.
  if (!parameters_.contains("wte.weight")) parameters_["wte.weight"] = parameters_.at("lm_head.weight");
}

ReferenceGpt2::Rows ReferenceGpt2::affine(const Rows& x, const std::string& name) const {
  const std::vector<double>&weight = parameter(name + ".weight"), &bias = parameter(name + ".bias");
  Rows result;
  for (const std::vector<double>& row : x) {
    std::vector<double>& out = result.emplace_back(bias);
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += row[i] * weight[i * out.size() + j];
    }
  }
  return result;
}

ReferenceGpt2::Rows ReferenceGpt2::layer_norm(const Rows& x, const std::string& name) const {
  const std::vector<double>&gain = parameter(name + ".weight"), &bias = parameter(name + ".bias");
  Rows result = x;
  for (std::vector<double>& row : result) {
    const auto size = static_cast<double>(row.size());
    double mean = 0, variance = 0;
    for (const double value : row) mean += value / size;
    for (const double value : row) variance += (value - mean) * (value - mean) / size;
    const double scale = std::sqrt(variance + static_cast<double>(config_.layer_norm_epsilon));
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = (row[i] - mean) / scale * gain[i] + bias[i];
  }
  return result;
}

ReferenceGpt2::Head ReferenceGpt2::attend(const Rows& qkv, int layer, int head) const {
  const auto d_head = static_cast<std::ptrdiff_t>(config_.d_head());
  double scale = config_.scale_attn_weights ? 1 / std::sqrt(static_cast<double>(d_head)) : 1;
  if (config_.scale_attn_by_inverse_layer_idx) scale /= layer + 1;
  Head result;
  for (const std::vector<double>& row : qkv) {
    const auto part = [&](int which) {
      const auto first = row.begin() + which * config_.n_embd + head * d_head;
      return std::vector<double>(first, first + d_head);
    };
    result.q.push_back(part(0));
    result.k.push_back(part(1));
    result.v.push_back(part(2));
  }
  const std::size_t length = qkv.size();
  for (std::size_t query = 0; query < length; ++query) {
    std::vector<double>&scores = result.scores.emplace_back(), &scaled = result.scaled.emplace_back();
    for (std::size_t key = 0; key < length; ++key) {
      scores.push_back(dot(result.q[query], result.k[key]));
      scaled.push_back(scores.back() * scale);
    }
    std::vector<double>& weights =
        result.weights.emplace_back(softmax(std::span(scaled).first(query + 1), 1));
    weights.resize(length, 0);
    std::vector<double>& z = result.z.emplace_back(static_cast<std::size_t>(d_head), 0);
    for (std::size_t key = 0; key <= query; ++key) {
      for (std::size_t i = 0; i < z.size(); ++i) z[i] += weights[key] * result.v[key][i];
    }
  }
  return result;
}

ReferenceGpt2::Result ReferenceGpt2::run(std::span<const int> tokens) const {
  const auto width = static_cast<std::size_t>(config_.n_embd);
  const std::vector<double>&wte = parameter("wte.weight"), &wpe = parameter("wpe.weight");
  Result result;
  Rows resid;
  for (std::size_t pos = 0; pos < tokens.size(); ++pos) {
    std::vector<double>& row = resid.emplace_back();
    for (std::size_t i = 0; i < width; ++i)
      row.push_back(wte[static_cast<std::size_t>(tokens[pos]) * width + i] + wpe[pos * width + i]);
  }
  for (int layer = 0; layer < config_.n_layer; ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".";
    const Rows qkv = affine(layer_norm(resid, h + "ln_1"), h + "attn.c_attn");
    std::vector<Head>& heads = result.heads.emplace_back();
    Block& block = result.blocks.emplace_back();
    block.resid_pre = resid;
    Rows z(tokens.size());
    for (int head = 0; head < config_.n_head; ++head) {
      heads.push_back(attend(qkv, layer, head));
      for (std::size_t pos = 0; pos < z.size(); ++pos)
        z[pos].insert(z[pos].end(), heads.back().z[pos].begin(), heads.back().z[pos].end());
    }
    block.attn_out = affine(z, h + "attn.c_proj");
    add(resid, block.attn_out);
    block.resid_mid = resid;
    block.mlp_pre = affine(layer_norm(resid, h + "ln_2"), h + "mlp.c_fc");
    block.mlp_post = block.mlp_pre;
    for (std::vector<double>& row : block.mlp_post) {
      for (double& value : row) value = activated(config_.activation, value);
    }
    block.mlp_out = affine(block.mlp_post, h + "mlp.c_proj");
    add(resid, block.mlp_out);
    block.resid_post = resid;
  }
  const std::vector<double>& unembedding = config_.tie_word_embeddings ? wte : parameter("lm_head.weight");
  for (const std::vector<double>& row : layer_norm(resid, "ln_f")) {
    std::vector<double>& logits = result.logits.emplace_back();
    for (std::size_t id = 0; id < static_cast<std::size_t>(config_.vocab_size); ++id)
      logits.push_back(dot(row, std::span(unembedding).subspan(id * width, width)));
  }
  return result;
}

std::vector<double> ReferenceGpt2::Result::probabilities(int pos, double temperature) const {
  return softmax(logits[static_cast<std::size_t>(pos)], temperature);
}

int ReferenceGpt2::Result::rank(int pos, int token) const {
  const std::vector<double>& all = logits[static_cast<std::size_t>(pos)];
  const double own = all[static_cast<std::size_t>(token)];
  return 1 + static_cast<int>(std::count_if(all.begin(), all.end(), [&](double l) { return l > own; }));
}

}  // namespace headscope::testing
