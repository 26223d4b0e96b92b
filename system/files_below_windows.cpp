#include <windows.h>

#include <memory>
#include <string_view>

#include "system/files_below.h"
#include "system/windows_calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 32;  ///< folders that contain themselves end there

using Search = std::unique_ptr<void, decltype(&::FindClose)>;

void visit_below(const fs::path& folder, int depth, const std::function<void(const fs::path&)>& visit) {
  WIN32_FIND_DATAW found;
  HANDLE const handle = ::FindFirstFileExW(long_path(folder / L"*").c_str(), FindExInfoBasic, &found,
                                           FindExSearchNameMatch, nullptr, FIND_FIRST_EX_LARGE_FETCH);
  if (handle == INVALID_HANDLE_VALUE) return;
  const Search search(handle, &::FindClose);
  do {
    const std::wstring_view name = found.cFileName;
    if (name == L"." || name == L"..") continue;
    const bool is_link = (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
    if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
      visit(folder / name);
    } else if (!is_link && depth < kDeepest) {
      visit_below(folder / name, depth + 1, visit);
    }
  } while (::FindNextFileW(search.get(), &found));
}

}  // namespace

void for_each_file_below(const fs::path& folder, const std::function<void(const fs::path&)>& visit) {
  visit_below(folder, 0, visit);
}

}  // namespace headscope::system
