#include "app/text/json_text.h"

#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"

namespace headscope::app::json_text_test {
namespace {

const std::string kBroken = "\xEF\xBF\xBD";

TEST(JsonText, WellFormedTextStays) {
  for (const std::string& text :
       {std::string(), std::string("a\n\0b", 4), std::string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
        std::string("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf")}) {
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(utf8_or_replacement(text), text);
  }
}

// The expected replacements are those of Python's bytes.decode("utf-8", "replace").
TEST(JsonText, EachMaximalBrokenPartIsOneReplacement) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xff", kBroken},
      {"\x80\x80", kBroken + kBroken},
      {"\xe2\x82", kBroken},      // cut short
      {"\xf0\x9f\x98", kBroken},  // cut short
      {"\xf0\x9f\x98z", kBroken + "z"},
      {"\xe2\x28\xa1", kBroken + "(" + kBroken},
      {"\xc0\xaf", kBroken + kBroken},                              // overlong
      {"\xe0\x80\x80", kBroken + kBroken + kBroken},                // overlong
      {"\xed\xa0\x80", kBroken + kBroken + kBroken},                // a surrogate
      {"\xf4\x90\x80\x80", kBroken + kBroken + kBroken + kBroken},  // beyond U+10FFFF
      {"a\xf1\x80\x80\xe1\x80\xc2z",
       "a" + kBroken + kBroken + kBroken + "z"},  // Unicode's own example, table 3-8
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_FALSE(is_utf8(bytes));
    EXPECT_EQ(utf8_or_replacement(bytes), text) << ::testing::PrintToString(bytes);
  }
}

TEST(JsonText, TokensCarryTheirBytes) {
  EXPECT_EQ(token_json(7, "a\xff").dump(), "{\"id\":7,\"text\":\"a" + kBroken + "\",\"bytes\":[97,255]}");
}

}  // namespace
}  // namespace headscope::app::json_text_test
