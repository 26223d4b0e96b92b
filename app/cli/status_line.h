#pragma once
#include <chrono>
#include <string_view>

#include "app/cli/program.h"

namespace headscope::app {

/// One line on `err` that changes while work goes on, where that is a terminal; it goes away with this
/// object. Where it is none, a line now and then.
class StatusLine {
 public:
  using Milliseconds = std::chrono::milliseconds;
  /// `terminal`, `log`: the least pause between two texts of `is_due`.
  explicit StatusLine(const Streams& streams, Milliseconds terminal = Milliseconds(200),
                      Milliseconds log = Milliseconds(5000))
      : streams_(streams), pause_(streams.err_is_terminal ? terminal : log) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { clear(); }

  /// False where there is no terminal: nothing was said.
  bool show(std::string_view text);
  /// Shows it, or writes a line of it where there is no terminal.
  void tell(std::string_view text);
  /// How far one long computation is, if that is due; `where` stands before it: "prompt 3: ". `done` is in
  /// [0, 1].
  void tell_work(std::string_view where, std::string_view work, double done);
  /// Whether the pause is over. The next one begins then.
  bool is_due();
  /// Before anything else is written there.
  void clear();

 private:
  const Streams& streams_;
  Milliseconds pause_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

}  // namespace headscope::app
