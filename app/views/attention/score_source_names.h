#pragma once
#include <string>

#include "app/run/analyses/score_sources.h"

namespace headscope::app {

/// "token embedding", "L3 H2", "L3 bias" (attention's), "L3 MLP", "ln_1 bias", "W_Q bias" (or of W_K),
/// "edits"; for all of a layer's heads "L3 attention".
std::string name_of(const ScoreSource& source, bool of_key);

}  // namespace headscope::app
