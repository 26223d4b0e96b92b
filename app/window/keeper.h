#pragma once
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/desktop/background.h"

namespace headscope::app {

/// A file that is written again and again as its content changes.
struct ChangingFile {
  std::string failure;  ///< what it means if it cannot be written: "the session is not kept"
  std::filesystem::path path;
  /// What it should hold now; nothing: what it holds already. Throws std::exception with the reason if that
  /// cannot be kept.
  std::function<std::optional<std::string>()> content;
  /// Makes of that what is written, on the keeper's thread, where files may be read; null: it is written as
  /// it is.
  std::function<std::string(const std::string&)> completed = nullptr;
};

/// Keeps files up to date, from a thread of its own: each is written whole, if it differs from what was
/// written last. What fails is tried again.
class Keeper {
 public:
  using Clock = std::chrono::steady_clock;

  Keeper(std::vector<ChangingFile> files, std::chrono::milliseconds time)
      : files_(std::move(files)), written_(files_.size()), time_(time) {}

  void soon();  ///< something has changed: begins to write within the given time
  /// When `update` has to be called; nothing: nothing has changed.
  std::optional<Clock::time_point> due() const { return due_; }
  void update();     ///< begins to write what is due, and takes what became of it
  void write_now();  ///< returns once it is done
  /// Why files could not be written the last time; empty: they were.
  const std::string& problem() const { return problem_; }

 private:
  struct Change {
    std::size_t file = 0;
    std::filesystem::path path = {};
    std::string content = {};
    std::function<std::string(const std::string&)> completed = nullptr;
    std::string problem = {};  ///< why it could not be written
  };
  using Changes = std::vector<Change>;

  Changes changes() const;
  static Changes tried(Changes changes);
  void take(Changes changes);

  std::vector<ChangingFile> files_;
  std::vector<std::optional<std::string>> written_;  // what each file holds; nothing: not known
  std::chrono::milliseconds time_;
  std::optional<Clock::time_point> due_;
  std::string problem_;
  Background<Changes> background_{nullptr};  // wakes nobody: the owner asks again within a second
};

}  // namespace headscope::app
