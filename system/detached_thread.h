#pragma once
#include <functional>

namespace headscope::system {

/// Runs `work`, which must not throw, on a thread of its own that nobody waits for. Throws std::system_error
/// if the system cannot start one.
void start_detached(std::function<void()> work);

}  // namespace headscope::system
