#include "app/run/analyses/logit_flow.h"

#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/analyses/vectors.h"
#include "app/run/run_prompt.h"
#include "model/maths/best.h"
#include "model/maths/products.h"
#include "model/pass/plan.h"

namespace headscope::app {

namespace {

auto order_of_edge(const FlowEdge& edge) {
  return std::tuple(-std::abs(edge.value), edge.layer, edge.head, edge.query, edge.key);
}

using model::HookPoint;
using model::Site;

using StrongestEdges = model::Best<FlowEdge, order_of_edge>;
using DoubleMatrix = OwnRows<double>;  // with a row for each position

/// What one head's edges come to.
struct HeadFlow {
  explicit HeadFlow(int positions) : sent(positions), arrived(positions) {}
  StrongestEdges edges{LogitFlow::kMaxEdges};
  double magnitude = 0;               ///< sum of the magnitudes of all edges
  std::vector<double> sent, arrived;  ///< [positions]
};

bool is_zero(std::span<const double> row) {
  return std::ranges::all_of(row, [](double v) { return v == 0; });
}

/// Goes back from the logit to the embeddings, block by block.
class BackwardPass {
 public:
  BackwardPass(const LogitFlowOf& question, const PromptRun& run, const Computation<LogitFlow>& computation)
      : question_(question),
        run_(run),
        kept_(*run.run),
        transformer_(*run.model->transformer),
        config_(transformer_.config()),
        computation_(computation),
        positions_(acting_positions(run, question.measured.position)),
        along_(zeros<double>(positions_, config_.n_embd)),
        recorded_(kept_.config, 0, positions_) {}

  LogitFlow run() {
    begin();
    watch();
    start_at_logit();
    for (int layer = config_.n_layer - 1; layer >= 0; --layer) {
      computation_.progress(static_cast<double>(config_.n_layer - layer) / (config_.n_layer + 1));
      computation_.poll();
      go_back_through_mlp(layer);
      go_back_through_attention(layer);
    }
    for (int position = 0; position < positions_; ++position) {
      flow_.token_embedding.push_back(dot(along_.row(position), recorded_.row({Site::embed}, position)));
      flow_.position_embedding.push_back(
          dot(along_.row(position), recorded_.row({Site::pos_embed}, position)));
    }
    flow_.edges = strongest_.sorted();
    flow_.edge_count = strongest_.count();
    return std::move(flow_);
  }

 private:
  void begin() {
    const std::vector<float> logits = logits_after(run_, question_.measured.position, computation_);
    flow_.measured = resolved(question_.measured, logits);
    flow_.layers = config_.n_layer;
    flow_.positions = positions_;
    flow_.logit = logit_of(flow_.measured, logits);
    const std::size_t cells = flow_.at(flow_.layers, 0);
    for (std::vector<double>* values :
         {&flow_.sent, &flow_.arrived, &flow_.mlps, &flow_.key_biases, &flow_.query_biases,
          &flow_.input_edits, &flow_.key_edits, &flow_.query_edits})
      values->resize(cells);
    flow_.stream.resize(cells + positions_);
    flow_.direct_mlps.resize(config_.n_layer);
  }

  /// Records what the run does not keep.
  void watch() {
    for (const Site site : {Site::embed, Site::pos_embed}) recorded_.add({site});
    for (int layer = 0; layer < config_.n_layer; ++layer) {
      recorded_.add({Site::mlp_out, layer});
      if (edits_at(run_, {Site::ln1_scale, layer})) recorded_.add({Site::ln1_scale, layer});
    }
    recorded_.read(run_, computation_);
  }

  void start_at_logit() {
    const int position = question_.measured.position;
    const LogitDirection direction = logit_direction(run_, flow_.measured, computation_);
    flow_.scale = direction.scale;
    flow_.final_bias = direction.bias;
    std::ranges::copy(direction.along, along_.row(position).begin());
    direct_.assign(direction.along.begin(), direction.along.end());
    keep_stream(config_.n_layer);
    flow_.edited = edits_after_blocks(run_);
    flow_.final_edits = final_edits(run_, position, direction, flow_.logit, computation_);
  }

  void keep_stream(int layer) {
    for (int position = 0; position < positions_; ++position)
      flow_.stream[flow_.at(layer, position)] = dot(along_.row(position), kept_.resid(layer, position));
  }

  /// Adds the flow that edits at a point bring in at each position; `along`, the direction after the edits,
  /// becomes that before them. Edits are affine, factor * value + constant: two probes tell the two apart.
  void go_back_through_edits(HookPoint point, DoubleMatrix& along, std::span<double> added, int head = 0) {
    if (!edits_at(run_, point)) return;
    flow_.edited = true;
    constexpr float kProbe = 1 << 20;  // so large that the constant does not round the factor
    std::vector<float> constant(along.values.size()), probed(along.values.size(), kProbe);
    for (std::vector<float>* values : {&constant, &probed})
      kept_.plan->apply(model::piece_of(point, model::rows_of(*values, along.cols), 0, head), kept_.means);
    for (std::size_t i = 0; i < along.values.size(); ++i) {
      added[i / static_cast<std::size_t>(along.cols)] += along.values[i] * static_cast<double>(constant[i]);
      along.values[i] *= static_cast<double>((probed[i] - constant[i]) / kProbe);
    }
  }

