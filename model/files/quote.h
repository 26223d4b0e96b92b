#pragma once
#include <string>
#include <string_view>

namespace headscope::model {

/// A name from a file, quoted for a message: in double quotes, at most 64 bytes of it (then "..."), with
/// everything that is not printable ASCII as `\xNN`, so that a hostile name cannot disturb a terminal.
std::string quote(std::string_view name);

}  // namespace headscope::model
