#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headscope::model {

/// A name from a file, quoted for a message: in double quotes, at most 64 bytes of it (then "..."), with
/// everything that is not printable ASCII as `\xNN`, so that a hostile name cannot disturb a terminal.
std::string quote(std::string_view name);

/// The first names, quoted, with commas between; ", ..." stands for the others.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace headscope::model
