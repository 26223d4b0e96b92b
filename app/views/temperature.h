#pragma once
#include "app/views/option.h"

namespace headscope::app {

/// What the logits are divided by before the softmax: of the guesses at the next token and of generating.
extern const Option<double> kTemperature;

}  // namespace headscope::app
