#include "app/views/chosen_options.h"

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

std::vector<const OptionSpec*> chosen_options(std::span<const View* const> shown, const Options& options) {
  std::vector<const OptionSpec*> chosen;
  for (const View* view : shown)
    for (const OptionSpec* option : view->options)
      if (!option->pane_only && options.value(*option) != option->default_value &&
          has_effect(*view, *option, options) && std::ranges::count(chosen, option) == 0)
        chosen.push_back(option);
  return chosen;
}

Options options_of(const View& view, const Options& options) {
  Options own;
  for (const OptionSpec* option : view.options)
    if (!option->pane_only) own.set(*option, options.value(*option));
  return own;
}

}  // namespace headscope::app
