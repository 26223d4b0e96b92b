#pragma once
#include <cstddef>
#include <string_view>

namespace headscope::app {

/// What a value is called in files and on the command line: a row of a table. Tables of others whose rows
/// have a `name` and a `value` are read in the same ways.
template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

/// Empty where the table does not have the value.
template <class Row, std::size_t kCount, class Value>
constexpr std::string_view name_of(const Row (&all)[kCount], const Value& value) {
  for (const Row& row : all)
    if (row.value == value) return row.name;
  return {};
}

}  // namespace headscope::app
