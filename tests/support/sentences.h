#pragma once
#include <gmock/gmock.h>

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>

namespace headscope::testing {

/// The message of an `Error` thrown by `action`. If it throws nothing or something else, fails the test and
/// returns "".
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

/// The code of the std::system_error that `call` throws.
template <typename Call>
std::error_code error_of(const Call& call) {
  try {
    call();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

/// Whether a message can be shown to a user: a single line of sensible length without control characters.
inline bool is_sentence(const std::string& message) {
  return message.size() >= 20 && message.size() < 600 &&
         std::none_of(message.begin(), message.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// Expects a sentence that says where the problem is, what was expected and what was found.
inline void expect_load_sentence(const std::string& message, const std::string& where,
                                 const std::string& what) {
  EXPECT_TRUE(is_sentence(message)) << message;
  EXPECT_THAT(message, ::testing::HasSubstr(where));
  EXPECT_THAT(message, ::testing::HasSubstr(what));
  EXPECT_THAT(message, ::testing::HasSubstr("expected"));
  EXPECT_THAT(message, ::testing::HasSubstr("found"));
}

}  // namespace headscope::testing
