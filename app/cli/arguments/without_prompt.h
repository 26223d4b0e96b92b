#pragma once
#include <span>
#include <string>

#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// Whether, with these options, the view's picture is of the weights alone, or of a list of prompts.
bool needs_no_prompt(const View& view, const Options& options);
/// Gives the views the empty prompt if no prompt was given and they need none.
void complete_prompt(Arguments& given, std::span<const std::string> views);

}  // namespace headscope::app
