#include "app/window/tip.h"

#include "app/ascii.h"

namespace headscope::app {

std::string Tip::words() const {
  if (!own_.empty()) return own_;
  const std::string text = capitalized_ ? capitalized(lasting_) : std::string(lasting_);
  if (command_ != nullptr) return text + "  " + keys_of(*command_);
  return key_ != 0 ? text + "  " + key_name(key_) : text;
}

}  // namespace headscope::app
