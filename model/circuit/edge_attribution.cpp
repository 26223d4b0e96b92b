#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/gradient/steps.h"
#include "model/gradient/transposed_product.h"
#include "model/kernels/product.h"
#include "model/maths/eigen_maps.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

/// Positions whose edges are computed together.
constexpr int kPositionsTogether = 64;

/// The metric's derivatives with respect to what the parts of the model read.
struct ReadGradients {
  std::vector<std::vector<float>> qkv;  ///< [layers][T, 3 d_model]
  std::vector<std::vector<float>> mlp;  ///< [layers][T, d_model]: the stream that the MLP reads
  std::vector<float> logits;            ///< [T, d_model]: the stream that ln_f reads
  double value = 0;                     ///< the metric
};

ReadGradients read_gradients(const Transformer& transformer, const Run& run, const Metric& metric,
                             Workspace& workspace, const std::stop_token& stop) {
  const int d = run.config.n_embd, n_layer = run.config.n_layer;
  const auto floats = static_cast<std::size_t>(run.length()) * d;
  ReadGradients found;
  found.qkv.assign(n_layer, std::vector<float>(3 * floats));
  found.mlp.assign(n_layer, std::vector<float>(floats));
  found.logits.resize(floats);
  Hooks hooks;
  for (int layer = 0; layer < n_layer; ++layer) {
    for (const auto& [site, first_col] : {std::pair(Site::q, 0), {Site::k, d}, {Site::v, 2 * d}})
      hooks.record({site, layer}, rows_of(found.qkv[layer], 3 * d).middle_cols(first_col, d));
    // After the MLP the stream has the derivatives of what follows; before it those of what the MLP reads are
    // added.
    hooks.record({Site::resid_post, layer}, rows_of(found.mlp[layer], d));
    hooks.watch({Site::resid_mid, layer}, [&, layer](const ConstActivation2d& piece) {
      const FloatRows after = rows_of(found.mlp[layer], d).middle_rows(piece.first_pos, piece.rows);
      for (int i = 0; i < piece.rows; ++i)
        std::ranges::transform(piece.row(i), after.row(i), after.row_data(i), std::minus<>());
    });
  }
  hooks.record({Site::resid_post, n_layer - 1}, rows_of(found.logits, d));
  found.value = transformer.gradients(run, metric, workspace, {.hooks = &hooks, .stop = stop});
  return found;
}

/// A reader's derivative is that of its query, key or value times the transpose of c_attn.weight, through a
/// layer norm of its own. The products with the writers' changes are made for 64 positions and one layer's
/// readers at a time. Rows are [positions together, d_model].
class EdgeAttribution {
 public:
  EdgeAttribution(const Weights& weights, const Run& run, const StreamWrites& changes,
                  const ReadGradients& gradients, Workspace::Impl& workspace)
      : weights_(weights), run_(run), changes_of_run_(changes), gradients_(gradients), workspace_(workspace) {
    const auto together = static_cast<std::size_t>(std::min(run.length(), kPositionsTogether));
    const std::size_t floats = together * width_;
    changes_.resize(floats * graph_.writer_count());
    d_seen_.resize(floats * std::max(3 * config_.n_head, 1));
    centered_.resize(floats);
    workers_.reserve_scratch(std::max(product_scratch(), transposed_product_scratch()));
  }

  void add_to(Rows<double> sums, double factor, const std::stop_token& stop) {
    sums_ = sums;
    factor_ = factor;
    for (first_ = 0; first_ < run_.length(); first_ += kPositionsTogether) {
      count_ = std::min(kPositionsTogether, run_.length() - first_);
      find_changes();
      for (int layer = 0; layer < config_.n_layer; ++layer) {
        if (stop.stop_requested()) throw Stopped();
        for (int head = 0; head < config_.n_head; ++head)
          for (int kind = 0; kind < 3; ++kind) find_d_seen(layer, head, kind);
        add_products({StreamReader::Kind::q, layer, 0}, 3 * config_.n_head);
        copy(here(gradients_.mlp[layer]), d_seen(0));
        add_products({StreamReader::Kind::mlp, layer, 0}, 1);
      }
      copy(here(gradients_.logits), d_seen(0));
      add_products({StreamReader::Kind::logits}, 1);
    }
  }

