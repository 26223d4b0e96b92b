#include <algorithm>

#include "app/recipe/recipe.h"
#include "app/run/edits/edit_text.h"

namespace headscope::app {

std::vector<WrittenEdit> written_edits(const model::Edits& edits) {
  std::vector<WrittenEdit> words;
  for (const model::Edit& edit : edits) words.push_back({edit_text(edit), true});
  return words;
}

Options options_of(const View& view, const Options& options) {
  Options own;
  for (const OptionSpec* option : view.options)
    if (!option->pane_only) own.set(*option, options.value(*option));
  return own;
}

bool has_comparison(const Session& session) {
  return session.second_model || (session.second && session.second->on) ||
         std::ranges::any_of(session.edits, &WrittenEdit::on);
}

Session figure_part(Session s, const View& view) {
  s.view = view.id;
  s.second_view.clear();
  s.panes = {};
  std::erase_if(s.edits, [](const WrittenEdit& edit) { return !edit.on; });
  if (s.second && !s.second->on) s.second.reset();
  if (s.side == Side::difference && !view.shows_difference) s.side = Side::run;
  s.options = options_of(view, s.options);
  if (!view.reads_tries) s.tries.clear();
  if (!needs_list(view, s.options)) s.prompts.reset();
  return s;
}

}  // namespace headscope::app
