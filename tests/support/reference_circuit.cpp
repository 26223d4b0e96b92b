#include "tests/support/reference_circuit.h"

#include <array>
#include <cmath>
#include <string>

#include "tests/support/reference_pass.h"
#include "tests/support/textbook.h"

namespace headscope::testing {
namespace {

void add(ReferenceCircuit::Row& to, std::span<const double> what, double factor = 1) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * what[i];
}

}  // namespace

ReferenceCircuit::Row ReferenceCircuit::layer_norm(const Row& x, const std::string& name) const {
  const Row &gain = parameters_.parameter(name + ".weight"), &bias = parameters_.parameter(name + ".bias");
  const double scale = norm_scale(x, static_cast<double>(config_.layer_norm_epsilon));
  Row result = centered(x);
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = result[i] / scale * gain[i] + bias[i];
  return result;
}

/// Columns [first, first + count) of x times a weight, plus bias.
ReferenceCircuit::Row ReferenceCircuit::affine(const Row& x, const std::string& name, std::size_t first,
                                               std::size_t count) const {
  const Row &weight = parameters_.parameter(name + ".weight"), &bias = parameters_.parameter(name + ".bias");
  Row result(bias.begin() + static_cast<std::ptrdiff_t>(first),
             bias.begin() + static_cast<std::ptrdiff_t>(first + count));
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < count; ++j) result[j] += x[i] * weight[i * bias.size() + first + j];
  return result;
}

ReferenceCircuit::Result ReferenceCircuit::run(std::span<const int> tokens, const Carry& carry) const {
  using Reader = model::StreamReader;
  const auto width = static_cast<std::size_t>(config_.n_embd),
             d_head = static_cast<std::size_t>(config_.d_head()),
             n_head = static_cast<std::size_t>(config_.n_head), length = tokens.size();
  const Row &wte = parameters_.parameter("wte.weight"), &wpe = parameters_.parameter("wpe.weight");
  Result result;
  Rows& embedding = result.written.emplace_back();
  for (std::size_t pos = 0; pos < length; ++pos) {
    Row& row = embedding.emplace_back(wpe.begin() + static_cast<std::ptrdiff_t>(pos * width),
                                      wpe.begin() + static_cast<std::ptrdiff_t>((pos + 1) * width));
    add(row, std::span(wte).subspan(static_cast<std::size_t>(tokens[pos]) * width, width));
  }
  Row biases(width);  // of attention: nobody's, and always there
  const auto seen = [&](Reader reader, std::size_t pos) {
    const int index = graph_.index(reader);
    Row sum = biases;
    for (int writer = 0; writer < graph_.sources(reader); ++writer) {
      const Row& written = result.written[writer][pos];
      add(sum, carry ? carry(writer, index, pos, written) : written);
    }
    return sum;
  };
  for (int layer = 0; layer < config_.n_layer; ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".";
    const double scale = attention_scale(config_, layer);
    const Row& projection = parameters_.parameter(h + "attn.c_proj.weight");
    std::vector<Rows> results;
    Rows& z = result.z.emplace_back(length, Row(width));
    for (std::size_t head = 0; head < n_head; ++head) {
      std::array<Rows, 3> qkv;
      for (std::size_t kind = 0; kind < 3; ++kind)
        for (std::size_t pos = 0; pos < length; ++pos)
          qkv[kind].push_back(
              affine(layer_norm(seen({static_cast<Reader::Kind>(kind), layer, static_cast<int>(head)}, pos),
                                h + "ln_1"),
                     h + "attn.c_attn", kind * width + head * d_head, d_head));
      Rows& written = results.emplace_back();
      for (std::size_t query = 0; query < length; ++query) {
        Row weights;
        double sum = 0;
        for (std::size_t key = 0; key <= query; ++key) {
          double score = 0;
          for (std::size_t i = 0; i < d_head; ++i) score += qkv[0][query][i] * qkv[1][key][i];
          sum += weights.emplace_back(std::exp(score * scale));
        }
        Row& out = written.emplace_back(width);
        for (std::size_t i = 0; i < d_head; ++i) {
          double value = 0;
          for (std::size_t key = 0; key <= query; ++key) value += weights[key] / sum * qkv[2][key][i];
          z[query][head * d_head + i] = value;
          add(out, std::span(projection).subspan((head * d_head + i) * width, width), value);
        }
      }
    }
    for (Rows& rows : results) result.written.push_back(std::move(rows));
    add(biases, parameters_.parameter(h + "attn.c_proj.bias"));
    Rows mlp;
    for (std::size_t pos = 0; pos < length; ++pos) {
      Row hidden = affine(layer_norm(seen({Reader::Kind::mlp, layer, 0}, pos), h + "ln_2"), h + "mlp.c_fc", 0,
                          static_cast<std::size_t>(config_.n_inner));
      for (double& value : hidden) value = activated(config_.activation, value);
      mlp.push_back(affine(hidden, h + "mlp.c_proj", 0, width));
    }
    result.written.push_back(std::move(mlp));
  }
  const Row& unembedding = config_.tie_word_embeddings ? wte : parameters_.parameter("lm_head.weight");
  for (std::size_t pos = 0; pos < length; ++pos) {
    const Row end = layer_norm(seen({}, pos), "ln_f");
    Row& logits = result.logits.emplace_back(static_cast<std::size_t>(config_.vocab_size));
    for (std::size_t id = 0; id < logits.size(); ++id)
      for (std::size_t i = 0; i < width; ++i) logits[id] += end[i] * unembedding[id * width + i];
  }
  return result;
}

}  // namespace headscope::testing
