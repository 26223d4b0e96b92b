#include "app/desktop/reduced_motion.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace headscope::app {
namespace {

std::string_view trimmed_value(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

/// The beginning of a file; empty if it cannot be read.
std::string beginning_of(const std::filesystem::path& file) {
  constexpr std::size_t kMost = std::size_t{1} << 18;
  std::ifstream in(file, std::ios::binary);
  std::string text(kMost, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

std::string_view ini_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && trimmed_value(line.substr(0, equals)) == key)
      return trimmed_value(line.substr(equals + 1));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return {};
}

bool wants_less_motion(const Environment& environment) {
  if (const auto said = environment("HEADSCOPE_REDUCE_MOTION")) return *said != "0";
  const auto ours = config_folder(environment);
  if (!ours) return false;
  const std::filesystem::path folder = ours->parent_path();
  for (const char* file : {"gtk-4.0/settings.ini", "gtk-3.0/settings.ini"}) {
    const std::string text = beginning_of(folder / file);
    const std::string_view value = ini_value(text, "gtk-enable-animations");
    if (!value.empty()) return value == "0" || value == "false";
  }
  const std::string text = beginning_of(folder / "kdeglobals");
  const std::string value(ini_value(text, "AnimationDurationFactor"));
  return !value.empty() && std::strtod(value.c_str(), nullptr) == 0;
}

}  // namespace headscope::app
