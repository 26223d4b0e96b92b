#include "system/path_text.h"

namespace headscope::system {

std::filesystem::path path_of(std::string_view text) {
  return text;
}

std::string text_of(const std::filesystem::path& path) {
  return path.native();
}

bool is_file_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         text.find_first_of(std::string_view("/\0", 2)) == text.npos;
}

}  // namespace headscope::system
