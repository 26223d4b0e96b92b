#include "tests/support/reference_gradients.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>
#include <set>
#include <stdexcept>

namespace headscope::testing {
namespace {

using namespace model;
using Vector = std::vector<Taped>;
using Matrix = std::vector<Vector>;  // [pos][units] or [query][key]
constexpr double kHidden = -std::numeric_limits<double>::infinity();

template <class Of>
Taped sum(std::size_t n, const Of& of) {
  Taped total;
  for (std::size_t i = 0; i < n; ++i) total += of(i);
  return total;
}

Vector softmax(const Vector& scores) {
  double most = kHidden;
  for (const Taped& score : scores) most = std::max(most, score.value);
  Vector powers;
  for (const Taped& score : scores)
    powers.push_back(score.value == kHidden ? Taped{0} : exp(score - Taped{most}));
  const Taped total = sum(powers.size(), [&](std::size_t i) { return powers[i]; });
  for (Taped& power : powers) power = total.value == 0 ? Taped{0} : power / total;
  return powers;
}

Taped activated(Activation activation, const Taped& x) {
  switch (activation) {
    case Activation::gelu_new:
      return Taped{0.5} * x *
             (Taped{1} + tanh(Taped{std::sqrt(2 / std::numbers::pi)} * (x + Taped{0.044715} * x * x * x)));
    case Activation::gelu:
      return Taped{0.5} * x * (Taped{1} + erf(x / Taped{std::numbers::sqrt2}));
    case Activation::relu:
      return x.value > 0 ? x : Taped{0};
    case Activation::silu:
      return x / (Taped{1} + exp(Taped{0} - x));
    case Activation::tanh:
      return tanh(x);
    default:  // their slopes have a test of their own
      throw std::logic_error("an activation that the reference does not know");
  }
}

template <class T>
bool is_in(const std::vector<T>& list, T what) {
  return list.empty() || std::ranges::find(list, what) != list.end();
}

template <class T>
std::size_t index_in(const std::vector<T>& list, T what) {
  return static_cast<std::size_t>(std::ranges::find(list, what) - list.begin());
}

std::string block_name(int layer) {
  return "blocks." + std::to_string(layer) + ".";
}

}  // namespace

/// One pass over a prompt.
class ReferenceGradients::Pass {
 public:
  Pass(const ReferenceGradients& reference, std::span<const int> tokens, const Edits& edits,
       const Offset& offset)
      : reference_(reference),
        config_(reference.config_),
        tokens_(tokens.begin(), tokens.end()),
        edits_(edits),
        offset_(offset) {}

  /// Records every activation; returns the logits.
  Matrix run() {
    Matrix resid = embeddings();
    for (int layer = 0; layer < config_.n_layer; ++layer) {
      const std::string block = block_name(layer), h = "h." + std::to_string(layer) + ".";
      hook({Site::resid_pre, layer}, resid);
      const Matrix attention = attend(
          layer, layer_norm(resid, h + "ln_1", {Site::ln1_scale, layer}, {Site::ln1_normalized, layer}));
      add(resid, attention);
      hook({Site::resid_mid, layer}, resid);
      Matrix hidden =
          affine(layer_norm(resid, h + "ln_2", {Site::ln2_scale, layer}, {Site::ln2_normalized, layer}),
                 h + "mlp.c_fc");
      hook({Site::mlp_pre, layer}, hidden);
      for (Vector& row : hidden)
        for (Taped& x : row) x = activated(config_.activation, x);
      hook({Site::mlp_post, layer}, hidden);
      Matrix out = affine(hidden, h + "mlp.c_proj");
      hook({Site::mlp_out, layer}, out);
      add(resid, out);
      hook({Site::resid_post, layer}, resid);
    }
    const Matrix end = layer_norm(resid, "ln_f", {Site::ln_final_scale}, {Site::ln_final_normalized});
    const auto& unembedding = parameter(config_.tie_word_embeddings ? "wte.weight" : "lm_head.weight");
    Matrix logits;
    for (const Vector& row : end) {
      logits.emplace_back();
      for (int id = 0; id < config_.vocab_size; ++id)
        logits.back().push_back(sum(row.size(), [&](std::size_t i) {
          return row[i] * Taped{unembedding[static_cast<std::size_t>(id) * row.size() + i]};
        }));
    }
    hook({Site::logits}, logits);
    return logits;
  }

