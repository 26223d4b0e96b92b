#pragma once
#include <functional>

namespace headscope::app {

/// While it lives, a display that goes away, as when the connection to a remote one breaks, is told in a
/// sentence after `keep` has kept what is worth it, and the program ends with status 1: by itself Xlib ends
/// it on the spot. `keep` may throw, which is told, too. One at a time.
class LostDisplayGuard {
 public:
  explicit LostDisplayGuard(std::function<void()> keep);
  LostDisplayGuard(const LostDisplayGuard&) = delete;
  LostDisplayGuard& operator=(const LostDisplayGuard&) = delete;
  ~LostDisplayGuard();
};

}  // namespace headscope::app
