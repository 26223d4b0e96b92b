#pragma once
#include <string>

#include "app/views/view.h"

namespace headscope::app {

/// What an option with another value than its default does, in the words of a caption, by its phrase: "log
/// scale", "at most 5 edges", "for “·it”".
std::string option_words(const View& view, const OptionSpec& option, const ViewContext& context);

}  // namespace headscope::app
