#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace headscope::app {

/// How fast bytes come, over the last seconds.
class TransferRate {
 public:
  using Clock = std::chrono::steady_clock;

  /// `bytes`: the total received so far. Times never decrease.
  void add(Clock::time_point now, std::uint64_t bytes);
  /// Bytes a second; 0 where not enough is known yet.
  double rate() const;
  std::optional<double> seconds_left(std::uint64_t bytes_left) const;

 private:
  struct Sample {
    Clock::time_point at;
    std::uint64_t bytes;
  };
  std::deque<Sample> samples_;
};

/// What a fetch is at.
struct FetchProgress {
  std::string file;            ///< that is being fetched; empty: none yet
  std::uint64_t done = 0;      ///< bytes, of all files
  std::uint64_t total = 0;     ///< 0: not known yet
  std::uint64_t received = 0;  ///< of them, now: what was there before is not in it
  double rate = 0;             ///< bytes a second; 0: not known
  std::optional<double> seconds_left = {};
  std::string waiting = {};  ///< for what, in words; empty: it goes on
};

/// "548 MB", "1.52 GB", "665 bytes"; decimal, as the hub writes it.
std::string bytes_text(std::uint64_t bytes);
/// "42 s", "3 min 5 s", "1 h 20 min".
std::string duration_text(double seconds);
/// "model.safetensors  123 MB of 548 MB  22 %  11.2 MB/s  38 s left", or what is waited for.
std::string progress_text(const FetchProgress& progress);

}  // namespace headscope::app
