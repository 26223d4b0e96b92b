#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "system/folders.h"
#include "system/memory.h"
#include "system/path_text.h"
#include "system/threads.h"
#include "viz/text/font_files.h"
#include "viz/text/text.h"
#include "viz/text/utf8.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb_truetype.h>
#pragma GCC diagnostic pop

// Text is laid out one character after another, with kerning but without shaping: Arabic letters are not
// joined and run from left to right, Indic vowel signs stay in code point order, and emoji sequences are
// shown as their parts. For tokens, which split characters anywhere, that is what a reader needs to see, but
// it is no good way to typeset such texts.

namespace headscope::viz {
namespace {

constexpr std::size_t kStyles = 4;
constexpr std::size_t kAscii = 128;
constexpr char32_t kFirstPrintable = 0x20;
constexpr float kTabSpaces = 4;

std::size_t slot(FontStyle style) {
  return static_cast<std::size_t>(style);
}
bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}

/// Where a character's glyph is, and its size in ems.
struct Metrics {
  std::uint16_t font = 0;
  std::uint32_t glyph = 0;
  float offset = 0;  ///< offset of the glyph within its advance
  float advance = 0;
};

/// Big-endian UTF-16 from a name table, without characters beyond ASCII.
std::string ascii_of_utf16(const char* text, int bytes) {
  std::string result;
  for (int i = 0; i + 1 < bytes; i += 2) {
    if (text[i] == 0 && text[i + 1] > 0) result.push_back(text[i + 1]);
  }
  return result;
}

/// A font file, mapped into memory. All lengths are in ems. Const members are thread-safe.
///
/// Font files are trusted like anything that the system installed: stb_truetype does not check offsets.
class FontFace {
 public:
  /// nullptr if stb_truetype cannot read the file as a font. Opens the first face of a collection (.ttc).
  static std::unique_ptr<const FontFace> open(const std::filesystem::path& path) {
    std::unique_ptr<FontFace> face(new FontFace(path));
    constexpr std::size_t kSmallestFont = 512;
    const auto bytes = face->file_.bytes();
    if (bytes.size() < kSmallestFont) return nullptr;
    const int offset = stbtt_GetFontOffsetForIndex(bytes.data(), 0);
    if (offset < 0 || static_cast<std::size_t>(offset) + kSmallestFont > bytes.size()) return nullptr;
    if (!stbtt_InitFont(&face->info_, bytes.data(), offset)) return nullptr;
    face->em_ = stbtt_ScaleForMappingEmToPixels(&face->info_, 1);
    int up = 0, down = 0, gap = 0;
    stbtt_GetFontVMetrics(&face->info_, &up, &down, &gap);
    face->ascent = static_cast<float>(up) * face->em_;
    face->descent = static_cast<float>(-down) * face->em_;
    face->line_gap = static_cast<float>(gap) * face->em_;
    return face;
  }

