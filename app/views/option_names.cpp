#include "app/views/option_names.h"

#include <algorithm>

namespace headscope::app {
std::vector<const View*> views_in_window(std::string_view view, std::string_view second) {
  std::vector<const View*> shown;
  for (const std::string_view id : {view, second})
    if (const View* one = find_view(id)) shown.push_back(one);
  for (const View& one : views())
    if (one.place != Place::tab) shown.push_back(&one);
  return shown;
}

std::vector<WrittenOption> written_options(const Options& options, const View* view) {
  std::vector<WrittenOption> written;
  for (const OptionSpec* option : all_options()) {
    const OptionValue& value = options.value(*option);
    if (value == option->default_value) continue;
    if (view != nullptr &&
        (!std::ranges::count(view->options, option) || !has_effect(*view, *option, options)))
      continue;
    written.push_back(
        {std::string(view != nullptr ? option->flag_name() : option->name), to_text(*option, value)});
  }
  return written;
}

}  // namespace headscope::app