 private:
  ConstFloatRows here(const std::vector<float>& values) const {
    return rows_of(values, width_).middle_rows(first_, count_);
  }
  FloatRows block(std::vector<float>& memory, int index) const {
    return {memory.data() + std::ptrdiff_t{index} * count_ * width_, count_, width_, width_};
  }
  FloatRows change(int writer) { return block(changes_, writer); }
  FloatRows d_seen(int reader) { return block(d_seen_, reader); }

  /// changes_ = what the writers' changes add to the stream, [writers].
  void find_changes() {
    const int d_head = config_.d_head();
    for (int index = 0; index < graph_.writer_count(); ++index) {
      const auto [kind, layer, head] = graph_.writer(index);
      if (kind == StreamWriter::Kind::head)
        product(here(changes_of_run_.z[layer]).middle_cols(head * d_head, d_head),
                weights_.h[layer].attn_c_proj.weight, {head * d_head, 0}, workers_, change(index));
      else
        copy(here(kind == StreamWriter::Kind::mlp ? changes_of_run_.mlp[layer] : changes_of_run_.embedding),
             change(index));
    }
  }

  /// The metric's derivative with respect to the stream that one of a head's readers sees.
  void find_d_seen(int layer, int head, int kind) {
    const int d_head = config_.d_head(), first_col = kind * width_ + head * d_head;
    const FloatRows out = d_seen(3 * head + kind), centered = block(centered_, 0);
    const ConstFloatRows gradients =
        rows_of(gradients_.qkv[layer], 3 * width_).middle_rows(first_, count_).middle_cols(first_col, d_head);
    product_with_transposed(gradients, weights_.h[layer].attn_c_attn.weight, {0, first_col}, workers_,
                            workspace_.transposed, out);
    workers_.for_rows(count_, [&](int i) {
      const std::span<float> row = out.row(i);
      multiply_terms(weights_.h[layer].ln_1.gain, row);
      const float scale = center(run_.resid(layer, first_ + i), config_.layer_norm_epsilon, centered.row(i));
      layer_norm_gradient(centered.row(i), {scale, scale}, scale_gradient(row, centered.row(i), scale), row);
    });
  }

  /// Adds the products of the first `count` of d_seen_ with all changes that these readers see.
  void add_products(StreamReader first_reader, int count) {
    const int sources = graph_.sources(first_reader), reader = graph_.index(first_reader);
    const auto strided = [&](std::vector<float>& memory, int position, int rows) {
      return FloatRows{memory.data() + std::ptrdiff_t{position} * width_, rows, width_,
                       std::ptrdiff_t{count_} * width_};
    };
    const std::ptrdiff_t cells = std::ptrdiff_t{count} * sources;
    products_.resize(static_cast<std::size_t>(cells * count_));
    workers_.parallel_for(count_, [&](int position, float*) {
      map(FloatRows{products_.data() + cells * position, count, sources, sources}).noalias() =
          map(strided(d_seen_, position, count)) * map(strided(changes_, position, sources)).transpose();
    });
    for (int position = 0; position < count_; ++position) {
      double* const to = sums_.row_data(sums_.rows == 1 ? 0 : first_ + position) + graph_.first_edge(reader);
      const float* const from = products_.data() + cells * position;
      for (std::ptrdiff_t i = 0; i < cells; ++i) to[i] += factor_ * static_cast<double>(from[i]);
    }
  }

  const Weights& weights_;
  const Config& config_ = weights_.config;
  StreamGraph graph_{config_};
  const Run& run_;
  const StreamWrites& changes_of_run_;
  const ReadGradients& gradients_;
  Workspace::Impl& workspace_;
  Workers& workers_ = workspace_.workers;
  int width_ = config_.n_embd, first_ = 0, count_ = 0;
  std::vector<float> changes_, d_seen_;  // [writers], [readers of a layer]: blocks of positions
  std::vector<float> centered_, products_;
  Rows<double> sums_;
  double factor_ = 1;
};

}  // namespace

double Transformer::attribute_edges(const Run& run, const Metric& metric, const StreamWrites& changes,
                                    double factor, Rows<double> sums, Workspace& workspace,
                                    std::stop_token stop) const {
  if (run.plan != nullptr && std::ranges::any_of(run.plan->edits(), [](const Edit& edit) {
        return point_of(edit).site > Site::pos_embed;
      }))
    throw RunError("edges are attributed in runs without edits, but this run has edits");
  const ReadGradients gradients = read_gradients(*this, run, metric, workspace, stop);
  EdgeAttribution(impl_->weights, run, changes, gradients, workspace.impl()).add_to(sums, factor, stop);
  return gradients.value;
}

}  // namespace headscope::model
