#include <windows.h>

#include "system/shared_library.h"
#include "system/windows_calls.h"

namespace headscope::system {

// From the program's folder and the system's, never from the current one.
SharedLibrary SharedLibrary::open(const char* name) {
  return SharedLibrary(::LoadLibraryExW(utf16(name).c_str(), nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS));
}

SharedLibrary SharedLibrary::if_open(const char* name) {
  return SharedLibrary(::GetModuleHandleW(utf16(name).c_str()));
}

void* SharedLibrary::address(const char* name) const {
  return library_ ? reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library_), name)) : nullptr;
}

}  // namespace headscope::system
