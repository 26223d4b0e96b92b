#pragma once
#include <string_view>
#include <utility>

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
