#include "app/run/analyses/circuit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "app/run/analyses/parameters.h"
#include "model/maths/sum.h"

namespace headscope::app {
namespace {

using model::StreamReader;
using model::StreamWriter;

/// All shares that are not followed further, because they are too small, together.
constexpr double kLeftOut = 1e-3;

// In double: proximities are differences of sums that may be much larger.
double size_of(std::span<const float> row) {
  return model::sum_in_lanes<16>(row.size(), [&](std::size_t i) { return std::abs(row[i]); });
}

/// Sets the shares of parts in their sum: by their proximities, or all 0 if none is near. value(part, i): of
/// the part's vector.
void set_shares(std::span<float> shares, std::span<const float> sum, const auto& value) {
  const double size = size_of(sum);
  double all = 0;
  for (std::size_t part = 0; part < shares.size(); ++part) {
    const double distance =
        model::sum_in_lanes<16>(sum.size(), [&](std::size_t i) { return std::abs(value(part, i) - sum[i]); });
    shares[part] = static_cast<float>(std::max(0.0, size - distance));
    all += static_cast<double>(shares[part]);
  }
  if (all > 0)
    for (float& share : shares) share = static_cast<float>(static_cast<double>(share) / all);
}

/// See flow_shares.
class Flow {
 public:
  Flow(const PromptRun& run, const model::StreamWrites& writes, bool by_position,
       const Computation<Circuit>& computation)
      : run_(run),
        writes_(writes),
        computation_(computation),
        config_(run.run->config),
        graph_(config_),
        length_(run.run->length()),
        width_(config_.n_embd),
        rows_(by_position ? length_ : 1),
        arrived_(zeros<double>(graph_.writer_count(), length_)),
        shares_(zeros((2 * config_.n_layer + 1) * length_, graph_.writer_count())),
        scores_(zeros<double>(rows_, graph_.edge_count())),
        least_(kLeftOut / static_cast<double>(arrived_.values.size())) {
    for (int layer = 0; layer < config_.n_layer; ++layer)
      projections_.push_back(layer_rows(*run.model->transformer, layer, "attn.c_proj.weight"));
  }

  std::vector<float> from(model::Positions measured) {
    for (int position = 0; position < length_; ++position) {
      find_shares(position);
      computation_.progress(0.5 * position / length_);
    }
    for (int i = 0; i < measured.count; ++i) divide({}, measured.first + i, 1.0 / measured.count);
    for (int layer = config_.n_layer - 1; layer >= 0; --layer) {
      const int mlp = graph_.index(StreamWriter{StreamWriter::Kind::mlp, layer, 0});
      for (int position = 0; position < length_; ++position)
        divide({StreamReader::Kind::mlp, layer, 0}, position, arrived(mlp, position));
      for (int head = 0; head < config_.n_head; ++head) {
        divide_head(layer, head);
        computation_.progress(1 - 0.5 * (layer + 1 - (head + 1.0) / config_.n_head) / config_.n_layer);
      }
    }
    return {scores_.values.begin(), scores_.values.end()};
  }

 private:
  double& arrived(int writer, int position) { return arrived_.row(writer)[position]; }
  /// Sums of the stream: before each layer's attention, before its MLP, and at the end.
  static int sum_of(StreamReader reader, int n_layer) {
    if (reader.kind == StreamReader::Kind::logits) return 2 * n_layer;
    return 2 * reader.layer + (reader.kind == StreamReader::Kind::mlp ? 1 : 0);
  }
  std::span<float> shares(int sum, int position) { return shares_.row(sum * length_ + position); }
  std::span<const float> row(const std::vector<float>& values, int position) const {
    return model::rows_of(values, width_).row(position);
  }

  /// z of a head times its rows of c_proj.weight.
  std::vector<float> projected(int layer, int head, std::span<const float> z) const {
    std::vector<float> out(width_);
    for (int i = 0; i < config_.d_head(); ++i) {
      const std::span<const float> weights = projections_[layer].row(head * config_.d_head() + i);
      for (int j = 0; j < width_; ++j) out[j] += z[i] * weights[j];
    }
    return out;
  }