  Result read(const Taped& metric) const {
    Result result;
    result.metric = metric.value;
    const std::vector<double> gradient = tape_.gradient_of(metric.node);
    for (const auto& [name, numbers] : recorded_)
      for (const Taped& number : numbers) {
        result.values[name].push_back(number.value);
        result.gradients[name].push_back(gradient[number.node]);
      }
    return result;
  }

 private:
  const std::vector<double>& parameter(const std::string& name) const {
    return reference_.parameters_.parameter(name);
  }
  std::size_t length() const { return tokens_.size(); }

  static void add(Matrix& to, const Matrix& what) {
    for (std::size_t pos = 0; pos < to.size(); ++pos)
      for (std::size_t i = 0; i < to[pos].size(); ++i) to[pos][i] += what[pos][i];
  }

  Matrix affine(const Matrix& x, const std::string& name) const {
    const auto &weight = parameter(name + ".weight"), &bias = parameter(name + ".bias");
    Matrix result;
    for (const Vector& row : x) {
      Vector& out = result.emplace_back();
      for (std::size_t j = 0; j < bias.size(); ++j)
        out.push_back(Taped{bias[j]} + sum(row.size(), [&](std::size_t i) {
                        return row[i] * Taped{weight[i * bias.size() + j]};
                      }));
    }
    return result;
  }

  Matrix embeddings() {
    const auto d = static_cast<std::size_t>(config_.n_embd);
    Matrix tokens, positions;
    for (std::size_t pos = 0; pos < length(); ++pos) {
      int row = static_cast<int>(pos);
      for (const Edit& edit : edits_)
        if (const auto* ids = std::get_if<SetPositionIds>(&edit); ids && pos < ids->ids.size())
          row = ids->ids[pos];
      tokens.emplace_back();
      positions.emplace_back();
      for (std::size_t i = 0; i < d; ++i) {
        tokens.back().push_back({parameter("wte.weight")[static_cast<std::size_t>(tokens_[pos]) * d + i]});
        positions.back().push_back(
            {row < 0 ? 0 : parameter("wpe.weight")[static_cast<std::size_t>(row) * d + i]});
      }
    }
    hook({Site::embed}, tokens);
    hook({Site::pos_embed}, positions);
    add(tokens, positions);
    return tokens;
  }

  Matrix layer_norm(const Matrix& x, const std::string& name, HookPoint scale_point,
                    HookPoint normalized_point) {
    const auto &gain = parameter(name + ".weight"), &bias = parameter(name + ".bias");
    Matrix centered, scales;
    for (const Vector& row : x) {
      const Taped size{static_cast<double>(row.size())};
      const Taped mean = sum(row.size(), [&](std::size_t i) { return row[i]; }) / size;
      Vector& out = centered.emplace_back();
      for (const Taped& value : row) out.push_back(value - mean);
      const Taped variance = sum(row.size(), [&](std::size_t i) { return out[i] * out[i]; }) / size;
      scales.push_back({sqrt(variance + Taped{static_cast<double>(config_.layer_norm_epsilon)})});
    }
    hook(scale_point, scales);
    for (std::size_t pos = 0; pos < x.size(); ++pos)
      for (Taped& value : centered[pos]) value = value / scales[pos][0];
    hook(normalized_point, centered);
    for (Vector& row : centered)
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] * Taped{gain[i]} + Taped{bias[i]};
    return centered;
  }

  bool sees(int layer, int head, std::size_t query, std::size_t key) const {
    bool result = key <= query;
    for (const Edit& edit : edits_) {
      const auto* mask = std::get_if<SetMask>(&edit);
      if (mask == nullptr || (mask->layer && *mask->layer != layer) || (mask->head && *mask->head != head))
        continue;
      if (mask->sees.empty()) {
        result = true;
      } else {
        result = std::max(query, key) < mask->sees.size() ? mask->sees[query][key] : key <= query;
      }
    }
    return result;
  }

