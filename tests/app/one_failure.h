#pragma once
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "app/cli/program.h"

namespace headscope::app::testing {

/// What a command of the program came to.
struct Ran {
  int status = 0;
  std::string out, err;
  long calls = 0;  ///< of what may fail
};

/// Runs a command while `calls` are counted and the one with the number `fails` does; -1: none.
inline Ran run(const std::vector<std::string>& arguments, std::atomic<long>& calls,
               std::atomic<long>& failing, long fails = -1) {
  std::istringstream in;
  std::ostringstream out, err;
  out.exceptions(std::ios::badbit);  // as in main
  calls = 0;
  failing = fails;
  const int status = run_program(arguments, {in, out, err});
  failing = -1;
  return {status, out.str(), err.str(), calls};
}

/// HEADSCOPE_FAILURES asks for more of them than the suite has time for.
inline int failures() {
  const char* asked = std::getenv("HEADSCOPE_FAILURES");
  return asked ? std::atoi(asked) : 25;
}

inline void expect_refused_in_a_sentence(const Ran& ran) {
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, ::testing::StartsWith("headscope: "));
  EXPECT_THAT(ran.err, ::testing::EndsWith("\n"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

}  // namespace headscope::app::testing
