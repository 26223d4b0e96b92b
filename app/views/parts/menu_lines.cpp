#include "app/views/parts/menu_lines.h"

#include <utility>

#include "app/run/analyses/patterns.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"

namespace headscope::app {

MenuLine choose_query(const ViewContext& c, int position, std::string_view words) {
  return {std::string(words) + " " + token_name(c.run->tokens, position), {SelectQuery{position}}};
}

void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& c, int position, int of) {
  if (!may_see(c, of, position)) return;
  const bool chosen = position == c.selection.key && of == c.selection.query;
  MenuLine line{(chosen ? "Clear key " : "Select key ") + token_name(key_tokens(*c.run), position), {}};
  if (of != c.selection.query) line.actions.emplace_back(SelectQuery{of});
  line.actions.emplace_back(SelectKey{chosen ? -1 : position});
  menu.push_back(std::move(line));
}

void add_copies_of_token(Facts& facts, const ViewContext& c, int id, std::string label) {
  if (label.empty()) label = label_of(c, id);
  const auto& tokenizer = c.run->model->tokenizer;
  facts.copy("“" + label + "”", tokenizer ? tokenizer->text(id) : label);
  if (tokenizer) facts.value("id", std::to_string(id), Fact::Location::menu);
}

}  // namespace headscope::app
