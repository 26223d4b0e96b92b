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

/// What a name in braces stands for. Quantities have a value, percentages as fractions, which conditions can
/// compare with a limit; the others are words. Both are nothing while they are not known, and of a run.
struct Number {
  std::string_view name;
  std::optional<double> (*value)(const ViewContext&) = nullptr;
  std::string (*written)(double) = nullptr;  ///< of the value
  std::string (*words)(const ViewContext&) = nullptr;
};
/// Null: there is no such number.
const Number* find_number(std::string_view name);
/// All names, for a message: "tokens, token, …".
std::string number_names();

/// Replaces the names in braces by numbers of the shown model and prompt and of the selected query, key and
/// head. A number that is still being computed is "…".
std::string with_numbers(std::string_view text, const ViewContext& context);

}  // namespace headscope::app