  /// By head: what each head adds to the sum, which has the bias.
  Matrix attend(int layer, const Matrix& input) {
    const std::string h = "h." + std::to_string(layer) + ".attn.";
    const Matrix qkv = affine(input, h + "c_attn");
    const auto d_head = static_cast<std::size_t>(config_.d_head()),
               d = static_cast<std::size_t>(config_.n_embd);
    std::vector<Matrix> q, k, v, scores, patterns, zs, results;
    for (std::size_t head = 0; head < static_cast<std::size_t>(config_.n_head); ++head) {
      const auto part = [&](std::size_t which) {
        Matrix rows;
        for (const Vector& row : qkv) {
          const auto first = row.begin() + static_cast<std::ptrdiff_t>(which * d + head * d_head);
          rows.emplace_back(first, first + static_cast<std::ptrdiff_t>(d_head));
        }
        return rows;
      };
      q.push_back(part(0));
      k.push_back(part(1));
      v.push_back(part(2));
    }
    hook_heads({Site::q, layer}, q);
    hook_heads({Site::k, layer}, k);
    hook_heads({Site::v, layer}, v);
    double scale = config_.scale_attn_weights ? 1 / std::sqrt(static_cast<double>(d_head)) : 1;
    if (config_.scale_attn_by_inverse_layer_idx) scale /= layer + 1;
    for (std::size_t head = 0; head < q.size(); ++head) {
      Matrix& rows = scores.emplace_back();
      for (std::size_t query = 0; query < length(); ++query) {
        rows.emplace_back();
        for (std::size_t key = 0; key < length(); ++key)
          rows.back().push_back(
              sees(layer, static_cast<int>(head), query, key)
                  ? Taped{scale} *
                        sum(d_head, [&](std::size_t i) { return q[head][query][i] * k[head][key][i]; })
                  : Taped{kHidden});
      }
    }
    hook_heads({Site::attn_scores, layer}, scores);
    for (const Matrix& of_head : scores) {
      Matrix& rows = patterns.emplace_back();
      for (const Vector& row : of_head) rows.push_back(softmax(row));
    }
    hook_heads({Site::pattern, layer}, patterns);
    for (std::size_t head = 0; head < q.size(); ++head) {
      Matrix& rows = zs.emplace_back();
      for (const Vector& weights : patterns[head]) {
        rows.emplace_back();
        for (std::size_t i = 0; i < d_head; ++i)
          rows.back().push_back(
              sum(length(), [&](std::size_t key) { return weights[key] * v[head][key][i]; }));
      }
    }
    hook_heads({Site::z, layer}, zs);
    const auto &weight = parameter(h + "c_proj.weight"), &bias = parameter(h + "c_proj.bias");
    for (std::size_t head = 0; head < q.size(); ++head) {
      Matrix& rows = results.emplace_back();
      for (const Vector& z : zs[head]) {
        rows.emplace_back();
        for (std::size_t j = 0; j < d; ++j)
          rows.back().push_back(
              sum(d_head, [&](std::size_t i) { return z[i] * Taped{weight[(head * d_head + i) * d + j]}; }));
      }
    }
    hook_heads({Site::result, layer}, results);
    Matrix out;
    for (std::size_t pos = 0; pos < length(); ++pos) {
      out.emplace_back();
      for (std::size_t j = 0; j < d; ++j)
        out.back().push_back(Taped{bias[j]} +
                             sum(q.size(), [&](std::size_t head) { return results[head][pos][j]; }));
    }
    hook({Site::attn_out, layer}, out);
    return out;
  }

  // --- edits ---

  void hook(HookPoint point, Matrix& rows) {
    std::vector<Matrix> heads{std::move(rows)};
    hook_heads(point, heads);
    rows = std::move(heads[0]);
  }

  void hook_heads(HookPoint point, std::vector<Matrix>& heads) {
    for (std::size_t i = 0; i < edits_.size(); ++i)
      if (point_of(edits_[i]) == point)
        for (std::size_t head = 0; head < heads.size(); ++head)
          apply(edits_[i], point, static_cast<int>(head), heads[head]);
    record(point, heads);
  }

