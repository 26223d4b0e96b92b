#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <type_traits>

#include "model/files/parameters.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

/// out [n, depth] = the transpose of n columns from `first` on, some of them at a time.
void read_columns(const PanelMatrix& m, int first, FloatRows out) {
  const PanelKernels kernels = fastest_kernels();
  std::vector<float> memory(static_cast<std::size_t>(m.depth) * kPanelCols);
  for (int done = 0; done < out.rows; done += kPanelCols) {
    const int count = std::min(kPanelCols, out.rows - done);
    const FloatRows columns{memory.data(), m.depth, count, count};
    m.read(kernels, 0, first + done, columns);
    kernels.transpose(columns.data, count, m.depth, count, out.row_data(done), out.stride);
  }
}

}  // namespace

void Transformer::parameter_rows(std::size_t index, int first, int count, std::span<float> out) const {
  std::size_t at = 0;
  visit_parameters(impl_->weights, [&](const std::string&, const ParameterShape& shape, const auto& part,
                                       bool transposed) {
    if (at++ != index) return;
    const auto cols = static_cast<int>(shape.back());
    assert(out.size() == static_cast<std::size_t>(count) * cols);
    const FloatRows rows{out.data(), count, cols, cols};
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(part)>, PanelMatrix>) {
      std::ranges::copy(part.subspan(static_cast<std::size_t>(first) * cols, out.size()), out.begin());
    } else if (transposed) {
      read_columns(part, first, rows);
    } else {
      part.read(fastest_kernels(), first, 0, rows);
    }
  });
}

std::int64_t Transformer::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : report().parameters) count += parameter.count();
  return count;
}

void Transformer::compare_embeddings(std::span<const float> vector, Workspace& workspace,
                                     std::span<float> dots, std::span<float> norms) const {
  const PanelMatrix& wte = impl_->weights.wte;
  assert(vector.size() == static_cast<std::size_t>(wte.depth));
  Workers& workers = workspace.impl().workers;
  workers.reserve_scratch(kPanelCols);
  workers.parallel_for(wte.panels(), [&](int panel, float* scratch) {
    std::array<float, kPanelCols> dot{}, square{};
    for (int k = 0; k < wte.depth; ++k) {
      const auto* row = static_cast<const float*>(wte.at(k, panel * kPanelCols));
      if (wte.precision != Precision::f32) {
        workers.kernels().widen(row, wte.precision, kPanelCols, scratch);
        row = scratch;
      }
      const float x = vector[k];
      for (std::size_t j = 0; j < kPanelCols; ++j) {
        dot[j] += x * row[j];
        square[j] += row[j] * row[j];
      }
    }
    const auto first = static_cast<std::size_t>(panel) * kPanelCols;
    const std::size_t count = std::min<std::size_t>(kPanelCols, dots.size() - first);
    for (std::size_t j = 0; j < count; ++j) {
      dots[first + j] = dot[j];
      norms[first + j] = std::sqrt(square[j]);
    }
  });
}

}  // namespace headscope::model
