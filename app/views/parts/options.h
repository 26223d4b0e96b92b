#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "app/views/option.h"

// Options by their kind. Each begins with its name, its label, its keys (empty: none) and its line of help,
// as in OptionSpec.
namespace headscope::app {

inline Option<bool> switch_option(std::string_view name, std::string_view label, std::string_view keys,
                                  std::string_view help, bool on = false) {
  return {{.name = name, .label = label, .help = help, .default_value = on, .keys = keys}};
}

/// The choices stand in the order of the enum, the default one first.
template <class Enum>
Option<Enum> choice_option(std::string_view name, std::string_view label, std::string_view keys,
                           std::string_view help, std::vector<Choice> choices) {
  return {{.name = name,
           .label = label,
           .help = help,
           .default_value = 0,
           .choices = std::move(choices),
           .keys = keys}};
}

/// In [low, high]; without steps of its own by even ones of `step`.
inline Option<double> number_option(std::string_view name, std::string_view label, std::string_view keys,
                                    std::string_view help, double by_default, double low, double high,
                                    std::vector<double> steps, std::string_view default_name = "") {
  return {{.name = name,
           .label = label,
           .help = help,
           .default_value = by_default,
           .default_name = default_name,
           .low = low,
           .high = high,
           .steps = std::move(steps),
           .keys = keys}};
}

/// One that gestures in the picture set: it has no control, and is not kept.
template <class T>
Option<T> gesture_option(std::string_view name, std::string_view label, std::string_view help, T by_default,
                         double low, double high, std::string_view default_name = "") {
  return {{.name = name,
           .label = label,
           .help = help,
           .default_value = by_default,
           .default_name = default_name,
           .low = low,
           .high = high,
           .kept = false,
           .control = Control::none}};
}

/// The same option, not kept between starts of the window.
template <class T>
Option<T> session_only(Option<T> option) {
  option.kept = false;
  return option;
}

}  // namespace headscope::app
