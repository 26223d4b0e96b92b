#include "app/views/lines_of_list.h"

#include <algorithm>

namespace headscope::app {

bool is_named_by_lines(const View& view, const OptionSpec& option, const Options& options,
                       const PromptList* prompts) {
  if (prompts == nullptr || !view.tokens.has(&option) || !is_over_list(view, options)) return false;
  const GivenToken ListedPrompt::*const token =
      view.tokens.is_other(&option) ? &ListedPrompt::other_token : &ListedPrompt::token;
  return std::ranges::none_of(prompts->prompts,
                              [&](const ListedPrompt& line) { return (line.*token).empty(); });
}

}  // namespace headscope::app
