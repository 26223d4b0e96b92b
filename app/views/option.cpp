#include "app/views/option.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "app/ascii.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/pass/each_kind.h"

namespace headscope::app {
namespace {

/// Calls the function in `cases` that takes the value's type.
template <class Value, class... Cases>
auto match(Value&& value, Cases... cases) {
  return std::visit(model::EachKind{cases...}, std::forward<Value>(value));
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse_value(const OptionSpec& option, std::string_view found) {
  throw std::invalid_argument("--" + std::string(option.name) + " takes " + expected(option) + ", not " +
                              model::quote(found) + ".");
}

template <class T>
T number_in(const OptionSpec& option, std::string_view part, std::string_view text) {
  const auto value = parsed<T>(part);
  const auto wide = static_cast<double>(value.value_or(T{}));
  if (!value || !(wide >= option.low && wide <= option.high)) refuse_value(option, text);
  return *value;
}

/// Parses one number of a list, or "5.1" for heads or cells; none if it is unreadable or out of range.
std::optional<int> list_part(const OptionSpec& option, std::string_view part) {
  part = trimmed(part, " ");
  std::optional<int> number;
  if (option.heads || option.cells) {
    const std::vector<std::string_view> words = split(part, ".");
    const auto layer = parsed<int>(words.front()), head = parsed<int>(words.back());
    const auto fits = [](int n) { return n >= 0 && n < kHeadNumbers; };
    if (words.size() == 2 && layer && head && fits(*layer) && fits(*head))
      number = head_number(*layer, *head);
  } else {
    number = parsed<int>(part);
  }
  if (number && (*number < option.low || *number > option.high)) return std::nullopt;
  return number;
}

std::string list_part_text(const OptionSpec& option, int number) {
  if (!option.heads && !option.cells) return std::to_string(number);
  const auto [layer, head] = head_of_number(number);
  return std::to_string(layer) + "." + std::to_string(head);
}

Zoom parse_zoom(const OptionSpec& option, std::string_view text) {
  const std::vector<std::string_view> axes = split(text, ",");
  if (axes.size() != 2) refuse_value(option, text);
  const auto range = [&](std::string_view axis, double& first, double& count) {
    if (axis == "all") return;
    const std::vector<std::string_view> ends = split(axis, ":");
    const auto from = parsed<double>(ends.front()), to = parsed<double>(ends.back());
    if (ends.size() != 2 || !from || !to || !(0 <= *from && *from < *to && *to <= 1e9))
      refuse_value(option, text);
    first = *from;
    count = *to - *from;
  };
  Zoom zoom;
  range(axes[0], zoom.row, zoom.rows);
  range(axes[1], zoom.col, zoom.cols);
  return zoom;
}

/// Each number once, up to the maximum of a list.
std::vector<int> each_once(const std::vector<int>& list, std::size_t most) {
  std::vector<int> once;
  for (const int n : list)
    if (once.size() < most && std::ranges::find(once, n) == once.end()) once.push_back(n);
  return once;
}

OptionValue within_limits(const OptionSpec& option, OptionValue value) {
  if (value == option.default_value) return value;  // which need not be one of the steps
  const double low = option.low;
  const double high = option.choices.empty() ? option.high : static_cast<double>(option.choices.size()) - 1;
  const auto limited = [&](double x) { return std::isfinite(x) ? std::clamp(x, low, high) : low; };
  if (auto* n = std::get_if<int>(&value)) *n = static_cast<int>(limited(*n));
  if (auto* x = std::get_if<double>(&value)) *x = limited(*x);
  if (auto* list = std::get_if<std::vector<int>>(&value)) {
    for (int& n : *list) n = static_cast<int>(limited(n));
    *list = each_once(*list, option.most);
  }
  return value;
}

double next_number(const OptionSpec& option, double x, int by) {
  // Rounds to whole steps, so that going up and down returns to the start.
  if (option.steps.empty()) return multiple(std::round(x / option.step) + by, option.step);
  const std::vector<double>& steps = option.steps;
  auto at = std::ranges::find(steps, x) - steps.begin();
  if (at == std::ssize(steps)) {  // between two steps; a default below all others comes last
    const auto ascending = std::is_sorted_until(steps.begin(), steps.end());
    at = std::lower_bound(steps.begin(), ascending, x) - steps.begin() - (by > 0 ? 1 : 0);
  }
  return steps[std::clamp<std::ptrdiff_t>(at + by, 0, std::ssize(steps) - 1)];
}

}  // namespace

std::string expected(const OptionSpec& option) {
  const std::string limits = " from " + plain(option.low) + " to " + plain(option.high);
  std::string words = match(
      option.default_value, [](bool) -> std::string { return "yes or no"; },
      [&](int) {
        if (option.choices.empty()) return "a whole number" + limits;
        std::vector<std::string> names;
        for (const Choice& choice : option.choices) names.emplace_back(choice.name);
        return listed(names, " or ");
      },
      [&](double) { return "a number" + limits; },
      [](const Zoom&) -> std::string { return "ROW:ROW,COLUMN:COLUMN, e.g. 4:12,0:12"; },
      [&](const std::vector<int>&) -> std::string {
        const std::string most = "at most " + std::to_string(option.most);
        if (option.cells) return most + " cells as QUERY.KEY separated by commas, e.g. 8.3,9.4";
        if (option.heads) return most + " heads as LAYER.HEAD separated by commas, e.g. 5.1,5.3";
        return most + " whole numbers" + limits + " separated by commas, e.g. 0,1,64";
      },
      [](const TokenRef&) -> std::string { return "a token as its text, id:N or rank:N"; });
  if (!option.default_name.empty()) words += ", or " + std::string(option.default_name);
  return words;
}

const OptionValue& Options::value(const OptionSpec& option) const {
  const auto found = set_.find(option.name);
  return found == set_.end() ? option.default_value : found->second;
}

void Options::set(const OptionSpec& option, OptionValue to) {
  assert(to.index() == option.default_value.index());
  to = within_limits(option, std::move(to));
  if (to == option.default_value) {
    set_.erase(option.name);
  } else {
    set_.insert_or_assign(option.name, std::move(to));
  }
}

std::string values_of(const OptionSpec& option) {
  std::string values = match(
      option.default_value, [](bool) -> std::string { return "yes|no"; },
      [&](int) -> std::string {
        if (option.choices.empty()) return "N";
        std::string words;
        for (const Choice& choice : option.choices)
          words += (words.empty() ? "" : "|") + std::string(choice.name);
        return words;
      },
      [](double) -> std::string { return "X"; }, [](const Zoom&) -> std::string { return "R:R,C:C"; },
      [&](const std::vector<int>&) -> std::string {
        return option.heads ? "L.H,L.H,..." : option.cells ? "Q.K,Q.K,..." : "N,N,...";
      },
      [](const TokenRef&) -> std::string { return "TOKEN"; });
  if (!option.default_name.empty()) values += "|" + std::string(option.default_name);
  return values;
}

OptionValue parse_option(const OptionSpec& option, std::string_view text) {
  if (!option.default_name.empty() && text == option.default_name) return option.default_value;
  return match(
      option.default_value,
      [&](bool) -> OptionValue {
        if (text.empty() || text == "yes" || text == "true" || text == "1") return true;
        if (text == "no" || text == "false" || text == "0") return false;
        refuse_value(option, text);
      },
      [&](int) -> OptionValue {
        if (option.choices.empty()) return number_in<int>(option, text, text);
        for (std::size_t i = 0; i < option.choices.size(); ++i)
          if (option.choices[i].name == text) return static_cast<int>(i);
        refuse_value(option, text);
      },
      [&](double) -> OptionValue { return number_in<double>(option, text, text); },
      [&](const Zoom&) -> OptionValue { return parse_zoom(option, text); },
      [&](const std::vector<int>&) -> OptionValue {
        std::vector<int> list;
        for (const std::string_view part : split(text, ",")) {
          const auto number = list_part(option, part);
          if (!number) refuse_value(option, text);
          if (std::ranges::find(list, *number) == list.end()) list.push_back(*number);
        }
        if (list.size() > option.most) refuse_value(option, text);
        return list;
      },
      [&](const TokenRef&) -> OptionValue {
        try {
          return parse_token(text);
        } catch (const std::invalid_argument& error) {
          throw std::invalid_argument("--" + std::string(option.name) + error.what() + ".");
        }
      });
}

std::string to_text(const OptionSpec& option, const OptionValue& value) {
  if (!option.default_name.empty() && value == option.default_value) return std::string(option.default_name);
  return match(
      value, [](bool on) -> std::string { return on ? "yes" : "no"; },
      [&](int n) -> std::string {
        if (option.choices.empty()) return std::to_string(n);
        return std::string(option.choices[n].name);
      },
      [](double x) { return plain(x); },
      [](const Zoom& z) -> std::string {
        const auto range = [](double first, double count) {
          return count > 0 ? plain(first) + ":" + plain(first + count) : "all";
        };
        return range(z.row, z.rows) + "," + range(z.col, z.cols);
      },
      [&](const std::vector<int>& list) {
        std::string words;
        for (const int n : list) words += (words.empty() ? "" : ",") + list_part_text(option, n);
        return words;
      },
      [](const TokenRef& token) { return text_of(token); });
}

double multiple(double n, double step) {
  return step < 1 ? n / std::round(1 / step) : n * step;
}

OptionValue stepped(const OptionSpec& option, const OptionValue& value, int by) {
  OptionValue next = value;
  if (auto* on = std::get_if<bool>(&next)) *on = !*on;
  if (auto* x = std::get_if<double>(&next)) *x = next_number(option, *x, by);
  if (auto* n = std::get_if<int>(&next)) {
    const int count = static_cast<int>(option.choices.size());
    *n = count > 0 ? ((*n + by) % count + count) % count
                   : static_cast<int>(std::lround(next_number(option, *n, by)));
  }
  if (auto* token = std::get_if<TokenRef>(&next)) {
    const bool has_steps = token->empty() || token->by == TokenRef::By::rank;
    const int rank = has_steps ? token->number + by : 1;
    *token = rank < 1 ? std::get<TokenRef>(option.default_value) : TokenRef::best(rank);
  }
  return within_limits(option, std::move(next));
}

}  // namespace headscope::app
