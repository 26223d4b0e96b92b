#include "viz/text/fontconfig.h"

#ifdef HEADSCOPE_FONTCONFIG
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <memory>
#include <string_view>
#endif

namespace headscope::viz {

#ifdef HEADSCOPE_FONTCONFIG
namespace {

namespace fs = std::filesystem;

/// Maximum number of fallbacks per style: the last ones in fontconfig's order are for rarely used scripts.
constexpr std::size_t kMaxFallbacks = 40;

struct Destroy {
  void operator()(FcConfig* config) const { FcConfigDestroy(config); }
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
  void operator()(FcFontSet* set) const { FcFontSetDestroy(set); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Destroy>;

Owned<FcConfig> load(const fs::path& configuration) {
  if (configuration.empty()) return Owned<FcConfig>(FcInitLoadConfigAndFonts());
  Owned<FcConfig> config(FcConfigCreate());
  const auto* file = reinterpret_cast<const FcChar8*>(configuration.c_str());
  if (!config || !FcConfigParseAndLoad(config.get(), file, FcTrue) || !FcConfigBuildFonts(config.get()))
    return nullptr;
  return config;
}

int number_of(FcPattern* font, const char* key) {
  int value = 0;
  return FcPatternGetInteger(font, key, 0, &value) == FcResultMatch ? value : 0;
}

std::string_view text_of(FcPattern* font, const char* key) {
  FcChar8* value = nullptr;
  if (FcPatternGetString(font, key, 0, &value) != FcResultMatch) return {};
  return reinterpret_cast<const char*>(value);
}

/// Whether a font is an outline font in a file of its own, or the first of a collection.
bool is_readable(FcPattern* font) {
  const std::string_view format = text_of(font, FC_FONTFORMAT);
  constexpr int kFaceOfCollection = 0xFFFF;  // higher bits are the named instance of a variable font
  return (format == "TrueType" || format == "CFF") && (number_of(font, FC_INDEX) & kFaceOfCollection) == 0;
}

class Finder {
 public:
  explicit Finder(FcConfig& config) : config_(config) {}

  FontFiles find() && {
    const struct {
      const char* family;
      int weight;
    } styles[] = {{"sans-serif", FC_WEIGHT_REGULAR},
                  {"sans-serif", FC_WEIGHT_MEDIUM},
                  {"sans-serif", FC_WEIGHT_DEMIBOLD},
                  {"monospace", FC_WEIGHT_REGULAR}};
    for (std::size_t i = 0; i < std::size(styles); ++i)
      add(found_.order[i], styles[i].family, styles[i].weight);
    return std::ranges::any_of(found_.order, [](const auto& order) { return order.empty(); })
               ? FontFiles{}
               : std::move(found_);
  }

 private:
  FcConfig& config_;
  FontFiles found_;

  /// Adds a style's face, and those that have characters which the previous ones lack.
  void add(std::vector<std::uint16_t>& order, const char* family, int weight) {
    const Owned<FcPattern> wanted(FcPatternBuild(nullptr, FC_FAMILY, FcTypeString, family, FC_WEIGHT,
                                                 FcTypeInteger, weight, FC_SLANT, FcTypeInteger,
                                                 FC_SLANT_ROMAN, FC_SCALABLE, FcTypeBool, FcTrue, nullptr));
    if (!wanted) return;
    FcConfigSubstitute(&config_, wanted.get(), FcMatchPattern);
    FcDefaultSubstitute(wanted.get());
    FcResult result = FcResultNoMatch;
    const Owned<FcFontSet> set(FcFontSort(&config_, wanted.get(), FcTrue, nullptr, &result));
    if (!set) return;
    for (int i = 0; i < set->nfont && order.size() < kMaxFallbacks; ++i) {
      FcPattern* font = set->fonts[i];
      if (is_readable(font)) found_.add(order, text_of(font, FC_FILE));
    }
  }
};

}  // namespace

FontFiles find_font_files_by_fontconfig(const fs::path& configuration) {
  const Owned<FcConfig> config = load(configuration);
  return config ? Finder(*config).find() : FontFiles{};
}

#else

FontFiles find_font_files_by_fontconfig(const std::filesystem::path& /*configuration*/) {
  return {};
}

#endif

}  // namespace headscope::viz
