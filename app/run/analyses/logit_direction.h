#pragma once
#include <span>
#include <vector>

#include "app/run/prompt_run.h"

namespace headscope::app {

/// A vector on the residual stream at a position adds its product with `along` to a logit, or to the
/// difference of two, with ln_f's scale held fixed; ln_f's bias adds `bias` in any case.
struct LogitDirection {
  double scale = 1;           ///< divisor in ln_f at the position: sqrt(variance + epsilon)
  std::vector<double> read;   ///< [d_model], direction after normalization, before ln_f's gain
  std::vector<double> along;  ///< [d_model], direction on the residual stream
  double bias = 0;
};

/// In place of the id of a token to subtract: the mean over the vocabulary.
constexpr int kVocabularyMean = -2;

/// The direction of `token`'s logit after a position, minus that of `against` (-1: none; or kVocabularyMean).
/// `scale`: ln_f's scale as edited; 0: computed from the stream.
LogitDirection logit_direction(const PromptRun& run, int position, int token, int against, double scale = 0);

/// The scale of a layer norm for a row: sqrt(variance + epsilon), in double.
double layer_norm_scale(std::span<const float> row, double epsilon);

/// A product, summed in double.
double product(std::span<const double> direction, std::span<const float> vector);

}  // namespace headscope::app
