#include "app/cli/arguments/without_prompt.h"

#include <algorithm>

namespace headscope::app {

bool needs_no_prompt(const View& view, const Options& options) {
  if (view.of_model == nullptr) return !view.caption.prompt;
  ViewContext context;
  context.options = options;
  return view.of_model(context);
}

void complete_prompt(Arguments& given, std::span<const std::string> views) {
  using From = PromptArguments::From;
  if (given.prompt.from == From::nothing && !given.model.patterns &&
      std::ranges::all_of(
          views, [&](const std::string& id) { return needs_no_prompt(*find_view(id), given.options); }))
    given.prompt.from = From::text;
}

}  // namespace headscope::app
