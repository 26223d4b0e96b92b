#pragma once
#include <filesystem>
#include <future>
#include <stop_token>
#include <string>

namespace headscope::app {

/// The hash of a model's files (see weights_hash), which another thread computes while the model is loaded
/// and run: it takes about as long as loading does.
class PendingHash {
 public:
  /// With one thread for the run, or without room for another, get() computes it.
  PendingHash(std::filesystem::path folder, int threads);
  PendingHash(const PendingHash&) = delete;
  PendingHash& operator=(const PendingHash&) = delete;
  ~PendingHash() { stop_.request_stop(); }  // what is not needed is not waited for

  const std::filesystem::path& folder() const { return folder_; }
  /// Waits for it. Throws like weights_hash.
  const std::string& get() const { return hash_.get(); }

 private:
  std::filesystem::path folder_;
  std::stop_source stop_;
  std::shared_future<std::string> hash_;  // last member: it waits for the thread
};

}  // namespace headscope::app
