#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/views/view.h"

namespace headscope::app {

/// The names in braces in a text, in order: "tokens" for "{tokens} tokens". A name ends at the next closing
/// brace.
std::vector<std::string_view> numbers_in(std::string_view text);

/// Whether this is the name of a number.
bool is_number_name(std::string_view name);
/// All names, for a message: "tokens, token, …".
std::string number_names();

/// The name of a number with a value, such as "weight", as a text that lasts; empty: it has none ("token"),
/// or there is no such number.
std::string_view quantity_named(std::string_view name);
/// Its value, percentages as fractions; nothing while it is not known.
std::optional<double> quantity(std::string_view name, const ViewContext& context);

/// Replaces the names in braces by numbers of the shown model and prompt and of the selected query, key and
/// head. A number that is still being computed is "…".
std::string with_numbers(std::string_view text, const ViewContext& context);

}  // namespace headscope::app
