#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/views/view.h"

namespace headscope::app {

/// The names in braces of a text, in order, which with_numbers replaces: "tokens" of "{tokens} tokens". A
/// name ends at the next closing brace.
std::vector<std::string_view> numbers_in(std::string_view text);

/// Whether a number of the run has this name.
bool is_number_name(std::string_view name);
/// All names, for a sentence: "tokens, token, …".
std::string number_names();

/// The text with numbers in place of their names: of the shown model and prompt, of the chosen query, key and
/// head. "…" stands for one that is still being computed.
std::string with_numbers(std::string_view text, const ViewContext& context);

}  // namespace headscope::app
