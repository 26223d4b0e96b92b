#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/files/config.h"
#include "tests/app/view_fixture.h"
#include "tests/support/textbook.h"

namespace headscope::app::testing {

/// The pass with its patterns and the scales of its layer norms held fixed and without its MLPs, by the
/// textbook.
class FrozenPass {
  using Vector = std::vector<double>;
  using Rows = ReferenceGpt2::Rows;

 public:
  FrozenPass(const ReferenceGpt2& model, const model::Config& config, std::span<const int> tokens)
      : model_(model), config_(config), tokens_(tokens.begin(), tokens.end()), result_(model.run(tokens)) {}

  const ReferenceGpt2::Result& result() const { return result_; }
  /// `against`: < 0: of the token alone.
  double logit(int position, int token, int against) const {
    const Vector& logits = result_.logits[at(position)];
    return logits[at(token)] - (against >= 0 ? logits[at(against)] : 0);
  }
  Vector row(const std::string& name, int index = 0) const { return row_of(model_, name, index); }

  /// What a head writes at a query for one key.
  Vector written(int layer, int head, int query, int key) const {
    const ReferenceGpt2::Head& of = result_.heads[at(layer)][at(head)];
    Vector value = of.v[at(key)];
    for (double& x : value) x *= of.weights[at(query)][at(key)];
    return head_output(model_, layer, head, value);
  }

  /// What `vector`, added at a position to the stream that enters `layer`, adds to a logit.
  double reach(const Vector& vector, int layer, int position, int target, int token, int against) const {
    Rows stream(tokens_.size(), Vector(at(config_.n_embd)));
    stream[at(position)] = vector;
    for (int l = layer; l < config_.n_layer; ++l) attend(stream, l);
    const Vector normalized =
        normalize(stream[at(target)], result_.blocks.back().resid_post[at(target)], "ln_f");
    Vector u = row(unembedding(), token);
    if (against >= 0) {
      const Vector other = row(unembedding(), against);
      for (std::size_t i = 0; i < u.size(); ++i) u[i] -= other[i];
    }
    return dot(normalized, u);
  }
  double final_bias(int token, int against) const {
    const Vector bias = row("ln_f.bias");
    return dot(bias, row(unembedding(), token)) - (against >= 0 ? dot(bias, row(unembedding(), against)) : 0);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const char* unembedding() const { return config_.tie_word_embeddings ? "wte.weight" : "lm_head.weight"; }

  /// Without the bias; the scale is that of `of`.
  Vector normalize(const Vector& vector, const Vector& of, const std::string& name) const {
    const double scale = norm_scale(of, static_cast<double>(config_.layer_norm_epsilon));
    const Vector difference = centered(vector);
    Vector out = row(name + ".weight");
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= difference[i] / scale;
    return out;
  }
  void attend(Rows& stream, int layer) const {
    const std::string h = "h." + std::to_string(layer) + ".";
    const Vector &c_attn = model_.parameter(h + "attn.c_attn.weight"),
                 &w_o = model_.parameter(h + "attn.c_proj.weight");
    const auto d = at(config_.n_embd), d_head = at(config_.d_head());
    Rows values, added(stream.size(), Vector(d));
    for (std::size_t key = 0; key < stream.size(); ++key) {
      const Vector x = normalize(stream[key], result_.blocks[at(layer)].resid_pre[key], h + "ln_1");
      Vector& v = values.emplace_back(d);
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j) v[j] += x[i] * c_attn[i * 3 * d + 2 * d + j];
    }
    for (std::size_t query = 0; query < stream.size(); ++query) {
      Vector z(d);
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t key = 0; key < stream.size(); ++key)
          z[j] += result_.heads[at(layer)][j / d_head].weights[query][key] * values[key][j];
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t i = 0; i < d; ++i) added[query][i] += z[j] * w_o[j * d + i];
    }
    for (std::size_t query = 0; query < stream.size(); ++query)
      for (std::size_t i = 0; i < d; ++i) stream[query][i] += added[query][i];
  }

  const ReferenceGpt2& model_;
  model::Config config_;
  std::vector<int> tokens_;
  ReferenceGpt2::Result result_;
};

}  // namespace headscope::app::testing
