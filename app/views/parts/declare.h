#pragma once
#include <utility>

#include "app/views/view.h"

// Helpers to declare views and their options.
namespace headscope::app {

/// Makes an option from its name, label and help; `rest` has all other properties.
template <class T>
Option<T> make_option(std::string_view name, std::string_view label, std::string_view help, OptionSpec rest) {
  rest.name = name;
  rest.label = label;
  rest.help = help;
  return {std::move(rest)};
}

// Common kinds of options, by name, label, keys (empty: none) and help; `rest` has all other properties.

inline Option<bool> switch_option(std::string_view name, std::string_view label, std::string_view keys,
                                  std::string_view help, bool on = false, OptionSpec rest = {}) {
  rest.default_value = on;
  rest.keys = keys;
  return make_option<bool>(name, label, help, std::move(rest));
}

/// `choices` are in the order of the enum; the first one is the default unless `rest` names another.
template <class Enum>
Option<Enum> choice_option(std::string_view name, std::string_view label, std::string_view keys,
                           std::string_view help, std::vector<Choice> choices, OptionSpec rest = {}) {
  if (!std::holds_alternative<int>(rest.default_value)) rest.default_value = 0;
  rest.choices = std::move(choices);
  rest.keys = keys;
  return make_option<Enum>(name, label, help, std::move(rest));
}

/// A number in [low, high], in even steps unless `rest` has others.
template <class Number>
Option<Number> number_option(std::string_view name, std::string_view label, std::string_view keys,
                             std::string_view help, Number by_default, double low, double high,
                             OptionSpec rest = {}) {
  rest.default_value = by_default;
  rest.low = low, rest.high = high;
  rest.keys = keys;
  return make_option<Number>(name, label, help, std::move(rest));
}

/// A list of numbers or heads, empty by default.
inline Option<std::vector<int>> list_option(std::string_view name, std::string_view label,
                                            std::string_view help, std::string_view default_name,
                                            OptionSpec rest = {}) {
  rest.default_value = std::vector<int>();
  rest.default_name = default_name;
  rest.high = rest.heads ? kHeadNumbers * kHeadNumbers - 1 : 1 << 24;
  return make_option<std::vector<int>>(name, label, help, std::move(rest));
}

/// An option set by gestures in the picture: without a control, and not kept.
template <class T>
Option<T> gesture_option(std::string_view name, std::string_view label, std::string_view help, T by_default,
                         double low, double high, std::string_view default_name = "", OptionSpec rest = {}) {
  rest.default_value = by_default;
  rest.default_name = default_name;
  rest.low = low;
  rest.high = high;
  rest.kept = false;
  rest.control = Control::none;
  return make_option<T>(name, label, help, std::move(rest));
}

/// An option for what a pane shows, such as a scroll position, see OptionSpec::pane_only. A default below
/// `low` is "auto". A view reads it in its boxes only, when these are placed.
template <class T>
Option<T> pane_option(std::string_view name, T by_default, T low, T high,
                      bool reset_on_prompt_change = false) {
  return gesture_option(
      name, "", "", by_default, low, high, by_default < low ? "auto" : "",
      {.reset_on_prompt_change = reset_on_prompt_change, .pane_only = true, .of_drawing = true});
}

}  // namespace headscope::app
