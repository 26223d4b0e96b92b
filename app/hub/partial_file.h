#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "app/hub/hub_responses.h"
#include "app/run/sources/digest.h"

namespace headscope::app {

/// A blob on the way: what has come is kept on the disk under its unfinished name, also when this goes away
/// before it is whole, and goes on from there the next time. Members throw HubError (one sentence with the
/// path and the system's reason; a full disk is one).
class PartialFile {
 public:
  /// Opens what is there already and takes its hash; what is longer than the whole is dropped. `poll` is
  /// called meanwhile and may throw.
  PartialFile(std::filesystem::path file, FileFacts facts, const std::function<void()>& poll);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  std::uint64_t size() const { return size_; }
  bool is_complete() const { return size_ == facts_.bytes; }

  /// Throws HubError for more than the whole.
  void append(std::string_view bytes);
  /// Begins again with nothing.
  void restart();
  /// Of a complete one: whether it is the one that was meant. If so it is put on the disk for good and gets
  /// its final name; if not it begins again with nothing.
  bool finish(const std::filesystem::path& goal);

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path file_;
  FileFacts facts_;
  Digest digest_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace headscope::app