  /// Marks every number, so that its derivative can be read.
  void record(HookPoint point, std::vector<Matrix>& heads) {
    const std::string name = hook_name(point);
    Vector& all = recorded_[name];
    const auto mark = [&](Taped& number) {
      if (offset_.hook == name && offset_.cell == all.size()) number.value += offset_.by;
      number = number.marked(tape_);
      all.push_back(number);
    };
    if (has_cells(point.site)) {
      for (Matrix& head : heads)
        for (Vector& row : head)
          for (Taped& number : row) mark(number);
      return;
    }
    for (std::size_t pos = 0; pos < length(); ++pos)
      for (Matrix& head : heads)
        for (Taped& number : head[pos]) mark(number);
  }

  void apply(const Edit& edit, HookPoint point, int head, Matrix& rows) {
    const Matrix before = rows;
    const auto each = [&](const EditSite& at, const auto& body) {
      if (at.head && *at.head != head) return;
      for (std::size_t pos = 0; pos < rows.size(); ++pos) {
        if (!is_in(at.positions, static_cast<int>(pos))) continue;
        for (std::size_t unit = 0; unit < rows[pos].size(); ++unit) {
          if (!is_in(at.units, static_cast<int>(unit))) continue;
          if (has_cells(point.site) && !sees(point.layer, head, pos, unit)) continue;
          body(pos, unit, at.units.empty() ? unit : index_in(at.units, static_cast<int>(unit)));
        }
      }
    };
    const auto value_of = [&](const EditSite& at, const std::vector<float>& list, std::size_t i) {
      const std::size_t units = at.units.empty() ? rows.front().size() : at.units.size();
      if (list.size() == 1) return Taped{static_cast<double>(list[0])};
      return Taped{
          static_cast<double>(list[list.size() == units ? i : static_cast<std::size_t>(head) * units + i])};
    };
    if (const auto* set = std::get_if<SetValues>(&edit))
      each(set->at, [&](std::size_t pos, std::size_t unit, std::size_t i) {
        rows[pos][unit] = value_of(set->at, set->values, i);
      });
    if (const auto* scale = std::get_if<ScaleValues>(&edit))
      each(scale->at, [&](std::size_t pos, std::size_t unit, std::size_t) {
        Taped& value = rows[pos][unit];
        if (value.value != kHidden) value = value * Taped{static_cast<double>(scale->factor)};
      });
    if (const auto* add = std::get_if<AddVector>(&edit))
      each(add->at, [&](std::size_t pos, std::size_t unit, std::size_t i) {
        rows[pos][unit] += Taped{static_cast<double>(add->factor)} * value_of(add->at, add->vector, i);
      });
    if (const auto* mean = std::get_if<SetMean>(&edit))
      each(mean->at, [&](std::size_t pos, std::size_t unit, std::size_t) {
        rows[pos][unit] = sum(before.size(), [&](std::size_t p) { return before[p][unit]; }) /
                          Taped{static_cast<double>(before.size())};
      });
    if (const auto* set = std::get_if<SetCells>(&edit)) set_cells(*set, point, head, rows);
    if (const auto* patch = std::get_if<PatchFrom>(&edit)) put_patch(*patch, point, head, rows);
  }

  void set_cells(const SetCells& set, HookPoint point, int head, Matrix& rows) {
    if (set.head && *set.head != head) return;
    for (std::size_t query = 0; query < rows.size(); ++query) {
      std::set<std::size_t> keys;
      for (const CellValue& cell : set.cells) {
        const auto key = static_cast<std::size_t>(cell.key);
        const bool all = cell.query == CellValue::kAllQueries;
        const bool is_set = all ? key < rows.size() && sees(point.layer, head, query, key)
                                : static_cast<std::size_t>(cell.query) == query && key < rows.size();
        if (!is_set) continue;
        rows[query][key] = {static_cast<double>(cell.value)};
        keys.insert(key);
      }
      if (!set.renormalise || keys.empty()) continue;
      Taped own, others;
      for (std::size_t key = 0; key < rows.size(); ++key)
        (keys.contains(key) ? own : others) += rows[query][key];
      if (others.value <= 0) continue;
      for (std::size_t key = 0; key < rows.size(); ++key)
        if (!keys.contains(key)) rows[query][key] = rows[query][key] * (Taped{1} - own) / others;
    }
  }

