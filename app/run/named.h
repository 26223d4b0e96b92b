#pragma once
#include <cstddef>
#include <string_view>

namespace headscope::app {

/// A row of a table of names for files and the command line. Other tables whose rows have `name` and `value`
/// can be searched the same way.
template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

/// The name in files; empty if the table does not have the value.
template <class Row, std::size_t kCount, class Value>
constexpr std::string_view name_of(const Row (&all)[kCount], const Value& value) {
  for (const Row& row : all)
    if (row.value == value) return row.name;
  return {};
}

}  // namespace headscope::app
