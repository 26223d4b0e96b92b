#pragma once
#include <string>
#include <string_view>

namespace headscope::system {

/// A text about keys for keyboards of this system: it speaks of Ctrl and Alt, which macOS calls otherwise.
std::string with_own_key_names(std::string_view text);

/// "Cmd+Z" for "Ctrl+Z"; with Alt "Control+S" for characters, which Option would type, and "Option+↑" for
/// others.
std::string with_mac_key_names(std::string_view text);

}  // namespace headscope::system
