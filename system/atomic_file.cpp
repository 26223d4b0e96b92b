#include "system/atomic_file.h"

#include <stdexcept>
#include <string>

#include "system/machine.h"
#include "system/path_text.h"

namespace headscope::system {

namespace fs = std::filesystem;

AtomicFile::AtomicFile(const fs::path& path) : path_(path), goal_(path) {
  try {
    open();
  } catch (const std::system_error& error) {
    fail(error.code());
  }
}

AtomicFile::~AtomicFile() {
  give_up();
}

void AtomicFile::give_up() noexcept {
  file_ = File();
  if (!temporary_.empty()) remove_file(temporary_);
  temporary_.clear();
}

fs::path AtomicFile::beside(int attempt) const {
  return goal_.parent_path() /
         (".headscope-" + std::to_string(process_id()) + "-" + std::to_string(attempt) + ".part");
}

void AtomicFile::open_named() {
  for (int attempt = 0; !file_.is_open(); ++attempt) {
    const fs::path name = beside(attempt);
    try {
      file_ = File(name, Open::create);
      temporary_ = name;
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::file_exists) throw;
    }
  }
}

void AtomicFile::append(std::string_view bytes) {
  try {
    file_.write(bytes);
  } catch (const std::system_error& error) {
    fail(error.code());
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  try {
    file_.write_at(offset, bytes);
  } catch (const std::system_error& error) {
    fail(error.code());
  }
}

void AtomicFile::resize(std::uint64_t size) {
  if (direct_) return;  // a device or a pipe has no size
  try {
    file_.reserve(size);
    file_.resize(size);
  } catch (const std::system_error& error) {
    fail(error.code());
  }
}

void AtomicFile::commit() {
  try {
    if (direct_) {
      file_.close();
    } else {
      file_.sync();
      put_in_place();
    }
  } catch (const std::system_error& error) {
    give_up();
    fail(error.code());
  }
}

void AtomicFile::fail(const std::error_code& error) const {
  throw std::runtime_error("cannot write " + text_of(path_) + ": " + error.message());
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot create the folder " + text_of(folder) + ": " + error.message());
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

}  // namespace headscope::system
