#include <dlfcn.h>

#include "system/shared_library.h"

namespace headscope::system {

SharedLibrary SharedLibrary::open(const char* name) {
  return SharedLibrary(::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
}

SharedLibrary SharedLibrary::if_open(const char* name) {
  return SharedLibrary(::dlopen(name, RTLD_LAZY | RTLD_NOLOAD));
}

void* SharedLibrary::address(const char* name) const {
  return library_ ? ::dlsym(library_, name) : nullptr;
}

}  // namespace headscope::system
