#include "system/linux_texts.h"

#include <algorithm>
#include <sstream>

namespace headscope::system {
namespace {

/// The bytes in a row such as "MemTotal: 16303348 kB"; 0 if the row is missing.
std::uint64_t row_of(const std::string& meminfo, const std::string& name) {
  std::istringstream lines(meminfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kibibytes = 0;
    if (words >> key >> kibibytes && key == name) return kibibytes * 1024;
  }
  return 0;
}

/// Parses a number; nothing for "max" or anything else.
std::optional<std::uint64_t> bytes_of(const std::string& text) {
  std::istringstream words(text);
  std::uint64_t bytes = 0;
  if (words >> bytes) return bytes;
  return std::nullopt;
}

}  // namespace

std::optional<double> processors_of_quota(std::string_view cpu_max) {
  std::istringstream words{std::string(cpu_max)};
  double quota = 0, period = 0;
  if (!(words >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
  return quota / period;
}

MemoryFacts memory_facts(const std::string& meminfo, const std::string& limit, const std::string& used) {
  MemoryFacts facts{row_of(meminfo, "MemTotal:"), row_of(meminfo, "MemAvailable:")};
  const auto most = bytes_of(limit);
  if (!most || (facts.all != 0 && *most >= facts.all)) return facts;
  const std::uint64_t taken = std::min(*most, bytes_of(used).value_or(0));
  facts.all = *most;
  facts.free = std::min(facts.free == 0 ? *most : facts.free, *most - taken);
  return facts;
}

}  // namespace headscope::system
