#include "system/file.h"

#include <utility>

namespace headscope::system {

File::File(File&& other) noexcept
    : handle_(std::exchange(other.handle_, kNone)), borrowed_(std::exchange(other.borrowed_, false)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(borrowed_, other.borrowed_);
  return *this;
}

File File::borrowed(Handle handle) {
  File file = owned(handle);
  file.borrowed_ = true;
  return file;
}

File File::owned(Handle handle) {
  File file;
  file.handle_ = handle;
  return file;
}

}  // namespace headscope::system
