#include "app/run/version.h"

namespace headscope::app {

std::string version() {
  return HEADSCOPE_VERSION;
}

}  // namespace headscope::app
