#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace headscope::system {

/// The path that a text names: an argument, an environment variable, what a file says or a user typed. Any
/// bytes; UTF-8 on Windows, where the path's own constructor would read the bytes in another
/// encoding.
std::filesystem::path path_of(std::string_view text);

/// The text that names a path, to be shown or stored: the inverse. On Windows U+FFFD stands for what is no
/// character.
std::string text_of(const std::filesystem::path& path);

/// Whether a text from elsewhere names a file in whatever folder it is looked for: it has no folder, no drive
/// and nothing else that the system would not take as a name.
bool is_file_name(std::string_view text);

}  // namespace headscope::system
