#include "system/key_words.h"

#include <cctype>

#include "system/machine.h"

namespace headscope::system {
namespace {

constexpr std::string_view kCtrl = "Ctrl+", kAlt = "Alt+", kShift = "Shift+";

/// Whether a text begins with a key that types a character: "S", "1 … 9", "−", but not "Page up" or "↑".
bool is_character(std::string_view keys) {
  if (keys.starts_with("−")) return true;
  const auto is_word = [&](std::size_t at) {
    return at < keys.size() && std::isalnum(static_cast<unsigned char>(keys[at])) != 0;
  };
  return is_word(0) && !is_word(1);
}

}  // namespace

std::string with_mac_key_names(std::string_view text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.starts_with(kCtrl)) {
      out += "Cmd+";
      rest.remove_prefix(kCtrl.size());
    } else if (rest.starts_with(kAlt)) {
      rest.remove_prefix(kAlt.size());
      out +=
          is_character(rest.starts_with(kShift) ? rest.substr(kShift.size()) : rest) ? "Control+" : "Option+";
    } else {
      out += rest.front();
      rest.remove_prefix(1);
    }
  }
  return out;
}

std::string with_own_key_names(std::string_view text) {
  return is_macos() ? with_mac_key_names(text) : std::string(text);
}

}  // namespace headscope::system
