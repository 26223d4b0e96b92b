#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/views/view.h"

namespace headscope::app {

/// The words in braces of a text, in their order: "tokens" of "{tokens} tokens". A name ends with
/// the next closing brace; those that with_numbers replaces are these.
std::vector<std::string_view> numbers_in(std::string_view text);

/// Whether a number of the run has this name.
bool is_number_name(std::string_view name);
/// All names, for a sentence: "tokens, token, …".
std::string number_names();

/// The text with the numbers of what is shown in place of their names: of its model, its prompt, its chosen
/// query, key and head. "…" stands for one that is still computed.
std::string with_numbers(std::string_view text, const ViewContext& context);

}  // namespace headscope::app
