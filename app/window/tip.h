#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "app/ascii.h"
#include "app/window/commands.h"

namespace headscope::app {

/// The words of a tooltip. Those with a key are put together when they are shown: a frame has hundreds of
/// tooltips and shows one of them.
class Tip {
 public:
  Tip() = default;
  Tip(std::string words) : own_(std::move(words)) {}  // NOLINT: words are a tooltip
  Tip(const char* words) : lasting_(words) {}         // NOLINT: a literal
  /// The capitalized help text, then one of the keys of a view or an option if it has so many. The texts must
  /// outlast the tooltip.
  Tip(std::string_view help, std::string_view keys, std::size_t which)
      : lasting_(help), key_(which < keys.size() ? keys[which] : '\0'), capitalized_(true) {}
  /// Words, which must outlast the tooltip, then the keys of a command.
  Tip(std::string_view words, const Command& command) : lasting_(words), command_(&command) {}

  std::string words() const {
    if (!own_.empty()) return own_;
    const std::string text = capitalized_ ? capitalized(lasting_) : std::string(lasting_);
    if (command_ != nullptr) return text + "  " + keys_of(*command_);
    return key_ != 0 ? text + "  " + key_name(key_) : text;
  }

 private:
  std::string own_;
  std::string_view lasting_;
  const Command* command_ = nullptr;
  char key_ = 0;
  bool capitalized_ = false;
};

}  // namespace headscope::app