  /// The shares of all parts in every sum of a position.
  void find_shares(int position) {
    computation_.poll();
    std::vector<std::vector<float>> parts;
    std::vector<float> stream(width_);
    const auto write = [&](std::span<const float> written) {
      parts.emplace_back(written.begin(), written.end());
      for (int i = 0; i < width_; ++i) stream[i] += written[i];
    };
    const auto divide_sum = [&](int sum) {
      set_shares(shares(sum, position).first(parts.size()), stream,
                 [&](std::size_t part, std::size_t i) { return parts[part][i]; });
    };
    write(row(writes_.embedding, position));
    for (int layer = 0; layer < config_.n_layer; ++layer) {
      divide_sum(2 * layer);
      for (int head = 0; head < config_.n_head; ++head)
        write(projected(layer, head,
                        row(writes_.z[layer], position).subspan(head * config_.d_head(), config_.d_head())));
      const std::span<const float> bias = run_.model->transformer->projection_bias(layer);
      for (int i = 0; i < width_; ++i) stream[i] += bias[i];
      divide_sum(2 * layer + 1);
      write(row(writes_.mlp[layer], position));
    }
    divide_sum(2 * config_.n_layer);
  }

  /// Divides what arrives at a reader among the parts that it reads.
  void divide(StreamReader reader, int position, double share) {
    if (share < least_) return;
    const std::span<const float> of = shares(sum_of(reader, config_.n_layer), position);
    const int first = graph_.first_edge(graph_.index(reader));
    const std::span<double> to = scores_.row(rows_ == 1 ? 0 : position).subspan(first);
    for (int writer = 0; writer < graph_.sources(reader); ++writer) {
      const double part = share * static_cast<double>(of[writer]);
      to[writer] += part;
      arrived(writer, position) += part;
    }
  }

  /// Divides what arrives at a head among the values of its keys.
  void divide_head(int layer, int head) {
    const int writer = graph_.index(StreamWriter{StreamWriter::Kind::head, layer, head});
    const auto takes = [&](int position) { return arrived(writer, position) >= least_; };
    int last = length_ - 1;
    while (last >= 0 && !takes(last)) --last;
    if (last < 0) return;
    computation_.poll();
    std::vector<std::vector<float>> values;  // [keys][d_model], as each would arrive with weight 1
    for (int key = 0; key <= last; ++key)
      values.push_back(projected(layer, head, run_.run->v(layer, head, key)));
    std::vector<double> to(last + 1);
    ParameterRows pattern = zeros(length_, length_);
    run_.model->transformer->pattern(*run_.run, layer, head, pattern.values);
    for (int query = 0; query <= last; ++query) {
      if (!takes(query)) continue;
      const auto weights = pattern.row(query).first(query + 1);
      std::vector<float> sum(width_), near(weights.size());
      for (std::size_t key = 0; key < weights.size(); ++key)
        for (int i = 0; i < width_; ++i) sum[i] += weights[key] * values[key][i];
      set_shares(near, sum, [&](std::size_t key, std::size_t i) { return weights[key] * values[key][i]; });
      for (std::size_t key = 0; key < near.size(); ++key)
        to[key] += arrived(writer, query) * static_cast<double>(near[key]);
    }
    for (int key = 0; key <= last; ++key) divide({StreamReader::Kind::v, layer, head}, key, to[key]);
  }

  const PromptRun& run_;
  const model::StreamWrites& writes_;
  const Computation<Circuit>& computation_;
  const model::Config config_;
  model::StreamGraph graph_;
  int length_;
  int width_;
  int rows_;
  std::vector<ParameterRows> projections_;  // [layers]
  OwnRows<double> arrived_;                 // [writers, T]
  OwnRows<float> shares_;                   // [(2 layers + 1) * T, writers]
  OwnRows<double> scores_;                  // [rows_, edges]
  double least_;                            // shares below this are not followed
};

}  // namespace

std::vector<float> flow_shares(const PromptRun& run, const model::StreamWrites& writes,
                               const model::Metric& metric, bool by_position,
                               const Computation<Circuit>& computation) {
  return Flow(run, writes, by_position, computation).from(model::positions_of(metric, run.run->length()));
}

}  // namespace headscope::app