  /// 0 if the font does not have it.
  std::uint32_t glyph(char32_t code) const {
    return static_cast<std::uint32_t>(stbtt_FindGlyphIndex(&info_, static_cast<int>(code)));
  }
  float advance(std::uint32_t glyph) const {
    int width = 0, bearing = 0;
    stbtt_GetGlyphHMetrics(&info_, static_cast<int>(glyph), &width, &bearing);
    return static_cast<float>(width) * em_;
  }
  float kerning(std::uint32_t left, std::uint32_t right) const {
    const int units = stbtt_GetGlyphKernAdvance(&info_, static_cast<int>(left), static_cast<int>(right));
    return static_cast<float>(units) * em_;
  }
  Outline outline(std::uint32_t glyph) const {
    stbtt_vertex* vertices = nullptr;
    const int count = stbtt_GetGlyphShape(&info_, static_cast<int>(glyph), &vertices);
    const auto point = [&](int x, int y) {
      return Point{static_cast<float>(x) * em_, static_cast<float>(-y) * em_};
    };
    Outline result;
    result.reserve(count);
    for (int i = 0; i < count; ++i) {
      const stbtt_vertex& v = vertices[i];
      const Point to = point(v.x, v.y);
      switch (v.type) {
        case STBTT_vmove:
          result.push_back({OutlinePoint::Kind::move, to, {}, {}});
          break;
        case STBTT_vline:
          result.push_back({OutlinePoint::Kind::line, to, {}, {}});
          break;
        case STBTT_vcurve:
          result.push_back({OutlinePoint::Kind::quad, to, point(v.cx, v.cy), {}});
          break;
        case STBTT_vcubic:
          result.push_back({OutlinePoint::Kind::cubic, to, point(v.cx, v.cy), point(v.cx1, v.cy1)});
          break;
        default:
          break;
      }
    }
    stbtt_FreeShape(&info_, vertices);
    return result;
  }
  float cap_height() const {
    int left = 0, bottom = 0, right = 0, top = 0;
    const bool found = stbtt_GetCodepointBox(&info_, 'H', &left, &bottom, &right, &top) != 0;
    constexpr float kDefault = 0.72F;
    return found && top > 0 ? static_cast<float>(top) * em_ : kDefault;
  }
  std::string family() const {
    constexpr int kTypographicFamily = 16, kFamily = 1;
    for (const int name : {kTypographicFamily, kFamily}) {
      int bytes = 0;
      const char* text = stbtt_GetFontNameString(&info_, &bytes, STBTT_PLATFORM_ID_MICROSOFT,
                                                 STBTT_MS_EID_UNICODE_BMP, STBTT_MS_LANG_ENGLISH, name);
      if (text != nullptr && bytes > 0) return ascii_of_utf16(text, bytes);
    }
    return {};
  }

  float ascent = 0, descent = 0, line_gap = 0;

 private:
  explicit FontFace(const std::filesystem::path& path) : file_(path) {}
  system::MappedFile file_;
  stbtt_fontinfo info_{};
  float em_ = 0;  ///< ems per font unit
};

/// The font of characters that no font has, in place of which their labels are drawn.
constexpr std::uint16_t kNoFont = 0xFFFF;

}  // namespace

struct Fonts::Impl {
  struct File {
    std::filesystem::path path;
    mutable std::once_flag once;
    mutable std::unique_ptr<const FontFace> face;
    explicit File(std::filesystem::path p) : path(std::move(p)) {}
  };
  /// ASCII characters, which nearly all text consists of; read without a lock.
  struct AsciiTable {
    std::once_flag once;
    std::array<Metrics, kAscii> metrics;
    std::array<std::array<float, kAscii>, kAscii> kerning{};
  };

  std::vector<std::unique_ptr<File>> files;
  std::array<std::vector<std::uint16_t>, kStyles> order;
  mutable std::array<AsciiTable, kStyles> ascii;
  mutable system::Mutex mutex;  ///< guards `others`
  mutable std::array<std::unordered_map<char32_t, Metrics>, kStyles> others;

  /// Null if a style has no readable face.
  static std::unique_ptr<Impl> open(FontFiles found) {
    auto impl = std::make_unique<Impl>();
    for (std::filesystem::path& file : found.files) {
      impl->files.push_back(std::make_unique<File>(std::move(file)));
    }
    impl->order = std::move(found.order);
    for (auto& order : impl->order) {
      // The style's first face must open; a fallback that does not open is skipped when it is needed.
      while (!order.empty() && impl->face(order.front()) == nullptr) order.erase(order.begin());
      if (order.empty()) return nullptr;
    }
    return impl;
  }

  const FontFace* face(std::uint16_t font) const {
    const File& file = *files[font];
    std::call_once(file.once, [&] { file.face = FontFace::open(file.path); });
    return file.face.get();
  }

  const FontFace& primary(FontStyle style) const { return *face(order[slot(style)].front()); }

  Metrics look_up(char32_t code, FontStyle style) const {
    for (const std::uint16_t font : order[slot(style)]) {
      const FontFace* candidate = face(font);
      if (candidate == nullptr) continue;
      if (const std::uint32_t glyph = candidate->glyph(code); glyph != 0) {
        return {font, glyph, 0, candidate->advance(glyph)};
      }
    }
    return {kNoFont, 0, 0, 0};
  }

  const AsciiTable& ascii_table(FontStyle style) const {
    AsciiTable& table = ascii[slot(style)];
    std::call_once(table.once, [&] { fill(table, style); });
    return table;
  }

