#include "system/path_text.h"

#include <algorithm>

#include "system/calls.h"

namespace headscope::system {

std::filesystem::path path_of(std::string_view text) {
#ifdef _WIN32
  return utf16(text);
#else
  return text;
#endif
}

std::string text_of(const std::filesystem::path& path) {
#ifdef _WIN32
  return utf8(path.native());
#else
  return path.native();
#endif
}

bool is_file_name(std::string_view text) {
#ifdef _WIN32
  const auto is_special = [](unsigned char c) {
    return c < 0x20 || std::string_view("/\\:*?\"<>|").find(static_cast<char>(c)) != std::string_view::npos;
  };
  // It would leave out dots and blanks at the end.
  return !text.empty() && !text.ends_with('.') && !text.ends_with(' ') &&
         std::ranges::none_of(text, is_special);
#else
  return !text.empty() && text != "." && text != ".." &&
         text.find_first_of(std::string_view("/\0", 2)) == text.npos;
#endif
}

}  // namespace headscope::system
