#include "app/window/keeper.h"

#include <exception>
#include <utility>

#include "system/atomic_file.h"

namespace headscope::app {
namespace {

constexpr const char* kKeeping = "keeping";

}  // namespace

void Keeper::soon() {
  if (!due_ && !files_.empty()) due_ = Clock::now() + time_;
}

void Keeper::update() {
  for (Changes& done : background_.take()) take(std::move(done));
  if (!due_ || Clock::now() < *due_) return;
  due_.reset();
  if (!background_.wait(kKeeping, {})) return soon();  // the disk is slow
  Changes now = changes();
  if (now.empty()) return take({});
  try {
    background_.run(kKeeping, [now] { return tried(now); });
  } catch (const NoThread&) {
    take(tried(std::move(now)));
  }
}

void Keeper::write_now() {
  background_.wait(kKeeping, std::chrono::hours(1));  // else older content would come last
  for (Changes& done : background_.take()) take(std::move(done));
  take(tried(changes()));
}

Keeper::Changes Keeper::changes() const {
  Changes changes;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    try {
      const std::optional<std::string> content = files_[i].content();
      if (content && content != written_[i])
        changes.push_back({i, files_[i].path, *content, files_[i].completed});
    } catch (const std::exception& e) {
      changes.push_back({.file = i, .problem = e.what()});
    }
  }
  return changes;
}

Keeper::Changes Keeper::tried(Changes changes) {
  for (Change& change : changes) {
    if (!change.problem.empty()) continue;
    try {
      system::make_folders(change.path.parent_path());
      system::write_file_atomically(change.path,
                                    change.completed ? change.completed(change.content) : change.content);
    } catch (const std::exception& e) {
      change.problem = e.what();
    }
  }
  return changes;
}

void Keeper::take(Changes changes) {
  problem_.clear();
  for (Change& change : changes) {
    if (change.problem.empty()) {
      written_[change.file] = std::move(change.content);
    } else {
      problem_ += (problem_.empty() ? "" : ". ") + change.problem + "; " + files_[change.file].failure;
      soon();
    }
  }
}

}  // namespace headscope::app