  void fill(AsciiTable& table, FontStyle style) const {
    for (char32_t c = kFirstPrintable; c < kAscii; ++c) table.metrics[c] = look_up(c, style);
    // All digits are as wide as the widest: numbers line up, and changing readouts do not jitter.
    float widest = 0;
    for (char32_t c = '0'; c <= '9'; ++c) widest = std::max(widest, table.metrics[c].advance);
    for (char32_t c = '0'; c <= '9'; ++c) {
      Metrics& m = table.metrics[c];
      m.offset = (widest - m.advance) / 2;
      m.advance = widest;
    }
    if (style == FontStyle::mono) return;
    for (char32_t a = kFirstPrintable; a < kAscii; ++a) {
      for (char32_t b = kFirstPrintable; b < kAscii; ++b) {
        if (is_digit(a) || is_digit(b)) continue;
        const Metrics &l = table.metrics[a], &r = table.metrics[b];
        if (l.font == r.font && l.font != kNoFont) {
          table.kerning[a][b] = face(l.font)->kerning(l.glyph, r.glyph);
        }
      }
    }
  }

  Metrics metrics(char32_t code, FontStyle style, const AsciiTable& table) const {
    if (code < kAscii) return table.metrics[code];
    const std::lock_guard lock(mutex);
    const auto [at, added] = others[slot(style)].try_emplace(code);
    if (added) at->second = look_up(code, style);
    return at->second;
  }

  /// Iterates over a text, in ems: calls `on_glyph(metrics, x)` for each glyph to draw, and
  /// `on_cluster(start, end, x, end x)` for each character. Returns the width.
  template <class OnGlyph, class OnCluster>
  double walk(std::string_view text, FontStyle style, OnGlyph&& on_glyph, OnCluster&& on_cluster) const {
    const AsciiTable& table = ascii_table(style);
    double x = 0;
    char32_t previous = 0;
    Metrics previous_metrics;
    struct Open {
      std::size_t start = 0, end = 0;
      double x = 0;
    } open;  // the last cluster, whose width may still change by kerning with the next one

    const auto kern = [&](char32_t code, const Metrics& m) {
      if (previous == 0) return;
      if (previous < kAscii && code < kAscii) {
        x += table.kerning[previous][code];
      } else if (style != FontStyle::mono && m.font == previous_metrics.font && m.font != kNoFont) {
        x += face(m.font)->kerning(previous_metrics.glyph, m.glyph);
      }
    };
    const auto put = [&](char32_t code) {
      const Metrics m = metrics(code, style, table);
      on_glyph(m, x + m.offset);
      x += m.advance;
      previous = code;
      previous_metrics = m;
    };
    const auto put_label = [&](const std::string& label) {
      for (const char c : label) put(static_cast<unsigned char>(c));
      previous = 0;
    };

    for (std::size_t at = 0; at < text.size();) {
      const Decoded c = decode_utf8(text, at);
      const bool plain =
          c.valid && !is_control(c.code) && !is_drawn_as_label(c.code) && !is_invisible(c.code);
      const bool is_known = plain && metrics(c.code, style, table).font != kNoFont;
      if (is_known) {
        kern(c.code, metrics(c.code, style, table));
      } else {
        previous = 0;
      }
      if (open.end > 0) on_cluster(open.start, open.end, open.x, x);
      open = {at, at + c.length, x};
      if (is_known) {
        put(c.code);
      } else if (!c.valid) {
        put_label(byte_label(static_cast<unsigned char>(c.code)));
      } else if (c.code == '\t') {
        x += kTabSpaces * table.metrics[' '].advance;
      } else if (plain || is_drawn_as_label(c.code)) {
        put_label(code_point_label(c.code));
      } else if (is_control(c.code)) {
        const char32_t picture = c.code == 0x7F ? U'\u2421' : 0x2400 + c.code;
        if (metrics(picture, style, table).font == kNoFont) {
          put_label(byte_label(static_cast<unsigned char>(c.code)));
        } else {
          put(picture);
          previous = 0;
        }
      }
      at += c.length;
    }
    if (open.end > 0) on_cluster(open.start, open.end, open.x, x);
    return x;
  }
};

