#pragma once
#include <string_view>
#include <vector>

#include "app/views/view.h"

// Lines that the menus of several views have.
namespace headscope::app {

// Lines of menus.
/// "Copy −0.4123", all digits of it; "Copy score −0.4123" where there are several.
MenuLine copy_value(float value, std::string_view name = "");
/// "Query 8 “·it”".
MenuLine choose_query(const ViewContext& context, int position, std::string_view words = "Query");
/// "Key 1 “·robot”", or the way back from it; nothing where the query `of` does not see it.
void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& context, int position, int of);
/// Its text and its id.
void add_copies_of_token(std::vector<MenuLine>& menu, const ViewContext& context, int id,
                         std::string_view label);

}  // namespace headscope::app