  std::span<double> cells_of(std::vector<double>& values, int layer) const {
    return std::span(values).subspan(flow_.at(layer, 0), positions_);
  }

  void go_back_through_mlp(int layer) {
    go_back_through_edits({Site::resid_post, layer}, along_, cells_of(flow_.query_edits, layer));
    const auto out = [&](int position) { return recorded_.row({Site::mlp_out, layer}, position); };
    for (int position = 0; position < positions_; ++position)
      flow_.mlps[flow_.at(layer, position)] = dot(along_.row(position), out(position));
    flow_.direct_mlps[layer] = dot(direct_, out(question_.measured.position));
    go_back_through_edits({Site::resid_mid, layer}, along_, cells_of(flow_.query_edits, layer));
  }

  void go_back_through_attention(int layer) {
    const int d = config_.n_embd, d_head = config_.d_head();
    DoubleMatrix branch = along_;  // on what attention adds
    go_back_through_edits({Site::attn_out, layer}, branch, cells_of(flow_.query_edits, layer));
    for (int position = 0; position < positions_; ++position)
      flow_.query_biases[flow_.at(layer, position)] =
          dot(branch.row(position), transformer_.projection_bias(layer));

    const ParameterRows w_o = layer_rows(transformer_, layer, "attn.c_proj.weight");
    DoubleMatrix on_values = zeros<double>(positions_, d);  // the direction on each key's value, by head
    DoubleMatrix on_z = direction_on_z(layer, branch, w_o);
    std::vector<HeadFlow> heads(config_.n_head, HeadFlow(positions_));
    std::vector<model::HeadIndex> indices;
    for (int head = 0; head < config_.n_head; ++head) indices.push_back({layer, head});
    patterns_of(run_, indices, computation_, [&](std::size_t head, int first, model::ConstFloatRows weights) {
      const int first_unit = static_cast<int>(head) * d_head;
      add_edges(layer, static_cast<int>(head), first, weights, on_z.view().middle_cols(first_unit, d_head),
                on_values.view().middle_cols(first_unit, d_head), heads[head]);
    });
    for (const HeadFlow& of : heads) {
      for (int position = 0; position < positions_; ++position) {
        flow_.sent[flow_.at(layer, position)] += of.sent[position];
        flow_.arrived[flow_.at(layer, position)] += of.arrived[position];
      }
      strongest_.add(of.edges);
      flow_.edge_magnitude += of.magnitude;
    }
    go_back_through_values(layer, on_values);
    keep_stream(layer);
    go_back_through_edits({Site::resid_pre, layer}, along_, cells_of(flow_.input_edits, layer));
  }

  /// [positions, d_model], by head.
  DoubleMatrix direction_on_z(int layer, const DoubleMatrix& branch, const ParameterRows& w_o) {
    const int d = config_.n_embd, d_head = config_.d_head();
    DoubleMatrix on_z = zeros<double>(positions_, d);
    for (int head = 0; head < config_.n_head; ++head) {
      DoubleMatrix own = branch;
      go_back_through_edits({Site::result, layer}, own, cells_of(flow_.query_edits, layer), head);
      model::multiply_by_transposed(std::as_const(own).view(), w_o.view().middle_rows(head * d_head, d_head),
                                    on_z.view().middle_cols(head * d_head, d_head));
    }
    go_back_through_edits({Site::z, layer}, on_z, cells_of(flow_.query_edits, layer));
    return on_z;
  }

  /// The edges of queries from `first` on, with their weights [queries, T].
  void add_edges(int layer, int head, int first, model::ConstFloatRows weights, model::ConstDoubleRows on_z,
                 model::DoubleRows on_values, HeadFlow& into) const {
    const int queries = std::min(weights.rows, positions_ - first), d_head = config_.d_head();
    if (queries <= 0) return;
    const model::ConstDoubleRows reads = on_z.middle_rows(first, queries);
    const auto unread = [&](int i) { return is_zero(reads.row(i)); };
    int begin = 0;
    while (begin < queries && unread(begin)) ++begin;
    if (begin == queries) return;
    const int keys = sees_later(run_, {layer, head}) ? positions_ : first + queries;
    std::vector<float> values(std::ptrdiff_t{keys} * d_head);
    for (int key = 0; key < keys; ++key)
      std::ranges::copy(kept_.v(layer, head, key), values.begin() + std::ptrdiff_t{key} * d_head);
    DoubleMatrix read = zeros<double>(queries - begin, keys);  // reads . v
    const auto some = reads.middle_rows(begin, queries - begin);
    model::multiply_by_transposed(some, {values.data(), keys, d_head, d_head}, read.view());
    const model::ConstFloatRows used = weights.middle_rows(begin, queries - begin).middle_cols(0, keys);
    for (int i = 0; i < used.rows; ++i) {
      const int query = first + begin + i;
      for (int key = 0; key < keys; ++key) {
        const double value = static_cast<double>(used.row(i)[key]) * read.row(i)[key];
        into.sent[key] += value;
        into.arrived[query] += value;
        if (value == 0) continue;
        into.edges.add({layer, head, query, key, value});
        into.magnitude += std::abs(value);
      }
    }
    model::add_transposed_product(used, some, on_values.middle_rows(0, keys));
  }

