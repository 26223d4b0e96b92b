#pragma once
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"

namespace headscope::app {

/// A prompt in which words come twice, and a list of two prompts with the same words.
inline Scenario kings() {
  Scenario s("The king and the queen and the king", {2, 1, 7, 1});
  s.prompts = testing::two_kings();
  return s;
}

}  // namespace headscope::app
