#include "model/files/foreign_content.h"

#include <algorithm>
#include <cctype>

namespace headscope::model {

std::string foreign_content(std::string_view start) {
  if (start.starts_with("version https://git-lfs"))
    return "a Git LFS pointer to one; fetch it with `git lfs pull`";
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  std::string tag(start.substr(0, std::string_view("<!doctype html").size()));
  std::ranges::transform(tag, tag.begin(), [](unsigned char c) { return std::tolower(c); });
  if (tag == "<!doctype html" || tag.starts_with("<html"))
    return "an HTML page; download the file itself instead of the page that shows it";
  return "";
}

}  // namespace headscope::model
