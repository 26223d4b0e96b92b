#include "app/run/analyses/parameters.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "app/run/sources/paths.h"
#include "app/run/sources/weights_hash.h"
#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr std::int64_t kTensorValuesAtOnce = 1 << 18;  // values read at a time

/// Calls visit(first row, values of some rows) for all rows, and reports progress between `from` and `to`.
template <class Visit>
void visit_rows(const model::Transformer& transformer, int index, const TensorPicture& picture,
                const Computation<TensorPicture>& computation, double from, double to, const Visit& visit) {
  const int count =
      static_cast<int>(std::clamp<std::int64_t>(kTensorValuesAtOnce / picture.cols, 1, picture.rows));
  std::vector<float> values;
  for (int first = 0; first < picture.rows; first += count) {
    computation.poll();
    const int rows = std::min(count, picture.rows - first);
    values.resize(std::ptrdiff_t{rows} * picture.cols);
    transformer.parameter_rows(index, first, rows, values);
    visit(first, std::span<const float>(values));
    if (first + rows < picture.rows) computation.progress(from + (to - from) * first / picture.rows);
  }
}

namespace fs = std::filesystem;

std::uintmax_t size_of_weights(const fs::path& folder, const std::stop_token& stop) {
  std::uintmax_t size = 0;
  for (const std::string& name : weight_files(folder, stop))
    size += fs::file_size(folder / system::path_of(name));
  return size;
}

}  // namespace

ParameterRows parameter_rows(const model::Transformer& transformer, std::string_view name, int first,
                             int count) {
  const auto& all = transformer.report().parameters;
  if (name == kUnembedding && transformer.config().tie_word_embeddings) name = "wte.weight";
  const auto found = std::ranges::find(all, name, &model::Parameter::name);
  if (found == all.end()) throw model::RunError("the model has no parameter " + std::string(name));
  ParameterRows result;
  result.cols = static_cast<int>(found->shape.back());
  result.rows = count >= 0 ? count : found->shape.size() == 1 ? 1 : static_cast<int>(found->shape[0]);
  result.values.resize(std::ptrdiff_t{result.rows} * result.cols);
  transformer.parameter_rows(found - all.begin(), first, result.rows, result.values);
  return result;
}

ParameterRows layer_rows(const model::Transformer& transformer, int layer, std::string_view name, int first,
                         int count) {
  return parameter_rows(transformer, "h." + std::to_string(layer) + "." + std::string(name), first, count);
}

ParameterRows transposed(const ParameterRows& x) {
  ParameterRows result = zeros(x.cols, x.rows);
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) result.row(j)[i] = x.row(i)[j];
  return result;
}

std::vector<double> mean_of_tokens(const model::Transformer& transformer, std::string_view name) {
  constexpr int kRows = 1024;  // in memory at a time
  const int vocabulary = transformer.config().vocab_size;
  std::vector<double> mean(transformer.config().n_embd);
  for (int first = 0; first < vocabulary; first += kRows) {
    const ParameterRows rows = parameter_rows(transformer, name, first, std::min(kRows, vocabulary - first));
    for (int row = 0; row < rows.rows; ++row)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(rows.row(row)[i]);
  }
  for (double& value : mean) value /= vocabulary;
  return mean;
}

TensorPicture PictureOfTensor::compute(const PromptRun& run,
                                       const Computation<TensorPicture>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Parameter& parameter = transformer.report().parameters.at(index);
  TensorPicture p;
  p.cols = static_cast<int>(parameter.shape.back());
  p.rows = parameter.shape.size() > 1 ? static_cast<int>(parameter.shape.front()) : 1;
  p.pooled_rows = std::min(p.rows, TensorPicture::kMax);
  p.pooled_cols = std::min(p.cols, TensorPicture::kMax);
  p.pooled.assign(std::ptrdiff_t{p.pooled_rows} * p.pooled_cols, 0.F);
  p.low = INFINITY;
  p.high = -p.low;
  double sum = 0, squares = 0;
  std::int64_t finite = 0;
  visit_rows(transformer, index, p, computation, 0, 0.6, [&](int first, std::span<const float> values) {
    for (std::size_t at = 0; at < values.size(); at += p.cols, ++first) {
      const auto row = static_cast<std::int64_t>(first) * p.pooled_rows / p.rows;
      float* pooled = p.pooled.data() + row * p.pooled_cols;
      for (int cell = 0; cell < p.pooled_cols; ++cell) {
        float strongest = pooled[cell];
        const int end = p.first_col(cell + 1);
        for (int col = p.first_col(cell); col < end; ++col) {
          const float v = values[at + col];
          if (!std::isfinite(v)) {
            ++p.not_finite;
            strongest = NAN;
            continue;
          }
          if (std::abs(v) > std::abs(strongest)) strongest = v;
          p.low = std::min(p.low, v);
          p.high = std::max(p.high, v);
          sum += static_cast<double>(v);
          squares += static_cast<double>(v) * static_cast<double>(v);
          ++finite;
        }
        pooled[cell] = strongest;
      }
    }
  });
  if (finite > 0) {
    p.mean = sum / static_cast<double>(finite);
    p.deviation = std::sqrt(std::max(0.0, squares / static_cast<double>(finite) - p.mean * p.mean));
  } else {
    p.low = p.high = 0;
  }
  constexpr double kDeviations = 4;
  p.bins_low = std::max(static_cast<double>(p.low), p.mean - kDeviations * p.deviation);
  p.bins_high = std::min(static_cast<double>(p.high), p.mean + kDeviations * p.deviation);
  if (!(p.bins_high > p.bins_low)) {  // a constant tensor: its bin is in the middle
    const double room = p.mean != 0 ? std::abs(p.mean) / 2 : 1;
    p.bins_low -= room, p.bins_high += room;
  }
  p.bins.assign(TensorPicture::kBins, 0);
  const double step = (p.bins_high - p.bins_low) / TensorPicture::kBins;
  visit_rows(transformer, index, p, computation, 0.6, 1, [&](int, std::span<const float> values) {
    for (const float v : values) {
      if (!std::isfinite(v)) continue;
      const double x = static_cast<double>(v);
      if (x < p.bins_low || x > p.bins_high) {
        ++p.beyond;
        continue;
      }
      const int bin = static_cast<int>((x - p.bins_low) / step);
      ++p.bins[std::min(bin, TensorPicture::kBins - 1)];
    }
  });
  return p;
}

bool IsBundledModel::compute(const PromptRun& run, const Computation<bool>& computation) const {
  const std::stop_token& stop = computation.stop;
  try {
    const fs::path bundled = bundled_model();
    if (run.model->patterns) return false;
    if (fs::equivalent(bundled, run.model->folder))
      return weights_stamp(bundled, stop) == run.model->weights_stamp;
    if (size_of_weights(bundled, stop) != size_of_weights(run.model->folder, stop)) return false;
    return weights_hash(bundled, stop) == weights_hash(*run.model, stop);
  } catch (const std::runtime_error&) {  // one of the models is not there any more
    return false;
  }
}

}  // namespace headscope::app
