#include "viz/players/imgui_player.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "viz/players/coverage.h"
#include "viz/players/device_player.h"
#include "viz/players/imgui_compat.h"
#include "viz/players/texture_backend.h"
#include "viz/scene/mesh.h"
#include "viz/scene/play.h"

namespace headscope::viz {
namespace {

/// Textures with rasterized glyphs, white with the coverage as alpha; the first texture also has a white spot
/// for shapes. When a texture is full, another is added; when there are two more than one frame needs, all
/// are dropped between two frames, because most of their glyphs are of sizes that are no longer shown.
class GlyphAtlas {
 public:
  explicit GlyphAtlas(TextureBackend& textures) : textures_(textures) { add_page(); }
  ~GlyphAtlas() { clear(); }
  GlyphAtlas(const GlyphAtlas&) = delete;
  GlyphAtlas& operator=(const GlyphAtlas&) = delete;

  struct Entry {
    int page = 0;
    int page_x = 0;  ///< position of the mask in the page
    int page_y = 0;
    int x = 0;  ///< see GlyphMask
    int y = 0;
    int width = 0;  ///< 0: nothing to draw
    int height = 0;
  };

  /// Starts a frame. Entries from earlier frames must not be used any more.
  void begin_frame() {
    if (needed_pages_ == 0) needed_pages_ = pages_.size();
    if (pages_.size() <= needed_pages_ + 1) return;
    clear();
    add_page();
    needed_pages_ = 0;
  }
  const Entry& find(const GlyphKey& key, const Fonts& fonts) {
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
  /// Uploads new glyphs to the textures. Call it before the frame is rendered.
  void upload() {
    for (Page& page : pages_) {
      if (page.dirty_end > page.dirty_first) {
        textures_.update(page.texture, page.bitmap, page.dirty_first, page.dirty_end - page.dirty_first);
      }
      page.dirty_first = page.dirty_end = 0;
    }
  }

  std::uint64_t texture(int page) const { return pages_[page].texture; }
  static constexpr int kSide = 1024;
  /// The middle of the white spot on page 0, as a fraction of its side.
  static constexpr float kWhite = 1.5F / kSide;

 private:
  struct Page {
    std::uint64_t texture = 0;
    Bitmap bitmap;
    int shelf_y = 0;  ///< glyphs are placed in rows: top, height and used width of the last one
    int shelf_height = 0;
    int shelf_x = 0;
    int dirty_first = 0;  ///< rows to upload
    int dirty_end = 0;
  };
  static constexpr int kWhiteSpot = 3;
  static constexpr int kGlyphGap = 1;
  static constexpr int kSmallestShelf = 8;
  void add_page() {
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
  void clear() {
    for (const Page& page : pages_) textures_.destroy(page.texture);
    pages_.clear();
    entries_.clear();
  }
  bool place(Page& page, int width, int height, int& x, int& y) {
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

  TextureBackend& textures_;
  std::vector<Page> pages_;
  std::size_t needed_pages_ = 0;  ///< after the first frame since all were dropped; 0: not yet known
  std::unordered_map<GlyphKey, Entry, GlyphKeyHash> entries_;
};

/// A texture not drawn for this many frames is dropped.
constexpr std::uint64_t kIdleFrames = 240;
/// Above this, textures not drawn in the last frame are dropped, least recently used first.
constexpr std::size_t kMaxTextureBytes = std::size_t{256} << 20;
/// Rounded rectangles of at most this many pixels in width or height are not drawn as meshes.
constexpr float kThinnestMesh = 8;
/// The vertices of a primitive must have 16-bit indices.
constexpr std::size_t kPointsPerStroke = 2000;

ImU32 packed(Color c) {
  return IM_COL32(c.r, c.g, c.b, c.a);
}

/// The textures of images, by content id.
class ImageCache {
 public:
  explicit ImageCache(TextureBackend& textures) : textures_(textures) {}
  ~ImageCache() {
    for (const auto& [id, image] : images_) textures_.destroy(image.texture);
  }
  ImageCache(const ImageCache&) = delete;
  ImageCache& operator=(const ImageCache&) = delete;

  void begin_frame() {
    ++frame_;
    std::erase_if(images_, [&](const auto& entry) {
      if (entry.second.last_drawn + kIdleFrames >= frame_) return false;
      drop(entry.second);
      return true;
    });
    while (bytes_ > kMaxTextureBytes) {
      const auto oldest =
          std::ranges::min_element(images_, {}, [](const auto& entry) { return entry.second.last_drawn; });
      if (oldest->second.last_drawn + 1 >= frame_) break;
      drop(oldest->second);
      images_.erase(oldest);
    }
  }

  std::uint64_t texture(const Image& image) {
    const std::uint64_t id = image.content_id != 0 ? image.content_id : content_hash(*image.bitmap);
    const auto [at, added] = images_.try_emplace(id);
    if (added) {
      at->second = {textures_.create(*image.bitmap, true), image.bitmap->pixels.size() * sizeof(Color),
                    frame_};
      bytes_ += at->second.bytes;
    }
    at->second.last_drawn = frame_;
    return at->second.texture;
  }

 private:
  struct CachedTexture {
    std::uint64_t texture = 0;
    std::size_t bytes = 0;
    std::uint64_t last_drawn = 0;
  };
  void drop(const CachedTexture& image) {
    textures_.destroy(image.texture);
    bytes_ -= image.bytes;
  }

  TextureBackend& textures_;
  std::unordered_map<std::uint64_t, CachedTexture> images_;
  std::size_t bytes_ = 0;
  std::uint64_t frame_ = 0;
};

/// What is drawn one after the other shares this memory, from frame to frame.
struct Scratch {
  Mesh mesh;
  std::vector<Point> points;
  Coverage path{PixelRect{}};
  std::vector<float> row, previous;  ///< of the path's rows
};

/// Removes points that equal the previous one, which lines and polygons must not have.
void remove_repeated(std::vector<Point>& points) {
  const auto repeated = std::ranges::unique(points);
  points.erase(repeated.begin(), repeated.end());
}

/// Draws one scene into one draw list. Works in device pixels, as the raster player does, and divides by
/// `pixel_scale` at the end. The scene begins on a whole pixel, so that it looks the same wherever it is.
class Drawing : public DevicePlayer {
 public:
  Drawing(ImDrawList& list, const Fonts& fonts, GlyphAtlas& atlas, ImageCache& images, Scratch& scratch,
          float pixel_scale, Point origin, float scale)
      : DevicePlayer({std::round(origin.x * pixel_scale), std::round(origin.y * pixel_scale)},
                     scale * pixel_scale),
        list_(list),
        fonts_(fonts),
        atlas_(atlas),
        images_(images),
        scratch_(scratch),
        pixel_scale_(pixel_scale) {}

  void draw(const Scene& scene) {
    const Rect whole = device(Rect{0, 0, scene.width, scene.height});
    // A file's picture is rounded up to whole pixels.
    const PixelRect pixels{round_to_pixel(whole.x), round_to_pixel(whole.y),
                           ceil_to_pixel(whole.right() - 1e-3F), ceil_to_pixel(whole.bottom() - 1e-3F)};
    push_clip(pixels);
    compat::sample_nearest(list_, true);  // glyphs are on whole pixels and look the same either way
    use_texture(atlas_.texture(0));
    if (scene.background.a > 0) fill_pixels(pixels, scene.background);
    play(scene, *this);
    pop_clip();
    if (texture_ != 0) compat::pop_texture(list_);
    compat::sample_nearest(list_, false);
  }

  using DevicePlayer::fill;
  void fill(std::span<const Point> convex, Color color) {
    std::vector<Point>& points = scratch_.points;
    points.clear();
    for (const Point p : convex) points.push_back(device(p));
    fill_convex(points, color);
  }

  using DevicePlayer::stroke;
  void stroke(const Lines& lines, float width, Color color) {
    std::vector<Point>& points = scratch_.points;
    for (const auto& stretch : lines.stretches) {
      points.clear();
      for (const Point p : stretch) points.push_back(device(p));
      remove_repeated(points);
      stroke_device(points, width * scale_, color);
    }
  }

  void draw(const Image& image) {
    const PixelRect dest = snapped(device(image.dest));
    if (dest.empty()) return;
    use_texture(images_.texture(image));
    add_quad(dest, ImVec2(0, 0), ImVec2(1, 1), IM_COL32_WHITE);
  }

  void draw(const GlyphRun& run) {
    const Point origin = device(run.origin);
    const ImU32 color = packed(run.color);
    for (const Glyph& glyph : run.glyphs) {
      const PlacedGlyph placed = place_glyph(run, glyph, origin, scale_);
      if (far_from_clip(placed)) continue;
      const GlyphAtlas::Entry& entry = atlas_.find(placed.key, fonts_);
      if (entry.width == 0) continue;
      use_texture(atlas_.texture(entry.page));
      const auto uv = [](int x, int y) {
        return ImVec2(static_cast<float>(x) / GlyphAtlas::kSide, static_cast<float>(y) / GlyphAtlas::kSide);
      };
      const int x = placed.x + entry.x, y = placed.y + entry.y;
      add_quad({x, y, x + entry.width, y + entry.height}, uv(entry.page_x, entry.page_y),
               uv(entry.page_x + entry.width, entry.page_y + entry.height), color);
    }
  }

  void push_clip(const Rect& rect) { push_clip(snapped(device(rect))); }
  void pop_clip() { list_.PopClipRect(); }

 private:
  ImVec2 units(Point at) const { return {at.x / pixel_scale_, at.y / pixel_scale_}; }
  ImVec2 units(int x, int y) const { return units(Point{static_cast<float>(x), static_cast<float>(y)}); }

  /// Whether no part of the glyph can be visible inside the clip, so that it need not be rasterized.
  bool far_from_clip(const PlacedGlyph& placed) const {
    const float reach = 2 * placed.key.em_pixels;
    const ImVec2 low = list_.GetClipRectMin(), high = list_.GetClipRectMax();
    const auto x = static_cast<float>(placed.x), y = static_cast<float>(placed.y);
    return x + reach < low.x * pixel_scale_ || x - reach > high.x * pixel_scale_ ||
           y + reach < low.y * pixel_scale_ || y - reach > high.y * pixel_scale_;
  }

  bool outside_clip(const PixelRect& r) const {
    const ImVec2 low = list_.GetClipRectMin(), high = list_.GetClipRectMax();
    const ImVec2 a = units(r.x0, r.y0), b = units(r.x1, r.y1);
    return b.x <= low.x || a.x >= high.x || b.y <= low.y || a.y >= high.y;
  }

  /// Changes the texture by popping and pushing, so that ImGui can merge adjacent commands with the same one.
  void use_texture(std::uint64_t texture) {
    if (texture == texture_) return;
    if (texture_ != 0) compat::pop_texture(list_);
    compat::push_texture(list_, texture);
    texture_ = texture;
  }

  /// The OpenGL backend truncates the clip's left end, its size, and its distance from the bottom to whole
  /// pixels, after sums that may end just below one: these shares of a pixel keep all four where they are.
  void push_clip(const PixelRect& r) {
    constexpr float kShare = 0.02F;
    const auto x0 = static_cast<float>(r.x0), y0 = static_cast<float>(r.y0),
               x1 = static_cast<float>(std::max(r.x0, r.x1)), y1 = static_cast<float>(std::max(r.y0, r.y1));
    list_.PushClipRect(units(Point{x0 + kShare / 2, y0 - kShare}), units(Point{x1 + kShare, y1 - kShare / 2}),
                       true);
  }

  void add_quad(const PixelRect& r, ImVec2 uv_low, ImVec2 uv_high, ImU32 color) {
    if (r.empty() || outside_clip(r)) return;
    list_.PrimReserve(6, 4);
    list_.PrimRectUV(units(r.x0, r.y0), units(r.x1, r.y1), uv_low, uv_high, color);
  }

  void fill_pixels(const PixelRect& pixels, Color color) override {
    use_texture(atlas_.texture(0));
    const ImVec2 white(GlyphAtlas::kWhite, GlyphAtlas::kWhite);
    add_quad(pixels, white, white, packed(color));
  }

  void fill_round(const Rect& rect, float radius, Color color) override {
    if (!(rect.w > 0) || !(rect.h > 0)) return;
    if (std::min(rect.w, rect.h) <= kThinnestMesh) return fill_exactly(rect, radius, color);
    scratch_.points.clear();
    add_round_rect(scratch_.points, rect, radius);
    fill_convex(scratch_.points, color);
  }

  /// Draws a rounded rectangle as quads of pixels with equal coverage, as in a file: a thin one consists only
  /// of corners, which a mesh with soft edges would draw too faint or too wide.
  void fill_exactly(const Rect& rect, float radius, Color color) {
    const PixelRect bounds = touched(rect);
    if (bounds.empty() || outside_clip(bounds)) return;
    const ImVec2 low = list_.GetClipRectMin(), high = list_.GetClipRectMax();
    Coverage& path = scratch_.path;
    path.reset(intersect(bounds, touched(low.x * pixel_scale_, low.y * pixel_scale_, high.x * pixel_scale_,
                                         high.y * pixel_scale_)));
    add_round_rect(path, rect, radius, true);
    const PixelRect& b = path.bounds();
    std::vector<float>&row = scratch_.row, &previous = scratch_.previous;
    previous.clear();
    int first = b.y0;  // first of the rows that equal `previous`
    for (int y = b.y0; y < b.y1; ++y) {
      path.row(y, row);
      if (row == previous) continue;
      fill_columns(previous, b.x0, first, y, color);
      std::swap(row, previous);
      first = y;
    }
    fill_columns(previous, b.x0, first, b.y1, color);
  }

  /// Fills rows [y0, y1); the coverage of each pixel from x0 on is in `coverage`.
  void fill_columns(const std::vector<float>& coverage, int x0, int y0, int y1, Color color) {
    const int count = static_cast<int>(coverage.size());
    for (int begin = 0, end = 0; begin < count; begin = end) {
      while (end < count && coverage[end] == coverage[begin]) ++end;
      const Color seen = faded(color, coverage[begin]);
      if (seen.a > 0) fill_pixels({x0 + begin, y0, x0 + end, y1}, seen);
    }
  }

  void fill_convex(std::vector<Point>& points, Color color) {
    if (!std::ranges::all_of(points, is_finite)) return;
    remove_repeated(points);
    while (points.size() > 1 && points.back() == points.front()) points.pop_back();
    scratch_.mesh.clear();
    add_convex(scratch_.mesh, points);
    add_mesh(scratch_.mesh, color);
  }

  void stroke_device(std::span<const Point> points, float width, Color color) {
    if (points.size() < 2) return;
    const Point a = points[0], b = points[1];
    if (points.size() == 2 && (a.x == b.x || a.y == b.y)) {  // horizontal or vertical: a rectangle is sharper
      const float half = width / 2;
      const Rect rect = a.y == b.y ? Rect{std::min(a.x, b.x), a.y - half, std::abs(b.x - a.x), width}
                                   : Rect{a.x - half, std::min(a.y, b.y), width, std::abs(b.y - a.y)};
      return fill_device(rect, color);
    }
    for (std::size_t start = 0; start + 1 < points.size(); start += kPointsPerStroke - 1) {
      scratch_.mesh.clear();
      add_stroke(scratch_.mesh, points.subspan(start, std::min(kPointsPerStroke, points.size() - start)),
                 width);
      add_mesh(scratch_.mesh, color);
    }
  }

  void stroke_round(const Rect& middle, float radius, float width, Color color) override {
    if (std::min(middle.w, middle.h) <= width) return fill_device(middle.inset(-width / 2), color);
    // The outline is closed in the middle of the upper side, where the join is invisible.
    const Point seam{middle.center().x, middle.y};
    std::vector<Point>& points = scratch_.points;
    points.assign(1, seam);
    add_round_rect(points, middle, radius);
    points.push_back(seam);
    if (!std::ranges::all_of(points, is_finite)) return;
    remove_repeated(points);
    stroke_device(points, width, color);
  }

  void add_mesh(const Mesh& mesh, Color color) {
    if (mesh.indices.empty()) return;
    use_texture(atlas_.texture(0));
    list_.PrimReserve(static_cast<int>(mesh.indices.size()), static_cast<int>(mesh.vertices.size()));
    const unsigned base = list_._VtxCurrentIdx;
    for (const std::uint32_t i : mesh.indices) list_.PrimWriteIdx(static_cast<ImDrawIdx>(base + i));
    const ImVec2 white(GlyphAtlas::kWhite, GlyphAtlas::kWhite);
    for (const Mesh::Vertex& v : mesh.vertices) {
      list_.PrimWriteVtx(units(v.at), white, packed(faded(color, v.opacity)));
    }
  }

  ImDrawList& list_;
  const Fonts& fonts_;
  GlyphAtlas& atlas_;
  ImageCache& images_;
  Scratch& scratch_;
  float pixel_scale_;  ///< device pixels per ImGui unit
  std::uint64_t texture_ = 0;
};

}  // namespace

struct ImguiPlayer::Impl {
  std::shared_ptr<const Fonts> fonts;
  GlyphAtlas atlas;
  ImageCache images;
  float pixel_scale = 1;
  Scratch scratch = {};
};

ImguiPlayer::ImguiPlayer(std::shared_ptr<const Fonts> fonts, TextureBackend& textures)
    : impl_(new Impl{std::move(fonts), GlyphAtlas(textures), ImageCache(textures), 1}) {}
ImguiPlayer::~ImguiPlayer() = default;

void ImguiPlayer::begin_frame(float pixel_scale) {
  impl_->pixel_scale = pixel_scale > 0 ? pixel_scale : 1;
  impl_->atlas.begin_frame();
  impl_->images.begin_frame();
}

void ImguiPlayer::draw(ImDrawList& list, const Scene& scene, Point origin, float scale) {
  Drawing(list, *impl_->fonts, impl_->atlas, impl_->images, impl_->scratch, impl_->pixel_scale, origin, scale)
      .draw(scene);
  impl_->atlas.upload();
}

}  // namespace headscope::viz
