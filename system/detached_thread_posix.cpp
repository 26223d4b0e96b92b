#include <thread>
#include <utility>

#include "system/detached_thread.h"

namespace headscope::system {

void start_detached(std::function<void()> work) {
  std::thread(std::move(work)).detach();
}

}  // namespace headscope::system
