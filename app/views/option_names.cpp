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

/// The option that a view calls so, by its flag or its own name; for a token's flag that of its rank. Null:
/// none.
const OptionSpec* option_of_flag(const View& view, std::string_view flag) {
  if (flag == kTokenFlag && view.tokens.rank != nullptr) return view.tokens.rank;
  if (flag == kOtherTokenFlag && view.tokens.other_rank != nullptr) return view.tokens.other_rank;
  for (const OptionSpec* option : view.options)
    if (flag == option->name || (flag == option->flag_name() && !view.tokens.has(option))) return option;
  return nullptr;
}

}  // namespace

std::string flag_of(const View& view, const OptionSpec& option) {
  if (!view.tokens.has(&option)) return std::string(option.flag_name());
  return std::string(view.tokens.is_other(&option) ? kOtherTokenFlag : kTokenFlag);
}

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
    const View& view = view_with(*option, shown);
    const bool is_token = view.tokens.has(option);
    const bool is_id = &view.tokens.deciding(*option) != option;
    if (only_applying ? !has_effect(view, *option, options) : view.tokens.is_replaced(*option, options))
      continue;
    const std::string flag = flag_of(view, *option);
    const std::vector<ViewOption> meant = options_of_flag(flag, shown);
    const bool has_flag = meant.size() == 1 && meant.front().option == &view.tokens.deciding(*option);
    const std::string text = to_text(*option, value);
    written.push_back({has_flag ? flag : std::string(option->name),
                       is_token && has_flag ? (is_id ? "id:" : "rank:") + text : text});
  }
  return written;
}

}  // namespace headscope::app
