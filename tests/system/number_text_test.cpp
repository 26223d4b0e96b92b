#include "system/number_text.h"

#include <bit>
#include <cmath>

#include "tests/support/matchers.h"

namespace headscope::system::number_text_test {
namespace {

struct Parsed {
  double value = 7;
  std::ptrdiff_t length = 0;
  std::errc error{};
  bool operator==(const Parsed& other) const {  // the sign of zero counts, and that of NaN does not
    return length == other.length && error == other.error &&
           (std::isnan(value)
                ? std::isnan(other.value)
                : std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value));
  }
};

std::ostream& operator<<(std::ostream& out, const Parsed& parsed) {
  return out << parsed.value << " from " << parsed.length << " characters, error "
             << static_cast<int>(parsed.error);
}

template <class T>
Parsed by_c(std::string_view text, std::chars_format format = std::chars_format::general) {
  T value = 7;
  const auto [end, error] = from_chars_by_c(text.data(), text.data() + text.size(), value, format);
  return {value, end - text.data(), error};
}

TEST(NumberText, IsReadAsFarAsItIsANumber) {
  EXPECT_EQ(by_c<double>("1.5"), (Parsed{1.5, 3}));
  EXPECT_EQ(by_c<double>("-0"), (Parsed{-0.0, 2}));
  EXPECT_EQ(by_c<double>(".5x"), (Parsed{0.5, 2}));
  EXPECT_EQ(by_c<double>("5.e"), (Parsed{5, 2}));
  EXPECT_EQ(by_c<double>("2e3 "), (Parsed{2000, 3}));
  EXPECT_EQ(by_c<double>("2e3", std::chars_format::fixed), (Parsed{2, 1}));
  EXPECT_EQ(by_c<double>("0x10"), (Parsed{0, 1}));
  EXPECT_EQ(by_c<double>("-Infinity!").length, 9);
  EXPECT_EQ(by_c<double>("5e-324").value, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(by_c<float>("0.1").value, double{0.1F});
  EXPECT_EQ(by_c<float>("16777217").value, 16777216);
  for (const char* none : {"", "-", ".", "-.", "+1", " 1", "e5", "x", "in"})
    EXPECT_EQ(by_c<double>(none), (Parsed{7, 0, std::errc::invalid_argument})) << none;
  for (const char* far : {"1e400", "-1e400", "1e-400"})
    EXPECT_EQ(by_c<double>(far).error, std::errc::result_out_of_range) << far;
  EXPECT_EQ(by_c<double>("0e999"), (Parsed{0, 5}));
}

#ifdef __cpp_lib_to_chars
template <class T>
Parsed by_the_library(std::string_view text, std::chars_format format) {
  T value = 7;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  return {value, end - text.data(), error};
}

TEST(NumberText, IsReadAsTheLibraryReadsIt) {
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t count) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % count;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t n = 1 + draw(12); n > 0; --n) text += "0123456789..-+eE inft"[draw(21)];
    for (const auto format : {std::chars_format::general, std::chars_format::fixed}) {
      EXPECT_EQ(by_c<double>(text, format), by_the_library<double>(text, format)) << '"' << text << '"';
      EXPECT_EQ(by_c<float>(text, format), by_the_library<float>(text, format)) << '"' << text << '"';
    }
  }
}
#endif

}  // namespace
}  // namespace headscope::system::number_text_test
