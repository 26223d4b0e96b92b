#include "app/views/parts/menu_lines.h"

#include <utility>

#include "app/run/analyses/patterns.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"

namespace headscope::app {

MenuLine copy_value(float value, std::string_view name) {
  const std::string words = name.empty() ? "" : std::string(name) + " ";
  return {"Copy " + words + exact(value), {CopyText{plain(value)}}};
}

MenuLine choose_query(const ViewContext& c, int position, std::string_view words) {
  return {std::string(words) + " " + token_name(c.run->tokens, position), {SelectQuery{position}}};
}

void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& c, int position, int of) {
  if (!may_see(c, of, position)) return;
  const bool chosen = position == c.selection.key && of == c.selection.query;
  MenuLine line{(chosen ? "No longer key " : "Key ") + token_name(key_tokens(*c.run), position), {}};
  if (of != c.selection.query) line.actions.emplace_back(SelectQuery{of});
  line.actions.emplace_back(SelectKey{chosen ? -1 : position});
  menu.push_back(std::move(line));
}

void add_copies_of_token(std::vector<MenuLine>& menu, const ViewContext& c, int id, std::string_view label) {
  const auto& tokenizer = c.run->model->tokenizer;
  const std::string text(tokenizer ? tokenizer->bytes(id) : label);
  menu.push_back({"Copy “" + std::string(label) + "”", {CopyText{text}}});
  if (!tokenizer) return;
  menu.push_back({"Copy id " + std::to_string(id), {CopyText{std::to_string(id)}}});
}

}  // namespace headscope::app
