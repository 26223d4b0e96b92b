#include "viz/text/font_files.h"

#include <algorithm>
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

class Chooser {
 public:
  explicit Chooser(const Found& found) : found_(found) {}

  FontFiles choose() && {
    const auto style = [&](std::size_t i) -> auto& {
      return result_.order[i];
    };
    constexpr std::size_t kStyles = 4;
    const std::span<const std::string_view> own[kStyles] = {kRegular, kMedium, kBold, kMono};
    for (std::size_t i = 0; i < kStyles; ++i) add_first(style(i), own[i]);
    if (style(0).empty()) style(0) = !style(1).empty() ? style(1) : style(3);
    for (std::size_t i = 1; i < kStyles; ++i) {
      if (style(i).empty()) style(i) = style(0);
    }
    if (style(0).empty()) return {};
    add_all(style(2), kBoldFallbacks);
    for (auto& order : result_.order) {
      add_all(order, kFallbacks);
      for (const auto& [name, path] : found_) {
        if (is_noto_script(name)) result_.add(order, path);
      }
    }
    return std::move(result_);
  }

 private:
  using Order = std::vector<std::uint16_t>;

  void add_first(Order& order, std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      if (const auto at = found_.find(name); at != found_.end()) return result_.add(order, at->second);
    }
  }
  void add_all(Order& order, std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      if (const auto at = found_.find(name); at != found_.end()) result_.add(order, at->second);
    }
  }

  const Found& found_;
  FontFiles result_;
};

}  // namespace

void FontFiles::add(std::vector<std::uint16_t>& style, const fs::path& file) {
  const auto at = std::ranges::find(files, file);
  const auto index = static_cast<std::uint16_t>(at - files.begin());
  if (at == files.end()) files.push_back(file);
  if (std::ranges::find(style, index) == style.end()) style.push_back(index);
}

FontFiles find_font_files(std::span<const fs::path> folders) {
  const Found found = scan(folders);
  return Chooser(found).choose();
}

}  // namespace headscope::viz
