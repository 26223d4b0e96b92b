#pragma once
#include <functional>

namespace headscope::app {

/// While alive, handles a lost display, for example a broken connection to a remote one: calls `keep` to save
/// the user's work, prints a sentence and ends the program with status 1. Without it Xlib ends the program at
/// once. An exception from `keep` is reported in the same sentence. At most one instance.
class LostDisplayGuard {
 public:
  explicit LostDisplayGuard(std::function<void()> keep);
  LostDisplayGuard(const LostDisplayGuard&) = delete;
  LostDisplayGuard& operator=(const LostDisplayGuard&) = delete;
  ~LostDisplayGuard();
};

}  // namespace headscope::app
