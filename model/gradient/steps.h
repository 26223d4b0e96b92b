#pragma once
#include <span>

#include "model/kernels/activations.h"
#include "model/kernels/panels.h"

/// The derivatives of the small steps of the forward pass, one row at a time, on the calling thread. Sums in
/// double.
namespace headscope::model {

/// In place: the derivative of the MLP's non-linearity at each value. relu has 0 at 0.
void activation_slopes(const RowKernels& kernels, Activation activation, std::span<float> row);

/// The derivative with respect to a layer norm's scale, through the division by it: -sum(gradient * centered)
/// / scale^2. gradient: with respect to the quotient, centered / scale; both [n].
float scale_gradient(std::span<const float> gradient, std::span<const float> centered, float scale);

/// The divisor in a layer norm, as computed and as edits left it.
struct LayerNormScale {
  float computed = 1;
  float used = 1;
};

/// gradient: with respect to the quotient, and in the end, in place, to the layer norm's input: c - mean(c),
/// where c = gradient / scale.used + of_scale * centered / (n * scale.computed). `of_scale`: with respect to
/// the computed scale, which depends on the input as well.
void layer_norm_gradient(std::span<const float> centered, LayerNormScale scale, float of_scale,
                         std::span<float> gradient);

/// In place: from the derivatives with respect to a softmax's weights to those with respect to its scores.
void softmax_gradient(std::span<const float> weights, std::span<float> gradient);

/// row *= other, term by term.
void multiply_terms(std::span<const float> other, std::span<float> row);

}  // namespace headscope::model
