#include "tests/support/reference_gpt2.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>

#include "model/files/safetensors.h"
#include "model/kernels/kernels.h"
#include "tests/support/number_matrix.h"
#include "tests/support/reference_pass.h"

namespace headscope::testing {
namespace {

/// exp(x / temperature), normalized.
std::vector<double> softmax(std::span<const double> x, double temperature) {
  const double most = *std::max_element(x.begin(), x.end());
  std::vector<double> result;
  double sum = 0;
  for (const double value : x) sum += result.emplace_back(std::exp((value - most) / temperature));
  for (double& value : result) value /= sum;
  return result;
}

}  // namespace

double activated(model::Activation activation, double x) {
  return activated_by_hand(activation, x);
}

ReferenceGpt2::ReferenceGpt2(const std::filesystem::path& folder, model::Precision precision) {
  std::ifstream file(folder / "config.json");
  config_ = model::parse_config(std::string(std::istreambuf_iterator<char>(file), {}), "config.json");
  const model::TensorFile weights = model::open_safetensors(folder / "model.safetensors");
  using model::Precision;
  const std::map<std::string, Precision> types{
      {"F32", Precision::f32}, {"F16", Precision::f16}, {"BF16", Precision::bf16}};
  for (const auto& [name, tensor] : weights.tensors) {
    if (!types.contains(tensor.dtype)) continue;
    const Precision stored = types.at(tensor.dtype);
    const std::vector<std::byte> bytes = tensor.read();
    std::vector<float> values(bytes.size() / element_bytes(stored));
    model::fastest_kernels().widen(bytes.data(), stored, static_cast<int>(values.size()), values.data());
    if (tensor.shape.size() == 2 && !name.ends_with("wpe.weight"))  // a matrix of products
      for (float& value : values) value = rounded(value, precision);
    const std::string prefix = "transformer.";
    parameters_[name.starts_with(prefix) ? name.substr(prefix.size()) : name].assign(values.begin(),
                                                                                     values.end());
  }
  // A tied matrix may be stored under either of its names.
  if (!parameters_.contains("wte.weight")) parameters_["wte.weight"] = parameters_.at("lm_head.weight");
}

ReferenceGpt2::Result ReferenceGpt2::run(std::span<const int> tokens, const Edits& edits) const {
  using model::Site;
  Result result;
  result.blocks.resize(config_.n_layer);
  result.heads.resize(config_.n_layer, std::vector<Head>(config_.n_head));
  ReferencePass<double> pass{
      .config = config_,
      .parameter = [this](const std::string& name) -> const std::vector<double>& { return parameter(name); },
      .hook = {},
      .sees =
          edits.sees ? edits.sees : [](int, int, std::size_t query, std::size_t key) { return key <= query; },
      .row_of_wpe =
          edits.row_of_wpe ? edits.row_of_wpe : [](std::size_t pos) { return static_cast<int>(pos); },
      .activated = [this](double x) { return testing::activated(config_.activation, x); },
      .reads = edits.reads};
  pass.hook = [&](model::HookPoint point, std::vector<Rows>& heads) {
    for (std::size_t head = 0; head < heads.size(); ++head)
      if (edits.edit) edits.edit(hook_name(point), static_cast<int>(head), heads[head]);
    static const std::map<Site, Rows Head::*> of_heads{{Site::q, &Head::q},
                                                       {Site::k, &Head::k},
                                                       {Site::v, &Head::v},
                                                       {Site::pattern, &Head::weights},
                                                       {Site::z, &Head::z}};
    static const std::map<Site, Rows Block::*> of_blocks{
        {Site::resid_pre, &Block::resid_pre},  {Site::attn_out, &Block::attn_out},
        {Site::resid_mid, &Block::resid_mid},  {Site::mlp_pre, &Block::mlp_pre},
        {Site::mlp_post, &Block::mlp_post},    {Site::mlp_out, &Block::mlp_out},
        {Site::resid_post, &Block::resid_post}};
    if (const auto kept = of_blocks.find(point.site); kept != of_blocks.end())
      result.blocks[point.layer].*kept->second = heads[0];
    if (const auto kept = of_heads.find(point.site); kept != of_heads.end())
      for (std::size_t head = 0; head < heads.size(); ++head)
        result.heads[point.layer][head].*kept->second = heads[head];
  };
  result.logits = pass.run(tokens);
  for (int layer = 0; layer < config_.n_layer; ++layer)
    for (Head& head : result.heads[layer])
      for (const auto& q : head.q) {
        std::vector<double>&scores = head.scores.emplace_back(), &scaled = head.scaled.emplace_back();
        for (const auto& k : head.k) {
          scores.push_back(std::inner_product(q.begin(), q.end(), k.begin(), 0.0));
          scaled.push_back(scores.back() * attention_scale(config_, layer));
        }
      }
  return result;
}

double logit_error(std::span<const float> found, const ReferenceGpt2::Rows& expected) {
  double largest = 0, difference = 0;
  for (std::size_t pos = 0; pos < expected.size(); ++pos)
    for (std::size_t id = 0; id < expected[pos].size(); ++id) {
      const double logit = expected[pos][id];
      largest = std::max(largest, std::abs(logit));
      difference =
          std::max(difference, std::abs(logit - static_cast<double>(found[pos * expected[pos].size() + id])));
    }
  return difference / largest;
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