  /// From the heads' values through W_V and ln_1 to the stream.
  void go_back_through_values(int layer, DoubleMatrix& on_values) {
    const int d = config_.n_embd;
    go_back_through_edits({Site::v, layer}, on_values, cells_of(flow_.key_edits, layer));
    const ParameterRows c_attn = layer_rows(transformer_, layer, "attn.c_attn.weight");
    const std::vector<float> gain = layer_rows(transformer_, layer, "ln_1.weight").values;
    const std::vector<float> bias = layer_rows(transformer_, layer, "ln_1.bias").values;
    DoubleMatrix on_input = zeros<double>(positions_, d);
    model::multiply_by_transposed(std::as_const(on_values).view(), c_attn.view().middle_cols(2 * d, d),
                                  on_input.view());
    const std::span<const float> value_bias = transformer_.attention_bias(layer).subspan(std::size_t(2 * d));
    for (int position = 0; position < positions_; ++position) {
      flow_.key_biases[flow_.at(layer, position)] =
          dot(on_values.row(position), value_bias) + dot(on_input.row(position), bias);
      for (int i = 0; i < d; ++i) on_input.row(position)[i] *= static_cast<double>(gain[i]);
    }
    go_back_through_edits({Site::ln1_normalized, layer}, on_input, cells_of(flow_.key_edits, layer));
    for (int position = 0; position < positions_; ++position) {
      const std::span<double> row = on_input.row(position);
      if (is_zero(row)) continue;
      const double scale = edits_at(run_, {Site::ln1_scale, layer})
                               ? static_cast<double>(recorded_.row({Site::ln1_scale, layer}, position)[0])
                               : layer_norm_scale(kept_.resid(layer, position), config_.layer_norm_epsilon);
      const double mean = std::accumulate(row.begin(), row.end(), 0.0) / d;
      for (int i = 0; i < d; ++i) along_.row(position)[i] += (row[i] - mean) / scale;
    }
  }

  const LogitFlowOf& question_;
  const PromptRun& run_;
  const model::Run& kept_;
  const model::Transformer& transformer_;
  const model::Config& config_;
  const Computation<LogitFlow>& computation_;
  int positions_;
  DoubleMatrix along_;          ///< the direction on the stream at each position, at the place reached so far
  std::vector<double> direct_;  ///< the direction at the logit's position, at the end of the pass
  Recording recorded_;
  StrongestEdges strongest_{LogitFlow::kMaxEdges};
  LogitFlow flow_;
};

}  // namespace

double LogitFlow::sum() const {
  double all = final_bias + final_edits;
  for (const std::vector<double>* sources : {&token_embedding, &position_embedding, &mlps, &key_biases,
                                             &query_biases, &input_edits, &key_edits, &query_edits})
    all = std::accumulate(sources->begin(), sources->end(), all);
  return all;
}

LogitFlow LogitFlowOf::compute(const PromptRun& run, const Computation<LogitFlow>& computation) const {
  return BackwardPass(*this, run, computation).run();
}

FlowLens FlowLensOf::compute(const PromptRun& run, const Computation<FlowLens>& computation) const {
  const model::Run& kept = *run.run;
  FlowLens lens;
  lens.layers = kept.config.n_layer;
  lens.positions = positions;
  const int depth = lens.layers + 1;
  constexpr int kAtOnce = 16;  // positions
  for (std::size_t begin = 0; begin < positions.size();) {
    std::size_t end = begin + 1;  // consecutive positions are read together
    while (end < positions.size() && end < begin + kAtOnce && positions[end] == positions[end - 1] + 1) ++end;
    std::vector<float> rows;
    for (std::size_t i = begin; i < end; ++i)
      for (int layer = 0; layer < depth; ++layer)
        std::ranges::copy(kept.resid(layer, positions[i]), std::back_inserter(rows));
    const std::vector<int> targets(end - begin, token);
    std::ranges::move(run.model->transformer->lens(rows, depth, targets, 1, computation.workspace,
                                                   computation.stop, &kept, positions[begin]),
                      std::back_inserter(lens.readings));
    begin = end;
  }
  return lens;
}

}  // namespace headscope::app
