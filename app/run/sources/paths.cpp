#include "app/run/sources/paths.h"

#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace headscope::app {

namespace fs = std::filesystem;

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value || !*value) return std::nullopt;
    return value;
  };
}

fs::path executable_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw std::runtime_error("cannot locate this program (/proc/self/exe): " + error.message());
  return program.parent_path();
}

fs::path assets_folder(const fs::path& program_folder) {
  std::error_code ignored;
  fs::path installed = (program_folder / ".." / "share" / "headscope").lexically_normal();
  if (fs::is_directory(installed / "models", ignored)) return installed;
  const fs::path source = HEADSCOPE_SOURCE_ASSETS;  // empty in packages
  if (!source.empty() && fs::is_directory(source / "models", ignored)) return source;
  throw std::runtime_error("the program's files are missing: " +
                           (source.empty()
                                ? installed.string() + " does not exist"
                                : "neither " + installed.string() + " nor " + source.string() + " exists") +
                           "; install headscope again or name a model with --model");
}

fs::path assets_folder() {
  return assets_folder(executable_folder());
}

fs::path bundled_model() {
  return assets_folder() / "models" / kBundledModel;
}

namespace {

/// $VARIABLE/headscope if that is an absolute path, else ~/`otherwise`/headscope.
std::optional<fs::path> own_folder(const Environment& environment, const char* variable,
                                   const char* otherwise) {
  if (const auto folder = environment(variable); folder && fs::path(*folder).is_absolute())
    return fs::path(*folder) / "headscope";
  if (const auto home = environment("HOME")) return fs::path(*home) / otherwise / "headscope";
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> config_folder(const Environment& environment) {
  return own_folder(environment, "XDG_CONFIG_HOME", ".config");
}

std::optional<fs::path> state_folder(const Environment& environment) {
  return own_folder(environment, "XDG_STATE_HOME", ".local/state");
}

fs::path expanded(std::string_view typed, const Environment& environment) {
  if (typed.starts_with('~')) {
    const auto home = environment("HOME");
    if (!home || (typed.size() > 1 && typed[1] != '/')) return typed;
    const std::size_t inside = typed.find_first_not_of('/', 1);
    return inside == std::string_view::npos ? fs::path(*home) : fs::path(*home) / typed.substr(inside);
  }
  std::error_code error;
  fs::path whole = fs::absolute(typed, error);
  return error ? fs::path(typed) : whole;
}

}  // namespace headscope::app
