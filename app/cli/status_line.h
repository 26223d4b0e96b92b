#pragma once
#include <string>
#include <string_view>

#include "app/cli/program.h"

namespace headscope::app {

/// One line on `err` that changes while work goes on, where that is a terminal; it goes away with this
/// object.
class StatusLine {
 public:
  explicit StatusLine(const Streams& streams) : streams_(streams) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { clear(); }

  /// False where there is no terminal: nothing was said.
  bool show(std::string_view text);
  /// Before anything else is written there.
  void clear();

 private:
  const Streams& streams_;
  bool shown_ = false;
};

}  // namespace headscope::app
