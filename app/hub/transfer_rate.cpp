#include "app/hub/transfer_rate.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace headscope::app {
namespace {

constexpr std::chrono::seconds kWindow{8};
constexpr std::chrono::milliseconds kStep{200};  // closer samples are merged

std::string printed(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

void TransferRate::add(Clock::time_point now, std::uint64_t bytes) {
  if (samples_.size() >= 2 && now - samples_[samples_.size() - 2].at < kStep) {
    samples_.back() = {now, bytes};
  } else {
    samples_.push_back({now, bytes});
  }
  while (samples_.size() > 2 && now - samples_[1].at >= kWindow) samples_.pop_front();
}

double TransferRate::rate() const {
  if (samples_.size() < 2) return 0;
  const Sample &first = samples_.front(), &last = samples_.back();
  const double seconds = std::chrono::duration<double>(last.at - first.at).count();
  if (seconds < 0.2 || last.bytes <= first.bytes) return 0;
  return static_cast<double>(last.bytes - first.bytes) / seconds;
}

std::optional<double> TransferRate::seconds_left(std::uint64_t bytes_left) const {
  const double now = rate();
  if (now <= 0) return std::nullopt;
  return static_cast<double>(bytes_left) / now;
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  if (value < 999.5e3) return printed("%.0f kB", value / 1e3);
  if (value < 99.95e6) return printed("%.1f MB", value / 1e6);
  if (value < 999.5e6) return printed("%.0f MB", value / 1e6);
  return printed("%.2f GB", value / 1e9);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::fmin(std::fmax(seconds, 0), 1e9)));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string progress_text(const FetchProgress& progress) {
  std::string text = progress.file;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "  ") + part; };
  if (progress.total > 0) {
    add(bytes_text(progress.done) + " of " + bytes_text(progress.total));
    add(printed("%.0f %%",
                std::floor(100 * static_cast<double>(progress.done) / static_cast<double>(progress.total))));
  }
  if (!progress.waiting.empty()) {
    add(progress.waiting);
    return text;
  }
  if (progress.rate > 0) add(bytes_text(static_cast<std::uint64_t>(progress.rate)) + "/s");
  if (progress.seconds_left) add(duration_text(*progress.seconds_left) + " left");
  return text.empty() ? "contacting the hub" : text;
}

}  // namespace headscope::app
