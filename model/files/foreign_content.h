#pragma once
#include <string>
#include <string_view>

namespace headscope::model {

/// What a file holds in place of its content, from its first bytes, and how to get the content: a Git LFS
/// pointer or an HTML page; empty: neither.
std::string foreign_content(std::string_view start);

}  // namespace headscope::model
