#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "app/cli/status_line.h"

namespace headscope::app {

/// Tells on `err` how far one long computation is: where that is a terminal in a line that changes and goes
/// away with this object, else in a line of its own now and then.
class WorkLine {
 public:
  using Milliseconds = std::chrono::milliseconds;
  /// `where` stands before each line: "prompt 3: ".
  WorkLine(const Streams& streams, std::string where, Milliseconds terminal = Milliseconds(200),
           Milliseconds file = Milliseconds(5000))
      : streams_(streams),
        line_(streams),
        where_(std::move(where)),
        pause_(streams.err_is_terminal ? terminal : file) {}

  /// `done`: how much of it, in [0, 1].
  void tell(std::string_view work, double done);
  /// Before anything else is written there.
  void clear() { line_.clear(); }

 private:
  const Streams& streams_;
  StatusLine line_;
  std::string where_;
  Milliseconds pause_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

}  // namespace headscope::app
