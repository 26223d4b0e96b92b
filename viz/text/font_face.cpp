#include "viz/text/font_face.h"

#include <cstddef>

#include "system/mapped_file.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb_truetype.h>
#pragma GCC diagnostic pop

namespace headscope::viz {
namespace {

/// Big-endian UTF-16 from a name table, without characters beyond ASCII.
std::string ascii_of_utf16(const char* text, int bytes) {
  std::string result;
  for (int i = 0; i + 1 < bytes; i += 2) {
    if (text[i] == 0 && text[i + 1] > 0) result.push_back(text[i + 1]);
  }
  return result;
}

}  // namespace

struct FontFace::Impl {
  system::MappedFile file;
  stbtt_fontinfo info{};
  float em = 0;  ///< ems per font unit
  float ascent = 0, descent = 0, line_gap = 0;
};

FontFace::FontFace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FontFace::~FontFace() = default;

std::unique_ptr<const FontFace> FontFace::open(const std::filesystem::path& file) {
  auto impl = std::make_unique<Impl>(Impl{system::MappedFile(file)});
  constexpr std::size_t kSmallestFont = 512;
  const auto bytes = impl->file.bytes();
  if (bytes.size() < kSmallestFont) return nullptr;
  const int offset = stbtt_GetFontOffsetForIndex(bytes.data(), 0);
  if (offset < 0 || static_cast<std::size_t>(offset) + kSmallestFont > bytes.size()) return nullptr;
  if (!stbtt_InitFont(&impl->info, bytes.data(), offset)) return nullptr;
  impl->em = stbtt_ScaleForMappingEmToPixels(&impl->info, 1);
  int ascent = 0, descent = 0, line_gap = 0;
  stbtt_GetFontVMetrics(&impl->info, &ascent, &descent, &line_gap);
  impl->ascent = static_cast<float>(ascent) * impl->em;
  impl->descent = static_cast<float>(-descent) * impl->em;
  impl->line_gap = static_cast<float>(line_gap) * impl->em;
  return std::unique_ptr<const FontFace>(new FontFace(std::move(impl)));
}

std::uint32_t FontFace::glyph(char32_t code) const {
  return static_cast<std::uint32_t>(stbtt_FindGlyphIndex(&impl_->info, static_cast<int>(code)));
}

float FontFace::advance(std::uint32_t glyph) const {
  int advance = 0, bearing = 0;
  stbtt_GetGlyphHMetrics(&impl_->info, static_cast<int>(glyph), &advance, &bearing);
  return static_cast<float>(advance) * impl_->em;
}

float FontFace::kerning(std::uint32_t left, std::uint32_t right) const {
  const int units = stbtt_GetGlyphKernAdvance(&impl_->info, static_cast<int>(left), static_cast<int>(right));
  return static_cast<float>(units) * impl_->em;
}

Outline FontFace::outline(std::uint32_t glyph) const {
  stbtt_vertex* vertices = nullptr;
  const int count = stbtt_GetGlyphShape(&impl_->info, static_cast<int>(glyph), &vertices);
  const auto point = [&](int x, int y) {
    return Point{static_cast<float>(x) * impl_->em, static_cast<float>(-y) * impl_->em};
  };
  Outline outline;
  outline.reserve(count);
  for (int i = 0; i < count; ++i) {
    const stbtt_vertex& v = vertices[i];
    const Point to = point(v.x, v.y);
    switch (v.type) {
      case STBTT_vmove:
        outline.push_back({OutlinePoint::Kind::move, to, {}, {}});
        break;
      case STBTT_vline:
        outline.push_back({OutlinePoint::Kind::line, to, {}, {}});
        break;
      case STBTT_vcurve:
        outline.push_back({OutlinePoint::Kind::quad, to, point(v.cx, v.cy), {}});
        break;
      case STBTT_vcubic:
        outline.push_back({OutlinePoint::Kind::cubic, to, point(v.cx, v.cy), point(v.cx1, v.cy1)});
        break;
      default:
        break;
    }
  }
  stbtt_FreeShape(&impl_->info, vertices);
  return outline;
}

float FontFace::ascent() const {
  return impl_->ascent;
}
float FontFace::descent() const {
  return impl_->descent;
}
float FontFace::line_gap() const {
  return impl_->line_gap;
}

float FontFace::cap_height() const {
  int left = 0, bottom = 0, right = 0, top = 0;
  const bool found = stbtt_GetCodepointBox(&impl_->info, 'H', &left, &bottom, &right, &top) != 0;
  constexpr float kDefault = 0.72F;
  return found && top > 0 ? static_cast<float>(top) * impl_->em : kDefault;
}

std::string FontFace::family() const {
  constexpr int kTypographicFamily = 16, kFamily = 1;
  for (const int name : {kTypographicFamily, kFamily}) {
    int bytes = 0;
    const char* text = stbtt_GetFontNameString(&impl_->info, &bytes, STBTT_PLATFORM_ID_MICROSOFT,
                                               STBTT_MS_EID_UNICODE_BMP, STBTT_MS_LANG_ENGLISH, name);
    if (text != nullptr && bytes > 0) return ascii_of_utf16(text, bytes);
  }
  return {};
}

}  // namespace headscope::viz
