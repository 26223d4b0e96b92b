#include "viz/text/font_files.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "system/file.h"
#include "system/path_text.h"

namespace headscope::viz {
namespace {

namespace fs = std::filesystem;

// Those of Linux, then those that come with Windows. The first installed file is the style's face.
// Bold is used for emphasis, so semi-bold is preferred.
constexpr std::string_view kRegular[] = {"Inter-Regular.otf",
                                         "Inter-Regular.ttf",
                                         "NotoSans-Regular.ttf",
                                         "DejaVuSans.ttf",
                                         "NotoSans[wght].ttf",
                                         "AdwaitaSans-Regular.ttf",
                                         "LiberationSans-Regular.ttf",
                                         "FreeSans.ttf",
                                         "segoeui.ttf",
                                         "arial.ttf",
                                         "Arial.ttf"};
constexpr std::string_view kMedium[] = {"Inter-Medium.otf", "Inter-Medium.ttf", "NotoSans-Medium.ttf"};
constexpr std::string_view kBold[] = {"Inter-SemiBold.otf", "Inter-SemiBold.ttf",  "NotoSans-SemiBold.ttf",
                                      "NotoSans-Bold.ttf",  "DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf",
                                      "FreeSansBold.ttf",   "seguisb.ttf",         "segoeuib.ttf",
                                      "arialbd.ttf"};
constexpr std::string_view kMono[] = {"JetBrainsMono-Regular.ttf",
                                      "DejaVuSansMono.ttf",
                                      "NotoSansMono-Regular.ttf",
                                      "NotoSansMono[wght].ttf",
                                      "AdwaitaMono-Regular.ttf",
                                      "LiberationMono-Regular.ttf",
                                      "FreeMono.ttf",
                                      "consola.ttf",
                                      "cour.ttf"};

constexpr std::string_view kBoldFallbacks[] = {"DejaVuSans-Bold.ttf", "NotoSansCJK-Bold.ttc"};
constexpr std::string_view kFallbacks[] = {"DejaVuSans.ttf",
                                           "NotoSans-Regular.ttf",
                                           "NotoSans[wght].ttf",
                                           "NotoSansCJK-Regular.ttc",
                                           "NotoSansSymbols-Regular.ttf",
                                           "NotoSansSymbols2-Regular.ttf",
                                           "NotoSansMath-Regular.ttf",
                                           "NotoEmoji-Regular.ttf",
                                           "Symbola.ttf",
                                           "Symbola_hint.ttf",
                                           "DroidSansFallbackFull.ttf",
                                           "DroidSansFallback.ttf",
                                           "FreeSans.ttf",
                                           "unifont.ttf",
                                           "unifont_upper.ttf",
                                           "segoeui.ttf",
                                           "seguisym.ttf",
                                           "seguiemj.ttf",
                                           "msyh.ttc",
                                           "YuGothM.ttc",
                                           "malgun.ttf",
                                           "arial.ttf",
                                           "Arial.ttf"};

/// Fonts for a single script, e.g. NotoSansThai-Regular.ttf.
bool is_noto_script(std::string_view name) {
  return name.starts_with("NotoSans") && (name.ends_with("-Regular.ttf") || name.ends_with("-Regular.otf"));
}

bool is_known(std::string_view name) {
  const auto in = [&](const auto& names) { return std::ranges::find(names, name) != std::end(names); };
  return in(kRegular) || in(kMedium) || in(kBold) || in(kMono) || in(kBoldFallbacks) || in(kFallbacks) ||
         is_noto_script(name);
}

/// File name -> path. If files have the same name, the earlier folder's is used, and within a folder the
/// first in alphabetical order.
using Found = std::map<std::string, fs::path, std::less<>>;

Found scan(std::span<const fs::path> folders) {
  Found found;
  for (const fs::path& folder : folders) {
    Found here;
    std::error_code error;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      const fs::path& file = it->path();
      // Windows would have to be asked about each file whether it is a folder, which takes longer than the
      // rest.
      const fs::path ending = file.extension();
      if (ending == ".ttf" || ending == ".otf" || ending == ".ttc") it.disable_recursion_pending();
      std::string name = system::text_of(file.filename());
      if (!is_known(name) || !system::is_file(file)) continue;
      const auto [entry, added] = here.try_emplace(std::move(name), file);
      if (!added && file < entry->second) entry->second = file;
    }
    found.merge(here);
  }
  return found;
}

}  // namespace

FontFiles find_font_files(std::span<const fs::path> folders) {
  const Found found = scan(folders);
  FontFiles result;
  auto& styles = result.order;
  const auto add = [&files = result.files](std::vector<std::uint16_t>& order, const fs::path& file) {
    const auto at = std::ranges::find(files, file);
    const auto index = static_cast<std::uint16_t>(at - files.begin());
    if (at == files.end()) files.push_back(file);
    if (std::ranges::find(order, index) == order.end()) order.push_back(index);
  };
  const auto add_found = [&](std::vector<std::uint16_t>& order, std::span<const std::string_view> names,
                             std::size_t most) {
    for (const std::string_view name : names)
      if (const auto at = found.find(name); at != found.end() && order.size() < most) add(order, at->second);
  };
  const std::span<const std::string_view> own[] = {kRegular, kMedium, kBold, kMono};
  for (std::size_t i = 0; i < styles.size(); ++i) add_found(styles[i], own[i], 1);
  auto& [regular, medium, bold, mono] = styles;
  if (regular.empty()) regular = !medium.empty() ? medium : mono;
  if (regular.empty()) return {};
  for (auto& order : styles)
    if (order.empty()) order = regular;
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  add_found(bold, kBoldFallbacks, kAll);
  for (auto& order : styles) {
    add_found(order, kFallbacks, kAll);
    for (const auto& [name, path] : found)
      if (is_noto_script(name)) add(order, path);
  }
  return result;
}

}  // namespace headscope::viz
