#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "app/views/view.h"

// How views and their options are declared.
namespace headscope::app {

/// An option by its name, its label and its help; `rest` is all else that there is to know of it.
template <class T>
Option<T> make_option(std::string_view name, std::string_view label, std::string_view help, OptionSpec rest) {
  rest.name = name;
  rest.label = label;
  rest.help = help;
  return {std::move(rest)};
}

// The common kinds, each by its name, its label, its keys (empty: none) and its help.

inline Option<bool> switch_option(std::string_view name, std::string_view label, std::string_view keys,
                                  std::string_view help, bool on = false) {
  return make_option<bool>(name, label, help, {.default_value = on, .keys = keys});
}

/// The choices stand in the order of the enum, the default one first.
template <class Enum>
Option<Enum> choice_option(std::string_view name, std::string_view label, std::string_view keys,
                           std::string_view help, std::vector<Choice> choices) {
  return make_option<Enum>(name, label, help,
                           {.default_value = 0, .choices = std::move(choices), .keys = keys});
}

/// In [low, high]; without steps of its own by even ones of `step`.
inline Option<double> number_option(std::string_view name, std::string_view label, std::string_view keys,
                                    std::string_view help, double by_default, double low, double high,
                                    std::vector<double> steps, std::string_view default_name = "") {
  return make_option<double>(name, label, help,
                             {.default_value = by_default,
                              .default_name = default_name,
                              .low = low,
                              .high = high,
                              .steps = std::move(steps),
                              .keys = keys});
}

/// One that gestures in the picture set: it has no control, and is not kept.
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

/// The same option, of panes alone: figures show all, whatever part of it a pane does.
template <class T>
Option<T> pane_only(Option<T> option) {
  option.pane_only = true;
  return option;
}

/// A view by its id, its title and its help, with its picture, what is said of places in it, and its file.
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
