#include "viz/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace headscope::viz {
namespace {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

/// FNV-1a over whole words, with a shift so that high bits affect low ones, too.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kFnvPrime;
  return hash ^ (hash >> 29);
}

Point moved(Point p, Point by) {
  return {p.x + by.x, p.y + by.y};
}
Rect moved(Rect r, Point by) {
  return {r.x + by.x, r.y + by.y, r.w, r.h};
}

template <class T>
concept HasRect = requires(T t) {
  t.rect;
};
template <class T>
concept HasPoints = requires(T t) {
  t.points;
};

struct Mover {
  Point by;
  template <HasRect T>
  void operator()(T& item) const {
    item.rect = moved(item.rect, by);
  }
  template <HasPoints T>
  void operator()(T& item) const {
    for (Point& p : item.points) p = moved(p, by);
  }
  void operator()(Image& image) const { image.dest = moved(image.dest, by); }
  void operator()(GlyphRun& run) const { run.origin = moved(run.origin, by); }
  void operator()(PopClip&) const {}
};

}  // namespace

std::uint64_t content_hash(const Bitmap& bitmap) {
  const auto side = [](int n) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)); };
  std::uint64_t hash = mix(kFnvOffset, side(bitmap.width) << 32 | side(bitmap.height));
  for (const Color c : bitmap.pixels) {
    hash = mix(hash, std::uint64_t{c.r} | std::uint64_t{c.g} << 8 | std::uint64_t{c.b} << 16 |
                         std::uint64_t{c.a} << 24);
  }
  return hash;
}

void append(Scene& scene, const Scene& part, Point offset) {
  scene.items.reserve(scene.items.size() + part.items.size());
  for (const Item& item : part.items) {
    scene.items.push_back(item);
    std::visit(Mover{offset}, scene.items.back());
  }
}

static constexpr float kLastGlyph = 0.6F, kAbove = 0.85F, kBelow = 0.25F;  // extents of a line, in ems

std::string_view text_at(const Scene& scene, Point at) {
  for (const Item& item : scene.items | std::views::reverse) {
    const auto* run = std::get_if<GlyphRun>(&item);
    if (run == nullptr || run->glyphs.empty()) continue;
    const float c = std::cos(run->angle), s = std::sin(run->angle);
    const float dx = at.x - run->origin.x, dy = at.y - run->origin.y;
    const float along = c * dx + s * dy, down = c * dy - s * dx;
    const bool inside = along >= 0 && along <= run->glyphs.back().x + kLastGlyph * run->size &&
                        down >= -kAbove * run->size && down <= kBelow * run->size;
    if (inside) return run->text;
  }
  return {};
}

Rect bounds_of(const GlyphRun& text) {
  if (text.glyphs.empty()) return {text.origin.x, text.origin.y, 0, 0};
  const float c = std::cos(text.angle), s = std::sin(text.angle);
  const float length = text.glyphs.back().x + kLastGlyph * text.size, above = kAbove * text.size,
              below = kBelow * text.size;
  const auto [left, right] =
      std::minmax({s * above, -s * below, c * length + s * above, c * length - s * below});
  const auto [top, bottom] =
      std::minmax({-c * above, c * below, s * length - c * above, s * length + c * below});
  return {text.origin.x + left, text.origin.y + top, right - left, bottom - top};
}

}  // namespace headscope::viz
