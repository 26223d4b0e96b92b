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

/// The option with its `applies`.
template <class T>
Option<T> applying_if(bool (*applies)(const Options&), Option<T> option) {
  option.applies = applies;
  return option;
}

/// The option with its `phrase`.
template <class T>
Option<T> with_phrase(std::string_view phrase, Option<T> option) {
  option.phrase = phrase;
  return option;
}

/// The option with its `flag`.
template <class T>
Option<T> with_flag(std::string_view flag, Option<T> option) {
  option.flag = flag;
  return option;
}

// Common kinds of options, by name, label, keys (empty: none), help and, unless it is that of each choice,
// phrase.

inline Option<bool> switch_option(std::string_view name, std::string_view label, std::string_view keys,
                                  std::string_view help, std::string_view phrase, bool on = false) {
  return make_option<bool>(name, label, help, {.phrase = phrase, .default_value = on, .keys = keys});
}

/// `choices` are in the order of the enum, the default one first.
template <class Enum>
Option<Enum> choice_option(std::string_view name, std::string_view label, std::string_view keys,
                           std::string_view help, std::vector<Choice> choices) {
  return make_option<Enum>(name, label, help,
                           {.default_value = 0, .choices = std::move(choices), .keys = keys});
}

/// A number in [low, high]; without explicit steps, in even ones.
inline Option<double> number_option(std::string_view name, std::string_view label, std::string_view keys,
                                    std::string_view help, std::string_view phrase, double by_default,
                                    double low, double high, std::vector<double> steps,
                                    std::string_view default_name = "") {
  return make_option<double>(name, label, help,
                             {.phrase = phrase,
                              .default_value = by_default,
                              .default_name = default_name,
                              .low = low,
                              .high = high,
                              .steps = std::move(steps),
                              .keys = keys});
}

/// An option set by gestures in the picture: without a control, and not kept. If figures show it, it needs a
/// phrase.
template <class T>
Option<T> gesture_option(std::string_view name, std::string_view label, std::string_view help, T by_default,
                         double low, double high, std::string_view default_name = "") {
  return make_option<T>(name, label, help,
                        {.default_value = by_default,
                         .default_name = default_name,
                         .low = low,
                         .high = high,
                         .kept = false,
                         .control = Control::none});
}

/// The same option, not kept between starts of the window.
template <class T>
Option<T> session_only(Option<T> option) {
  option.kept = false;
  return option;
}

/// An option for what a pane shows, such as a scroll position, see OptionSpec::pane_only. A default below
/// `low` is "auto".
template <class T>
Option<T> pane_option(std::string_view name, T by_default, T low, T high,
                      bool reset_on_prompt_change = false) {
  Option<T> option = gesture_option(name, "", "", by_default, low, high, by_default < low ? "auto" : "");
  option.reset_on_prompt_change = reset_on_prompt_change;
  option.pane_only = true;
  return option;
}

/// Makes a view from its id, title and help, its picture, its facts and its table.
inline View make_view(Group group, std::string_view id, std::string_view title, std::string_view help,
                      decltype(View::build) build, decltype(View::facts) facts, decltype(View::table) table) {
  View view;
  view.id = id;
  view.title = title;
  view.help = help;
  view.group = group;
  view.build = build;
  view.facts = facts;
  view.table = table;
  return view;
}

}  // namespace headscope::app
