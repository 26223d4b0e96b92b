#pragma once
#include <span>
#include <vector>

#include "model/kernels/activations.h"
#include "model/kernels/panels.h"
#include "model/kernels/view.h"

/// The kernels that this processor can run, and the small steps of the forward pass: one row or one block at
/// a time, on the calling thread.
namespace headscope::model {

/// All kernels that this processor can run, the fastest first, plain code last.
std::vector<PanelKernels> runnable_kernels();

/// The first of runnable_kernels(). Does not allocate.
PanelKernels fastest_kernels();

/// The first half of layer norm (Ba et al. 2016): centered = x - mean(x). Returns sqrt(mean(centered^2) +
/// epsilon). x, centered: [n]; sums in double.
float center(std::span<const float> x, float epsilon, std::span<float> centered);

/// row /= scale.
void divide(std::span<float> row, float scale);

/// row = row * gain + bias. All [n].
void apply_gain_and_bias(std::span<const float> gain, std::span<const float> bias, std::span<float> row);

/// row += other.
void add(std::span<const float> other, std::span<float> row);

/// y [n, m] (+)= x [n, k] w [k, m], all of them activations. next: see Multiplication.
void multiply(const PanelKernels& kernels, ConstFloatRows x, ConstFloatRows w, bool accumulate, FloatRows y,
              const float* next = nullptr);

/// Applies the MLP's non-linearity in place. gelu_new: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))),
/// Hendrycks & Gimpel 2016.
void activate(const RowKernels& kernels, Activation activation, std::span<float> row);

}  // namespace headscope::model
