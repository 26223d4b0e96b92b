#include "system/machine.h"

#include <unistd.h>

namespace headscope::system {

bool is_windows() {
  return false;
}

std::uint64_t process_id() {
  return static_cast<std::uint64_t>(::getpid());
}

}  // namespace headscope::system
