#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace headscope::app {

/// The transfer rate over the last seconds.
class TransferRate {
 public:
  using Clock = std::chrono::steady_clock;

  /// `bytes`: the total received so far. Times never decrease.
  void add(Clock::time_point now, std::uint64_t bytes);
  /// Bytes per second; 0 if not known yet.
  double rate() const;
  std::optional<double> seconds_left(std::uint64_t bytes_left) const;

 private:
  struct Sample {
    Clock::time_point at;
    std::uint64_t bytes;
  };
  std::deque<Sample> samples_;
};

/// The progress of a fetch.
struct FetchProgress {
  std::string file;            ///< the file being fetched; empty: none yet
  std::uint64_t done = 0;      ///< bytes of all files
  std::uint64_t total = 0;     ///< 0: unknown
  std::uint64_t received = 0;  ///< bytes received in this fetch, without what was there before
  double rate = 0;             ///< bytes per second; 0: unknown
  std::optional<double> seconds_left = {};
  std::string waiting = {};  ///< what the fetch is waiting for, in words; empty: nothing
};

/// "548 MB", "1.52 GB", "665 bytes"; decimal units, like the hub.
std::string bytes_text(std::uint64_t bytes);
/// "42 s", "3 min 5 s", "1 h 20 min".
std::string duration_text(double seconds);
/// "model.safetensors  123 MB of 548 MB  22 %  11.2 MB/s  38 s left", or the reason for waiting.
std::string progress_text(const FetchProgress& progress);

}  // namespace headscope::app
