#include "app/run/sources/paths.h"

#include <stdexcept>
#include <system_error>

#include "system/file.h"
#include "system/machine.h"
#include "system/path_text.h"

namespace headscope::app {

namespace fs = std::filesystem;

std::string version() {
  return HEADSCOPE_VERSION;
}

fs::path assets_folder(const fs::path& program_folder) {
  fs::path installed = (program_folder / ".." / "share" / "headscope").lexically_normal();
  if (system::is_folder(installed / "models")) return installed;
  const fs::path source = system::path_of(HEADSCOPE_SOURCE_ASSETS);  // empty in packages
  std::error_code ignored;
  if (!source.empty() && system::is_folder(source / "models"))
    return fs::absolute(source, ignored);  // built on Linux it has no drive, which Windows' own paths have
  throw std::runtime_error("the program's files are missing: " +
                           (source.empty() ? system::text_of(installed) + " does not exist"
                                           : "neither " + system::text_of(installed) + " nor " +
                                                 system::text_of(source) + " exists") +
                           "; install headscope again or name a model with --model");
}

fs::path assets_folder() {
  return assets_folder(system::executable().parent_path());
}

fs::path bundled_model() {
  return assets_folder() / "models" / kBundledModel;
}

std::optional<fs::path> config_folder(const Environment& environment) {
  const auto folder = system::settings_folder(environment);
  return folder ? std::optional(*folder / "headscope") : std::nullopt;
}

std::optional<fs::path> state_folder(const Environment& environment) {
  const auto folder = system::state_folder(environment);
  return folder ? std::optional(*folder / "headscope") : std::nullopt;
}

fs::path expanded(std::string_view typed, const Environment& environment) {
  if (typed.starts_with('~')) {
    const auto home = system::home_folder(environment);
    if (!home || (typed.size() > 1 && typed[1] != '/')) return system::path_of(typed);
    const std::size_t inside = typed.find_first_not_of('/', 1);
    return inside == std::string_view::npos ? *home : *home / system::path_of(typed.substr(inside));
  }
  if (typed.empty()) return {};  // not the current folder, as LLVM's library has it
  std::error_code error;
  fs::path path = system::path_of(typed);
  fs::path whole = fs::absolute(path, error);
  return error ? path : whole;
}

}  // namespace headscope::app
