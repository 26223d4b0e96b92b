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

/// The result of a command.
struct Ran {
  int status = 0;
  std::string out, err;
  long calls = 0;  ///< number of calls that may fail
};

/// Runs a command, counting `calls`; the call with the number `fails` fails; -1: none.
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

/// The number of failures to test; HEADSCOPE_FAILURES can raise it.
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
