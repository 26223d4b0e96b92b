#include "tests/support/reference_gpt2.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "model/files/safetensors.h"

namespace headscope::testing {
namespace {

double number_of_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

template <class Bits>
Bits bits_at(std::span<const std::byte> bytes, std::size_t i) {
  Bits bits{};
  std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
  return bits;
}

double number_at(std::span<const std::byte> bytes, std::string_view dtype, std::size_t i) {
  if (dtype == "F16") return number_of_f16(bits_at<std::uint16_t>(bytes, i));
  const std::uint32_t bits = dtype == "BF16" ? std::uint32_t{bits_at<std::uint16_t>(bytes, i)} << 16
                                             : bits_at<std::uint32_t>(bytes, i);
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return static_cast<double>(number);
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// exp(x / temperature), normalized.
std::vector<double> softmax(std::span<const double> x, double temperature) {
  const double most = *std::max_element(x.begin(), x.end());
  std::vector<double> result;
  double sum = 0;
  for (const double value : x) sum += result.emplace_back(std::exp((value - most) / temperature));
  for (double& value : result) value /= sum;
  return result;
}

void apply_edit(const ReferenceGpt2::Edits& edits, const std::string& hook, int head,
                ReferenceGpt2::Rows& rows) {
  if (edits.edit) edits.edit(hook, head, rows);
}

void add(std::vector<std::vector<double>>& to, const std::vector<std::vector<double>>& what) {
  for (std::size_t pos = 0; pos < to.size(); ++pos) {
    for (std::size_t i = 0; i < to[pos].size(); ++i) to[pos][i] += what[pos][i];
  }
}

}  // namespace

double activated(model::Activation activation, double x) {
  using model::Activation;
  const auto gelu = [](double y) { return 0.5 * y * (1 + std::erf(y / std::numbers::sqrt2)); };
  const auto sigmoid = [](double y) { return 1 / (1 + std::exp(-y)); };
  switch (activation) {
    case Activation::gelu_new:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_10:
      return std::clamp(gelu(x), -10.0, 10.0);
    case Activation::quick_gelu:
      return x * sigmoid(1.702 * x);
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::relu2:
      return std::max(x, 0.0) * std::max(x, 0.0);
    case Activation::relu6:
      return std::clamp(x, 0.0, 6.0);
    case Activation::leaky_relu:
      return x > 0 ? x : 0.01 * x;
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::mish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::laplace:
      return 0.5 * (1 + std::erf((x - 0.707107) / (0.282095 * std::numbers::sqrt2)));
    case Activation::linear:
      return x;
  }
  throw std::logic_error("an activation that the reference does not know");
}

ReferenceGpt2::ReferenceGpt2(const std::filesystem::path& folder) {
  std::ifstream file(folder / "config.json");
  config_ = model::parse_config(std::string(std::istreambuf_iterator<char>(file), {}), "config.json");
  const model::TensorFile weights = model::open_safetensors(folder / "model.safetensors");
  for (const auto& [name, tensor] : weights.tensors) {
    if (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16") continue;
    std::size_t count = 1;
    for (const std::int64_t extent : tensor.shape) count *= static_cast<std::size_t>(extent);
    const std::string prefix = "transformer.";
    auto& values = parameters_[name.starts_with(prefix) ? name.substr(prefix.size()) : name];
    values.reserve(count);
    const std::vector<std::byte> bytes = weights.read(tensor);
    for (std::size_t i = 0; i < count; ++i) values.push_back(number_at(bytes, tensor.dtype, i));
  }
  // A tied matrix may be stored under either of its names.
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

ReferenceGpt2::Rows ReferenceGpt2::layer_norm(const Rows& x, const std::string& name, const std::string& hook,
                                              const Edits& edits) const {
  const std::vector<double>&gain = parameter(name + ".weight"), &bias = parameter(name + ".bias");
  Rows result = x, scales;
  for (std::vector<double>& row : result) {
    const auto size = static_cast<double>(row.size());
    double mean = 0, variance = 0;
    for (const double value : row) mean += value / size;
    for (const double value : row) variance += (value - mean) * (value - mean) / size;
    scales.push_back({std::sqrt(variance + static_cast<double>(config_.layer_norm_epsilon))});
    for (double& value : row) value -= mean;
  }
  apply_edit(edits, hook + ".hook_scale", 0, scales);
  for (std::size_t pos = 0; pos < result.size(); ++pos)
    for (double& value : result[pos]) value /= scales[pos][0];
  apply_edit(edits, hook + ".hook_normalized", 0, result);
  for (std::vector<double>& row : result)
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] * gain[i] + bias[i];
  return result;
}

ReferenceGpt2::Head ReferenceGpt2::attend(const Rows& qkv, int layer, int head, const Edits& edits) const {
  const auto d_head = static_cast<std::ptrdiff_t>(config_.d_head());
  const std::string hook = "blocks." + std::to_string(layer) + ".attn.hook_";
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
  apply_edit(edits, hook + "q", head, result.q);
  apply_edit(edits, hook + "k", head, result.k);
  apply_edit(edits, hook + "v", head, result.v);
  const std::size_t length = qkv.size();
  Rows masked;
  for (std::size_t query = 0; query < length; ++query) {
    std::vector<double>&scores = result.scores.emplace_back(), &scaled = result.scaled.emplace_back();
    for (std::size_t key = 0; key < length; ++key) {
      scores.push_back(dot(result.q[query], result.k[key]));
      scaled.push_back(scores.back() * scale);
    }
    std::vector<double>& row = masked.emplace_back(scaled);
    for (std::size_t key = 0; key < length; ++key)
      if (!(edits.sees ? edits.sees(layer, head, query, key) : key <= query))
        row[key] = -std::numeric_limits<double>::infinity();
  }
  apply_edit(edits, hook + "attn_scores", head, masked);
  for (const std::vector<double>& row : masked) result.weights.push_back(softmax(row, 1));
  apply_edit(edits, hook + "pattern", head, result.weights);
  for (std::size_t query = 0; query < length; ++query) {
    std::vector<double>& z = result.z.emplace_back(static_cast<std::size_t>(d_head), 0);
    for (std::size_t key = 0; key < length; ++key)
      for (std::size_t i = 0; i < z.size(); ++i) z[i] += result.weights[query][key] * result.v[key][i];
  }
  apply_edit(edits, hook + "z", head, result.z);
  return result;
}

/// The sum of the heads' outputs and the bias.
ReferenceGpt2::Rows ReferenceGpt2::project(const std::vector<Head>& heads, int layer,
                                           const Edits& edits) const {
  const std::string name = "h." + std::to_string(layer) + ".attn.c_proj";
  const std::vector<double>&weight = parameter(name + ".weight"), &bias = parameter(name + ".bias");
  const std::size_t d_head = heads.front().z.front().size();
  Rows sum(heads.front().z.size(), bias);
  for (std::size_t head = 0; head < heads.size(); ++head) {
    Rows result(sum.size(), std::vector<double>(bias.size(), 0));
    for (std::size_t pos = 0; pos < sum.size(); ++pos)
      for (std::size_t i = 0; i < d_head; ++i)
        for (std::size_t j = 0; j < bias.size(); ++j)
          result[pos][j] += heads[head].z[pos][i] * weight[(head * d_head + i) * bias.size() + j];
    apply_edit(edits, "blocks." + std::to_string(layer) + ".attn.hook_result", static_cast<int>(head),
               result);
    add(sum, result);
  }
  return sum;
}

ReferenceGpt2::Result ReferenceGpt2::run(std::span<const int> tokens, const Edits& edits) const {
  const auto width = static_cast<std::size_t>(config_.n_embd);
  const std::vector<double>&wte = parameter("wte.weight"), &wpe = parameter("wpe.weight");
  Result result;
  Rows resid, positions;
  for (std::size_t pos = 0; pos < tokens.size(); ++pos) {
    const int id = edits.row_of_wpe ? edits.row_of_wpe(pos) : static_cast<int>(pos);
    resid.emplace_back();
    positions.emplace_back();
    for (std::size_t i = 0; i < width; ++i) {
      resid.back().push_back(wte[static_cast<std::size_t>(tokens[pos]) * width + i]);
      positions.back().push_back(id < 0 ? 0 : wpe[static_cast<std::size_t>(id) * width + i]);
    }
  }
  apply_edit(edits, "hook_embed", 0, resid);
  apply_edit(edits, "hook_pos_embed", 0, positions);
  add(resid, positions);
  for (int layer = 0; layer < config_.n_layer; ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".", hook = "blocks." + std::to_string(layer) + ".";
    apply_edit(edits, hook + "hook_resid_pre", 0, resid);
    std::vector<Head>& heads = result.heads.emplace_back();
    Block& block = result.blocks.emplace_back();
    block.resid_pre = resid;
    const Rows qkv = affine(layer_norm(resid, h + "ln_1", hook + "ln1", edits), h + "attn.c_attn");
    for (int head = 0; head < config_.n_head; ++head) heads.push_back(attend(qkv, layer, head, edits));
    block.attn_out = project(heads, layer, edits);
    apply_edit(edits, hook + "hook_attn_out", 0, block.attn_out);
    add(resid, block.attn_out);
    apply_edit(edits, hook + "hook_resid_mid", 0, resid);
    block.resid_mid = resid;
    block.mlp_pre = affine(layer_norm(resid, h + "ln_2", hook + "ln2", edits), h + "mlp.c_fc");
    apply_edit(edits, hook + "mlp.hook_pre", 0, block.mlp_pre);
    block.mlp_post = block.mlp_pre;
    for (std::vector<double>& row : block.mlp_post) {
      for (double& value : row) value = activated(config_.activation, value);
    }
    apply_edit(edits, hook + "mlp.hook_post", 0, block.mlp_post);
    block.mlp_out = affine(block.mlp_post, h + "mlp.c_proj");
    apply_edit(edits, hook + "hook_mlp_out", 0, block.mlp_out);
    add(resid, block.mlp_out);
    apply_edit(edits, hook + "hook_resid_post", 0, resid);
    block.resid_post = resid;
  }
  const std::vector<double>& unembedding = config_.tie_word_embeddings ? wte : parameter("lm_head.weight");
  for (const std::vector<double>& row : layer_norm(resid, "ln_f", "ln_final", edits)) {
    std::vector<double>& logits = result.logits.emplace_back();
    for (std::size_t id = 0; id < static_cast<std::size_t>(config_.vocab_size); ++id)
      logits.push_back(dot(row, std::span(unembedding).subspan(id * width, width)));
  }
  apply_edit(edits, "logits", 0, result.logits);
  return result;
}

std::vector<double> ReferenceGpt2::Result::probabilities(int pos, double temperature) const {
  return softmax(logits[pos], temperature);
}

int ReferenceGpt2::Result::rank(int pos, int token) const {
  const std::vector<double>& all = logits[pos];
  const double own = all[token];
  return 1 + static_cast<int>(std::count_if(all.begin(), all.end(), [&](double l) { return l > own; }));
}

}  // namespace headscope::testing
