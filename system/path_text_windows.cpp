#include "system/path_text.h"

#include <algorithm>

#include "system/windows_calls.h"

namespace headscope::system {

std::filesystem::path path_of(std::string_view text) {
  return utf16(text);
}

std::string text_of(const std::filesystem::path& path) {
  return utf8(path.native());
}

bool is_file_name(std::string_view text) {
  const auto is_special = [](unsigned char c) {
    return c < 0x20 || std::string_view("/\\:*?\"<>|").find(static_cast<char>(c)) != std::string_view::npos;
  };
  // It would leave out dots and blanks at the end.
  return !text.empty() && !text.ends_with('.') && !text.ends_with(' ') &&
         std::ranges::none_of(text, is_special);
}

}  // namespace headscope::system