Fonts::Fonts(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Fonts::~Fonts() = default;

std::shared_ptr<const Fonts> Fonts::load() {
  return load(system::font_folders(system::process_environment()));
}

std::shared_ptr<const Fonts> Fonts::load(std::span<const std::filesystem::path> folders) {
  std::unique_ptr<Impl> found = Impl::open(find_font_files(folders));
  if (!found)
    throw std::runtime_error(
        "no usable font found: install Inter, DejaVu or Noto (on Debian, the package fonts-inter, "
        "fonts-dejavu-core or fonts-noto-core)");
  return std::shared_ptr<const Fonts>(new Fonts(std::move(found)));
}

TextLayout Fonts::layout(std::string_view text, FontStyle style, float size) const {
  TextLayout layout;
  layout.glyphs.reserve(text.size());
  layout.clusters.reserve(text.size());
  const auto scaled = [&](double ems) { return static_cast<float>(ems * size); };
  const double width = impl_->walk(
      text, style,
      [&](const Metrics& m, double x) {
        layout.glyphs.push_back({m.font, m.glyph, scaled(x)});
      },
      [&](std::size_t start, std::size_t end, double x, double end_x) {
        layout.clusters.push_back({start, end, scaled(x), scaled(end_x - x)});
      });
  layout.width = scaled(width);
  return layout;
}

float Fonts::width(std::string_view text, FontStyle style, float size) const {
  const double ems = impl_->walk(
      text, style, [](const Metrics&, double) {}, [](std::size_t, std::size_t, double, double) {});
  return static_cast<float>(ems * size);
}

std::string Fonts::fit(std::string_view text, FontStyle style, float size, float max_width) const {
  constexpr std::string_view kEllipsis = "…";
  if (width(text, style, size) <= max_width) return std::string(text);
  const TextLayout whole = layout(text, style, size);
  const float room = max_width - width(kEllipsis, style, size);
  if (room < 0) return {};
  const auto fits = [&](const Cluster& c) { return c.x + c.advance <= room; };
  auto kept = std::ranges::find_if_not(whole.clusters, fits);
  for (;;) {
    std::size_t end = kept == whole.clusters.begin() ? 0 : std::prev(kept)->end;
    // A space before the ellipsis looks like a mistake.
    while (end > 0 && text[end - 1] == ' ') --end;
    std::string fitted = std::string(text.substr(0, end)).append(kEllipsis);
    // Kerned with the ellipsis, the last character may be wider than with its original successor.
    if (end == 0 || width(fitted, style, size) <= max_width) return fitted;
    --kept;
  }
}

float Fonts::ascent(FontStyle style, float size) const {
  return impl_->primary(style).ascent * size;
}
float Fonts::descent(FontStyle style, float size) const {
  return impl_->primary(style).descent * size;
}
float Fonts::line_height(FontStyle style, float size) const {
  const FontFace& face = impl_->primary(style);
  return (face.ascent + face.descent + face.line_gap) * size;
}
float Fonts::cap_height(FontStyle style, float size) const {
  return impl_->primary(style).cap_height() * size;
}

Outline Fonts::outline(const Glyph& glyph) const {
  const FontFace* face = glyph.font < impl_->files.size() ? impl_->face(glyph.font) : nullptr;
  return face != nullptr ? face->outline(glyph.index) : Outline{};
}

std::filesystem::path Fonts::file(FontStyle style) const {
  return impl_->files[impl_->order[slot(style)].front()]->path;
}

std::filesystem::path Fonts::file(const Glyph& glyph) const {
  return glyph.font < impl_->files.size() ? impl_->files[glyph.font]->path : std::filesystem::path();
}

std::string Fonts::family(const Glyph& glyph) const {
  const FontFace* face = glyph.font < impl_->files.size() ? impl_->face(glyph.font) : nullptr;
  return face != nullptr ? face->family() : std::string();
}

int Fonts::weight(const Glyph& glyph) const {
  if (glyph.font >= impl_->files.size()) return 400;
  const std::string name = system::text_of(impl_->files[glyph.font]->path.stem());
  if (name.ends_with("-Medium")) return 500;
  if (name.ends_with("-SemiBold") || name == "seguisb") return 600;
  return name.ends_with("Bold") || name == "segoeuib" || name == "arialbd" ? 700 : 400;
}

}  // namespace headscope::viz
