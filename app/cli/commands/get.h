#pragma once
#include "app/cli/arguments/command.h"
#include "app/cli/program.h"

namespace headscope::app {

/// Where `--get` asks for it: fetches the model that is named, unless it is here, and puts its folder in its
/// place. Throws HubError, Interrupted.
void bring_model(ModelArguments& model, const Streams& streams);

}  // namespace headscope::app