  void put_patch(const PatchFrom& patch, HookPoint point, int head, Matrix& rows) {
    if (patch.at.head && *patch.at.head != head) return;
    Pass other(reference_, patch.tokens, no_edits_, no_offset_);
    other.run();
    const Vector& source = other.recorded_.at(hook_name(point));
    const std::size_t length = patch.tokens.size();
    const bool cells = has_cells(point.site);
    const std::size_t heads = has_heads(point.site) ? static_cast<std::size_t>(config_.n_head) : 1;
    const std::size_t width = cells ? length : rows[0].size();
    for (std::size_t pos = 0; pos < rows.size(); ++pos) {
      if (!is_in(patch.at.positions, static_cast<int>(pos))) continue;
      const std::size_t from =
          patch.positions.empty() ? pos
                                  : static_cast<std::size_t>(
                                        patch.positions[index_in(patch.at.positions, static_cast<int>(pos))]);
      if (from >= length) continue;
      const std::size_t begin = (cells ? static_cast<std::size_t>(head) * length + from
                                       : from * heads + static_cast<std::size_t>(head)) *
                                width;
      for (std::size_t unit = 0; unit < rows[pos].size(); ++unit) {
        if (!is_in(patch.at.units, static_cast<int>(unit))) continue;
        const double missing = point.site == Site::pattern ? 0 : kHidden;
        rows[pos][unit] = {unit < width ? source[begin + unit].value : missing};
      }
    }
  }

  const ReferenceGradients& reference_;
  const Config& config_;
  std::vector<int> tokens_;
  const Edits& edits_;
  const Offset& offset_;
  const Edits no_edits_;
  const Offset no_offset_;
  Tape tape_;
  std::map<std::string, Vector> recorded_;
};

ReferenceGradients::ReferenceGradients(const std::filesystem::path& folder) : parameters_(folder) {
  std::ifstream file(folder / "config.json");
  config_ = parse_config(std::string(std::istreambuf_iterator<char>(file), {}), "config.json");
}

ReferenceGradients::Result ReferenceGradients::run(std::span<const int> tokens, const Edits& edits,
                                                   const Metric& metric, const Offset& offset) const {
  Pass pass(*this, tokens, edits, offset);
  const Matrix logits = pass.run();
  const auto row_at = [&](int position) -> const Vector& {
    return position < 0 ? logits.back() : logits[static_cast<std::size_t>(position)];
  };
  const auto log_probability = [&](const Vector& row, int token) {
    Taped total;
    for (const Taped& logit : row) total += exp(logit);
    return row[token] - log(total);
  };
  Taped value;
  if (const auto* of = std::get_if<TokenLogit>(&metric)) value = row_at(of->position)[of->token];
  if (const auto* of = std::get_if<LogitDifference>(&metric))
    value = row_at(of->position)[of->token] - row_at(of->position)[of->against];
  if (const auto* of = std::get_if<LogProbability>(&metric))
    value = log_probability(row_at(of->position), of->token);
  if (std::holds_alternative<PromptLoss>(metric)) {
    for (std::size_t pos = 0; pos + 1 < tokens.size(); ++pos)
      value = value - log_probability(logits[pos], tokens[pos + 1]);
    value = value / Taped{static_cast<double>(tokens.size() - 1)};
  }
  if (const auto* of = std::get_if<Divergence>(&metric)) {
    double total = 0;
    for (const float logit : of->baseline) total += std::exp(static_cast<double>(logit));
    for (std::size_t id = 0; id < of->baseline.size(); ++id) {
      const double p = std::exp(static_cast<double>(of->baseline[id])) / total;
      if (p > 0)
        value +=
            Taped{p} * (Taped{std::log(p)} - log_probability(row_at(of->position), static_cast<int>(id)));
    }
  }
  return pass.read(value);
}

}  // namespace headscope::testing
