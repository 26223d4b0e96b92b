#pragma once
#include <system_error>

namespace headscope::system {

/// The code of the std::system_error that `call` throws.
template <typename Call>
std::error_code error_of(const Call& call) {
  try {
    call();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

}  // namespace headscope::system
