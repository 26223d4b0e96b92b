#include "system/number_text.h"

#include <cctype>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace headscope::system {
namespace {

const char* after_digits(const char* at, const char* last) {
  while (at != last && *at >= '0' && *at <= '9') ++at;
  return at;
}

/// The end of an exponent that begins at `at`; `at` if none does.
const char* after_exponent(const char* at, const char* last) {
  if (at == last || (*at != 'e' && *at != 'E')) return at;
  const char* digits = at + 1;
  if (digits != last && (*digits == '+' || *digits == '-')) ++digits;
  const char* const end = after_digits(digits, last);
  return end == digits ? at : end;
}

/// Whether a text begins with a word in lower case, whatever its own case.
bool begins_with(const char* at, const char* last, std::string_view word) {
  for (const char letter : word) {
    if (at == last || std::tolower(static_cast<unsigned char>(*at)) != letter) return false;
    ++at;
  }
  return true;
}

double number_of(const char* text, double /*kind*/) {
  return std::strtod(text, nullptr);
}
float number_of(const char* text, float /*kind*/) {
  return std::strtof(text, nullptr);
}

template <class T>
std::from_chars_result parsed(const char* first, const char* last, T& value, std::chars_format format) {
  const bool negative = first != last && *first == '-';
  const char* const begin = first + (negative ? 1 : 0);
  for (const auto& [word, meaning] :
       {std::pair{std::string_view("infinity"), std::numeric_limits<T>::infinity()},
        {"inf", std::numeric_limits<T>::infinity()},
        {"nan", std::numeric_limits<T>::quiet_NaN()}})
    if (begins_with(begin, last, word)) {
      value = negative ? -meaning : meaning;
      return {begin + word.size(), std::errc()};
    }
  const char* const whole_end = after_digits(begin, last);
  const bool has_point = whole_end != last && *whole_end == '.';
  const char* end = has_point ? after_digits(whole_end + 1, last) : whole_end;
  if (end - begin == (has_point ? 1 : 0)) return {first, std::errc::invalid_argument};  // no digit
  if (format != std::chars_format::fixed) end = after_exponent(end, last);

  std::string text(first, end);
  if (has_point)
    text.replace(static_cast<std::size_t>(whole_end - first), 1, std::localeconv()->decimal_point);
  const T found = number_of(text.c_str(), T{});
  const bool is_zero = text.find_first_of("123456789") >= text.find_first_of("eE");
  if (std::isinf(found) || (found == 0 && !is_zero)) return {end, std::errc::result_out_of_range};
  value = found;
  return {end, std::errc()};
}

}  // namespace

std::from_chars_result from_chars_by_c(const char* first, const char* last, double& value,
                                       std::chars_format format) {
  return parsed(first, last, value, format);
}

std::from_chars_result from_chars_by_c(const char* first, const char* last, float& value,
                                       std::chars_format format) {
  return parsed(first, last, value, format);
}

}  // namespace headscope::system
