#include "system/shared_library.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace headscope::system {

void* library_function(const char* library, const char* function) {
#ifdef _WIN32
  // From the program's folder and the system's, never from the current one.
  const HMODULE opened = ::LoadLibraryExA(library, nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  return opened ? reinterpret_cast<void*>(::GetProcAddress(opened, function)) : nullptr;
#else
  void* const opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  return opened ? ::dlsym(opened, function) : nullptr;
#endif
}

}  // namespace headscope::system
