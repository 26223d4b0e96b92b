#include "model/pass/parameters.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <type_traits>

#include "model/kernels/workspace.h"

namespace headscope::model {
namespace {

/// Where a parameter's values are stored: in panels, or as floats.
struct ParameterPlace {
  const PanelMatrix* panels = nullptr;
  bool transposed = false;  ///< a row of the parameter is a column of the panels
  std::span<const float> floats;
};

ParameterPlace place_of(const Weights& weights, std::size_t index) {
  ParameterPlace place;
  std::size_t at = 0;
  visit_parameters(weights,
                   [&](const std::string&, const ParameterShape&, const auto& part, bool transposed) {
                     if (at++ != index) return;
                     if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, PanelMatrix>) {
                       place = {&part, transposed, {}};
                     } else {
                       place = {nullptr, false, part};
                     }
                   });
  return place;
}

const void* element_at(const PanelMatrix& m, int row, int col) {
  return static_cast<const std::byte*>(m.at(col / kPanelCols, row)) +
         static_cast<std::size_t>(col % kPanelCols) * element_bytes(m.precision);
}

}  // namespace

std::vector<Parameter> parameters_of(const Config& config) {
  Weights weights;
  weights.config = config;
  weights.h.resize(config.n_layer);
  std::vector<Parameter> all;
  visit_parameters(weights, [&](const std::string& name, const ParameterShape& shape, const auto&, bool) {
    all.push_back({name, shape, ""});
  });
  return all;
}

std::int64_t value_count(const Parameter& parameter) {
  std::int64_t count = 1;
  for (const std::int64_t extent : parameter.shape) count *= extent;
  return count;
}

void Transformer::parameter_rows(std::size_t index, int first, int count, std::span<float> out) const {
  const Weights& weights = impl_->weights;
  assert(index < weights.parameters.size());
  const auto cols = static_cast<int>(weights.parameters[index].shape.back());
  assert(out.size() == static_cast<std::size_t>(count) * cols);
  const ParameterPlace place = place_of(weights, index);
  if (place.panels == nullptr) {
    std::ranges::copy(place.floats.subspan(static_cast<std::size_t>(first) * cols, out.size()), out.begin());
    return;
  }
  const PanelMatrix& m = *place.panels;
  const PanelKernels kernels = fastest_kernels();
  std::array<float, kPanelCols> piece;
  // `n` values of a row of the panels, all in the same panel.
  const auto pieces = [&](int from, int end, const auto& visit) {
    for (int col = from; col < end;) {
      const int n = std::min((col / kPanelCols + 1) * kPanelCols, end) - col;
      visit(col, n);
      col += n;
    }
  };
  if (place.transposed) {
    pieces(first, first + count, [&](int col, int n) {
      float* to = out.data() + static_cast<std::ptrdiff_t>(col - first) * cols;
      for (int k = 0; k < cols; ++k) {
        kernels.widen(element_at(m, k, col), m.precision, n, piece.data());
        for (int j = 0; j < n; ++j) to[static_cast<std::ptrdiff_t>(j) * cols + k] = piece[j];
      }
    });
    return;
  }
  for (int row = 0; row < count; ++row) {
    float* to = out.data() + static_cast<std::ptrdiff_t>(row) * cols;
    pieces(0, cols,
           [&](int col, int n) { kernels.widen(element_at(m, first + row, col), m.precision, n, to + col); });
  }
}

std::int64_t Transformer::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) count += value_count(parameter);
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
      const auto* row = static_cast<const float*>(wte.at(panel, k));
      if (wte.precision != Precision::f32) {
        workers.kernels().widen(wte.at(panel, k), wte.precision, kPanelCols, scratch);
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
