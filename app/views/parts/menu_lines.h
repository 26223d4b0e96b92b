#pragma once
#include <string_view>
#include <vector>

#include "app/views/view.h"

// Lines that the menus of several views have.
namespace headscope::app {

/// "Query 8 “·it”".
MenuLine choose_query(const ViewContext& context, int position, std::string_view words = "Query");
/// "Key 1 “·robot”", or the way back from it; nothing where the query `of` does not see it.
void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& context, int position, int of);
/// Its text and its id; the default label where none is given.
void add_copies_of_token(Facts& facts, const ViewContext& context, int id, std::string label = "");

}  // namespace headscope::app
