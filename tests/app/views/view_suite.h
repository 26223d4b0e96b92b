#pragma once

#include "tests/app/view_fixture.h"

// Shared by the tests that iterate over the table of views.
namespace headscope::app::testing {

inline std::vector<std::string> ids_of_views() {
  std::vector<std::string> ids;
  for (const View& view : views()) ids.emplace_back(view.id);
  return ids;
}

class ViewSuite : public ::testing::TestWithParam<std::string> {
 protected:
  const View& view() const { return *find_view(GetParam()); }
};
/// Extreme values of an option: yes and no, each choice, the limits, or corners of a matrix.
inline std::vector<OptionValue> ends_of(const OptionSpec& option) {
  std::vector<OptionValue> ends{option.default_value};
  if (std::holds_alternative<bool>(option.default_value)) {
    ends = {false, true};
  } else if (std::holds_alternative<Zoom>(option.default_value)) {
    for (const Zoom corner : {Zoom{0, 0, 1, 1}, Zoom{0, 1e6, 5, 5}, Zoom{1e6, 0, 5, 5}, Zoom{1e6, 1e6, 5, 5},
                              Zoom{2.5, 0, 6, 0}, Zoom{0, 2.5, 0, 6}, Zoom{0, 0, 1e9, 1e9}})
      ends.emplace_back(corner);
  } else if (!option.choices.empty()) {
    ends.clear();
    for (std::size_t i = 0; i < option.choices.size(); ++i) ends.emplace_back(static_cast<int>(i));
  } else if (std::holds_alternative<int>(option.default_value)) {
    for (const double end : {option.low, option.high}) ends.emplace_back(static_cast<int>(end));
  } else if (std::holds_alternative<double>(option.default_value)) {
    for (const double end : {option.low, option.high}) ends.emplace_back(end);
    if (!option.steps.empty()) ends.insert(ends.end(), {option.steps.front(), option.steps.back()});
  } else if (std::holds_alternative<TokenRef>(option.default_value)) {
    for (const char* token : {"rank:2", "id:20", " it", "no token"}) ends.emplace_back(parse_token(token));
  } else {
    const int low = static_cast<int>(option.low), high = static_cast<int>(option.high);
    for (std::vector<int> list : {std::vector{low}, {high}, {low, high}, {low, low + 1, low + 2, low + 3}})
      ends.emplace_back(std::move(list));
  }
  return ends;
}

/// Whether a value is allowed for the option.
inline ::testing::AssertionResult allowed(const OptionSpec& option, const OptionValue& value) {
  if (value.index() != option.default_value.index())
    return ::testing::AssertionFailure() << "of another type";
  Options kept;
  kept.set(option, value);
  if (kept.value(option) == value) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << to_text(option, value) << " lies beyond " << option.low << " to " << option.high;
}

/// Whether a number is in the table, or among its facts: equal, or rounded.
inline bool has_number(const Table& table, double number, double rounding) {
  const auto is_it = [&](double cell) { return cell == number || std::abs(cell - number) <= rounding; };
  return std::ranges::any_of(table.columns,
                             [&](const Column& column) {
                               return !column.has_texts() &&
                                      std::ranges::any_of(std::get<0>(column.cells), is_it);
                             }) ||
         std::ranges::any_of(table.facts, [&](const TableFact& fact) {
           const auto* value = std::get_if<double>(&fact.value);
           return value != nullptr && is_it(*value);
         });
}

}  // namespace headscope::app::testing
