#include "app/views/option_names.h"

#include <algorithm>

namespace headscope::app {
namespace {

/// The first of the shown views, else of all, that has an option.
const View& view_with(const OptionSpec& option, std::span<const View* const> shown) {
  const auto has = [&](const View& view) {
    return std::ranges::find(view.options, &option) != view.options.end();
  };
  for (const View* view : shown)
    if (has(*view)) return *view;
  return *std::ranges::find_if(views(), has);
}

/// The option that a view calls so, by its flag or its own name. Null: none.
const OptionSpec* option_of_flag(const View& view, std::string_view flag) {
  for (const OptionSpec* option : view.options)
    if (!option->pane_only && (flag == option->name || flag == option->flag_name())) return option;
  return nullptr;
}

}  // namespace

std::vector<ViewOption> options_of_flag(std::string_view flag, std::span<const View* const> shown) {
  std::vector<ViewOption> found;
  const auto add = [&](const View& view) {
    const OptionSpec* option = option_of_flag(view, flag);
    if (option != nullptr && std::ranges::find(found, option, &ViewOption::option) == found.end())
      found.push_back({&view, option});
  };
  std::ranges::for_each(shown, [&](const View* view) { add(*view); });
  if (found.empty()) std::ranges::for_each(views(), add);
  const auto named =
      std::ranges::find_if(found, [&](const ViewOption& one) { return one.option->name == flag; });
  return named == found.end() ? found : std::vector{*named};
}

std::vector<const View*> views_in_window(std::string_view view, std::string_view second) {
  std::vector<const View*> shown;
  for (const std::string_view id : {view, second})
    if (const View* one = find_view(id)) shown.push_back(one);
  for (const View& one : views())
    if (one.place != Place::tab) shown.push_back(&one);
  return shown;
}

std::vector<WrittenOption> written_options(const Options& options, std::span<const View* const> shown,
                                           bool only_applying) {
  std::vector<WrittenOption> written;
  for (const OptionSpec* option : all_options()) {
    const OptionValue& value = options.value(*option);
    if (value == option->default_value) continue;
    if (only_applying && !has_effect(view_with(*option, shown), *option, options)) continue;
    const std::string_view flag = option->flag_name();
    const std::vector<ViewOption> meant = options_of_flag(flag, shown);
    const bool has_flag = meant.size() == 1 && meant.front().option == option;
    written.push_back({std::string(has_flag ? flag : option->name), to_text(*option, value)});
  }
  return written;
}

}  // namespace headscope::app
