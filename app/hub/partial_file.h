#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include "app/hub/hub_responses.h"
#include "app/run/sources/digest.h"
#include "system/file.h"

namespace headscope::app {

/// A blob that is being fetched. What was received stays on disk under a temporary name, so that an
/// interrupted fetch can be resumed. Members throw HubError (one sentence with the path and the system's
/// reason, for example a full disk).
class PartialFile {
 public:
  /// Opens and hashes what was received before; drops it if it is too long. `poll` is called meanwhile and
  /// may throw.
  PartialFile(std::filesystem::path path, FileFacts facts, const std::function<void()>& poll);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  std::uint64_t size() const { return size_; }
  bool is_complete() const { return size_ == facts_.bytes; }

  /// Throws HubError if the file would become too long.
  void append(std::string_view bytes);
  /// Drops everything received.
  void restart();
  /// For a complete file: checks the hash. If it is right, syncs the file to disk, gives it its final name
  /// and returns true; otherwise drops everything received.
  bool finish(const std::filesystem::path& goal);

 private:
  [[noreturn]] void fail(const std::error_code& error) const;

  std::filesystem::path path_;
  FileFacts facts_;
  Digest digest_;
  std::uint64_t size_ = 0;
  system::File file_;
};

}  // namespace headscope::app
