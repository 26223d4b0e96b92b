#pragma once
#include <memory>
#include <optional>

#include "app/run/token_pass.h"
#include "app/views/view.h"

// The way of the selected token through the model, in the views that show parts of it.
namespace headscope::app {

/// On the side of changes what changed (see pass_change). Null while it is not there, and where nothing
/// stands for the token.
std::shared_ptr<const TokenPass> pass_of(const ViewContext& context);

/// Why there is no picture; null where `there` is one to make.
std::optional<Picture> waiting_for_pass(const ViewContext& context, bool there);

/// "change of " on the side of changes, before the name of what is shown; else nothing.
const char* change_of(const ViewContext& context);

}  // namespace headscope::app
