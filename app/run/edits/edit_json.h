#pragma once
#include <string>
#include <string_view>

#include "app/run/prompt_run.h"
#include "model/pass/edits.h"

namespace headscope::app {

/// Parses edits from a JSON list, applied in its order: objects with "site" (a TransformerLens hook), "head",
/// "positions" and "units" (left out: all) and one of "set" (a number, a list, "mean"), "scale", "add" with
/// "factor", "cells" with "renormalise", "patch" ({"prompt" or "ids", "positions", "edits"}); or with "mask"
/// ("none" or a square of 0 and 1; "layer", "head"); or with "position_ids". `null` in scores is -inf. Throws
/// model::LoadError that names `file` and the edit, counted from 1.
model::Edits parse_edits_json(std::string_view json, const std::string& file, const LoadedModel& model);

}  // namespace headscope::app
