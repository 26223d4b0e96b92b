#pragma once
#include <cstdlib>
#include <string>

namespace headscope::testing {

/// Sets a variable of this process's environment. Windows knows no empty ones and removes it instead.
inline void set_variable(const char* name, const std::string& text) {
#if defined(_WIN32)
  ::_putenv_s(name, text.c_str());
#else
  ::setenv(name, text.c_str(), 1);
#endif
}

inline void unset_variable(const char* name) {
#if defined(_WIN32)
  ::_putenv_s(name, "");
#else
  ::unsetenv(name);
#endif
}

}  // namespace headscope::testing
