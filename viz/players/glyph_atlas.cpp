#include "viz/players/glyph_atlas.h"

#include <algorithm>

namespace headscope::viz {
namespace {

constexpr std::size_t kMaxPages = 4;
constexpr int kWhiteSpot = 3;
constexpr int kGlyphGap = 1;
constexpr int kSmallestShelf = 8;

}  // namespace

GlyphAtlas::GlyphAtlas(TextureBackend& textures) : textures_(textures) {
  add_page();
}
GlyphAtlas::~GlyphAtlas() {
  clear();
}

void GlyphAtlas::clear() {
  for (const Page& page : pages_) textures_.destroy(page.texture);
  pages_.clear();
  entries_.clear();
}

void GlyphAtlas::begin_frame() {
  if (pages_.size() <= kMaxPages) return;
  clear();
  add_page();
}

void GlyphAtlas::add_page() {
  Page page;
  page.bitmap = Bitmap::filled(kSide, kSide, {255, 255, 255, 0});
  if (pages_.empty()) {
    for (int y = 0; y < kWhiteSpot; ++y) {
      std::fill_n(page.bitmap.pixels.begin() + y * kSide, kWhiteSpot, Color{255, 255, 255, 255});
    }
    page.shelf_x = kWhiteSpot + kGlyphGap;
    page.shelf_height = kSmallestShelf;
  }
  page.texture = textures_.create(page.bitmap, true);
  pages_.push_back(std::move(page));
}

bool GlyphAtlas::place(Page& page, int width, int height, int& x, int& y) {
  if (page.shelf_x + width > kSide || height > page.shelf_height) {
    // An empty shelf can grow; otherwise the next one begins below it.
    const bool empty = page.shelf_x == 0;
    const int top =
        empty ? page.shelf_y : page.shelf_y + page.shelf_height + (page.shelf_height > 0 ? kGlyphGap : 0);
    // Rounded up, so that glyphs of similar heights share a shelf.
    const int shelf = std::min((height + kSmallestShelf - 1) / kSmallestShelf * kSmallestShelf, kSide);
    if (top + shelf > kSide || width > kSide) return false;
    page.shelf_y = top;
    page.shelf_height = shelf;
    page.shelf_x = 0;
  }
  x = page.shelf_x;
  y = page.shelf_y;
  page.shelf_x += width + kGlyphGap;
  return true;
}

const GlyphAtlas::Entry& GlyphAtlas::find(const GlyphKey& key, const Fonts& fonts) {
  const auto [at, added] = entries_.try_emplace(key);
  Entry& entry = at->second;
  if (!added) return entry;
  const GlyphMask mask = rasterize_glyph(fonts.outline({key.font, key.index, 0}), key);
  if (mask.width == 0 || mask.height == 0 || mask.width > kSide || mask.height > kSide) return entry;
  int x = 0, y = 0;
  if (!place(pages_.back(), mask.width, mask.height, x, y)) {
    add_page();
    place(pages_.back(), mask.width, mask.height, x, y);
  }
  Page& page = pages_.back();
  for (int row = 0; row < mask.height; ++row) {
    Color* out = &page.bitmap.at(x, y + row);
    const std::uint8_t* alpha = &mask.alpha[row * mask.width];
    for (int i = 0; i < mask.width; ++i) out[i].a = alpha[i];
  }
  const bool clean = page.dirty_first == page.dirty_end;
  page.dirty_first = clean ? y : std::min(page.dirty_first, y);
  page.dirty_end = clean ? y + mask.height : std::max(page.dirty_end, y + mask.height);
  entry = {static_cast<int>(pages_.size()) - 1, x, y, mask.x, mask.y, mask.width, mask.height};
  return entry;
}

void GlyphAtlas::upload() {
  for (Page& page : pages_) {
    if (page.dirty_end > page.dirty_first) {
      textures_.update(page.texture, page.bitmap, page.dirty_first, page.dirty_end - page.dirty_first);
    }
    page.dirty_first = page.dirty_end = 0;
  }
}

}  // namespace headscope::viz
