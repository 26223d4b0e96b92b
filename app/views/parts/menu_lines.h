#pragma once
#include <string_view>
#include <vector>

#include "app/views/view.h"

// Menu lines shared by several views.
namespace headscope::app {

/// "Select query 8 “·it”".
MenuLine choose_query(const ViewContext& context, int position, std::string_view words = "Select query");
/// Adds "Select key 1 “·robot”", or the line that clears it; nothing if the query `of` does not see it.
void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& context, int position, int of);
/// Adds lines that copy a token's text and id; with the default label if none is given.
void add_copies_of_token(Facts& facts, const ViewContext& context, int id, std::string label = "");

}  // namespace headscope::app
