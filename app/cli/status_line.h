#pragma once
#include <chrono>
#include <string_view>

#include "app/cli/program.h"

namespace headscope::app {

/// Progress on `err`: on a terminal one line that is updated and that the destructor clears, else an
/// occasional line.
class StatusLine {
 public:
  using Milliseconds = std::chrono::milliseconds;
  /// `terminal`, `log`: the minimum pause between updates, for `is_due`.
  explicit StatusLine(const Streams& streams, Milliseconds terminal = Milliseconds(200),
                      Milliseconds log = Milliseconds(5000))
      : streams_(streams), pause_(streams.err_is_terminal ? terminal : log) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { clear(); }

  /// Shows a text, or writes it as a line if there is no terminal.
  void tell(std::string_view text);
  /// Shows the progress of a long computation, if an update is due, after `where`: "prompt 3: ". `done` is in
  /// [0, 1].
  void tell_work(std::string_view where, std::string_view work, double done);
  /// Whether the pause is over. If so, the next one begins.
  bool is_due();
  /// Call before anything else is written to `err`.
  void clear();

 private:
  const Streams& streams_;
  Milliseconds pause_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

}  // namespace headscope::app
