#pragma once
#include <charconv>
#include <concepts>

namespace headscope::system {

/// std::from_chars by C's functions, for C++ libraries whose own knows no fractions; only of general and
/// fixed format, and without the text that may follow "nan". Whatever the locale, the point is a dot.
std::from_chars_result from_chars_by_c(const char* first, const char* last, double& value,
                                       std::chars_format format = std::chars_format::general);
std::from_chars_result from_chars_by_c(const char* first, const char* last, float& value,
                                       std::chars_format format = std::chars_format::general);

/// std::from_chars where the C++ library has it.
template <std::integral T>
std::from_chars_result from_chars(const char* first, const char* last, T& value) {
  return std::from_chars(first, last, value);
}
template <std::floating_point T>
std::from_chars_result from_chars(const char* first, const char* last, T& value,
                                  std::chars_format format = std::chars_format::general) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(first, last, value, format);
#else
  return from_chars_by_c(first, last, value, format);
#endif
}

}  // namespace headscope::system
