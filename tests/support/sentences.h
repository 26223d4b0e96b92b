#pragma once
#include <gmock/gmock.h>

#include <algorithm>
#include <exception>
#include <string>

namespace headscope::testing {

/// What `Error` said when `action` threw it; a failed test and "" when it threw nothing or something else.
template <typename Error, typename Action>
std::string message_of(Action&& action) {
  try {
    action();
    ADD_FAILURE() << "expected an error, found none";
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "expected another kind of error, found: " << error.what();
  }
  return "";
}

/// One sentence that a user can be shown: a single line of sensible length without control characters.
inline bool is_sentence(const std::string& message) {
  return message.size() >= 20 && message.size() < 600 &&
         std::none_of(message.begin(), message.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// Says where and what, what was expected and what was found.
inline void expect_load_sentence(const std::string& message, const std::string& where,
                                 const std::string& what) {
  EXPECT_TRUE(is_sentence(message)) << message;
  EXPECT_THAT(message, ::testing::HasSubstr(where));
  EXPECT_THAT(message, ::testing::HasSubstr(what));
  EXPECT_THAT(message, ::testing::HasSubstr("expected"));
  EXPECT_THAT(message, ::testing::HasSubstr("found"));
}

}  // namespace headscope::testing
