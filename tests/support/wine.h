#pragma once
#include "system/shared_library.h"

namespace headscope::system {

/// Whether tests for Windows run under Wine, which lacks some of what files have on NTFS.
inline bool is_wine() {
  return library_function("ntdll.dll", "wine_get_version") != nullptr;
}

}  // namespace headscope::system
