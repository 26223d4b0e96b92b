#include "viz/players/imgui_player.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "viz/players/imgui_compat.h"
#include "viz/players/masks.h"
#include "viz/players/texture_backend.h"
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
    PixelRect pixels;  ///< of the mask, from the glyph's origin
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
    const Mask mask = mask_of_glyph(fonts.outline({key.font, key.index, 0}), key);
    const int width = mask.pixels.width(), height = mask.pixels.height();
    if (mask.pixels.empty() || width > kSide || height > kSide) return entry;
    int x = 0, y = 0;
    if (!place(pages_.back(), width, height, x, y)) {
      add_page();
      place(pages_.back(), width, height, x, y);
    }
    Page& page = pages_.back();
    for (int row = 0; row < height; ++row) {
      Color* out = &page.bitmap.at(x, y + row);
      const std::uint8_t* alpha = mask.row(mask.pixels.y0 + row);
      for (int i = 0; i < width; ++i) out[i].a = alpha[i];
    }
    const bool clean = page.dirty_first == page.dirty_end;
    page.dirty_first = clean ? y : std::min(page.dirty_first, y);
    page.dirty_end = clean ? y + height : std::max(page.dirty_end, y + height);
    entry = {static_cast<int>(pages_.size()) - 1, x, y, mask.pixels};
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

/// The vertices of a primitive must have 16-bit indices.
constexpr std::size_t kPointsPerStroke = 2000;
/// Limit of the cosine between two directions. Beyond 60 degrees a mitre would be too long.
constexpr float kSharpestMitre = 0.5F;
/// On thinner lines the missing round side of a sharp corner is invisible.
constexpr float kThinnestRoundJoin = 1.5F;

ImU32 packed(Color c) {
  return IM_COL32(c.r, c.g, c.b, c.a);
}

Color faded(Color c, float opacity) {
  return c.with_alpha(static_cast<std::uint8_t>(static_cast<float>(c.a) * opacity + 0.5F));
}

/// The textures of the images in the last frame, by content id.
class ImageCache {
 public:
  explicit ImageCache(TextureBackend& textures) : textures_(textures) {}
  ~ImageCache() {
    for (const auto& [id, image] : images_) textures_.destroy(image.texture);
  }
  ImageCache(const ImageCache&) = delete;
  ImageCache& operator=(const ImageCache&) = delete;

  void begin_frame() {
    for (auto at = images_.begin(); at != images_.end();) {
      if (std::exchange(at->second.drawn, false)) {
        ++at;
      } else {
        textures_.destroy(at->second.texture);
        at = images_.erase(at);
      }
    }
  }

  std::uint64_t texture(const Image& image) {
    const std::uint64_t id = image.content_id != 0 ? image.content_id : content_hash(*image.bitmap);
    const auto [at, added] = images_.try_emplace(id);
    if (added) at->second.texture = textures_.create(*image.bitmap, true);
    at->second.drawn = true;
    return at->second.texture;
  }

 private:
  struct CachedTexture {
    std::uint64_t texture = 0;
    bool drawn = false;  ///< since begin_frame
  };

  TextureBackend& textures_;
  std::unordered_map<std::uint64_t, CachedTexture> images_;
};

/// The cosine of the bend at `b`.
float straightness(Point a, Point b, Point c) {
  const float in = std::hypot(b.x - a.x, b.y - a.y), out = std::hypot(c.x - b.x, c.y - b.y);
  return ((b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y)) / (in * out);
}

/// Draws one scene into one draw list. Works in device pixels, as the raster player does, and divides by
/// `pixel_scale` at the end. The scene begins on a whole pixel, so that it looks the same wherever it is.
class Drawing {
 public:
  Drawing(ImDrawList& list, const Fonts& fonts, GlyphAtlas& atlas, ImageCache& images,
          std::vector<Point>& scratch, float pixel_scale, Point origin, float scale)
      : list_(list),
        fonts_(fonts),
        atlas_(atlas),
        images_(images),
        points_(scratch),
        pixel_scale_(pixel_scale),
        origin_{std::round(origin.x * pixel_scale), std::round(origin.y * pixel_scale)},
        scale_(scale * pixel_scale) {}

  void draw(const Scene& scene) {
    const Rect whole = device(Rect{0, 0, scene.width, scene.height});
    // A file's picture is rounded up to whole pixels.
    const PixelRect pixels{round_to_pixel(whole.x), round_to_pixel(whole.y),
                           ceil_to_pixel(whole.right() - 1e-3F), ceil_to_pixel(whole.bottom() - 1e-3F)};
    // Dear ImGui's shapes take the atlas' white spot instead of that of its font.
    const ImVec2 white(GlyphAtlas::kWhite, GlyphAtlas::kWhite);
    ImVec2& white_spot = ImGui::GetDrawListSharedData()->TexUvWhitePixel;
    const ImVec2 white_of_font = std::exchange(white_spot, white);
    const ImDrawListFlags flags = list_.Flags;
    list_.Flags |= ImDrawListFlags_AntiAliasedLines | ImDrawListFlags_AntiAliasedFill;
    list_.Flags &= ~ImDrawListFlags_AntiAliasedLinesUseTex;
    push_clip(pixels);
    compat::sample_nearest(list_, true);  // glyphs are on whole pixels and look the same either way
    use_texture(atlas_.texture(0));
    if (scene.background.a > 0) add_quad(pixels, white, white, packed(scene.background));
    play(scene, *this);
    pop_clip();
    if (texture_ != 0) compat::pop_texture(list_);
    compat::sample_nearest(list_, false);
    list_.Flags = flags;
    white_spot = white_of_font;
  }

  void fill(const Rect& rect, float radius, Color color) {
    const Rect r = device(rect);
    // Soft edges take a pixel: what is thinner is fainter instead.
    const float w = std::max(r.w, 1.F), h = std::max(r.h, 1.F);
    take_round_rect({r.center().x - w / 2, r.center().y - h / 2, w, h}, radius * scale_);
    fill_points(faded(color, r.w / w * r.h / h));
  }

  void fill(std::span<const Point> convex, Color color) {
    double doubled_area = 0;
    for (std::size_t i = 0; i < convex.size(); ++i) {
      const Point a = convex[i], b = convex[(i + 1) % convex.size()];
      doubled_area += double{a.x} * b.y - double{b.x} * a.y;
    }
    take(convex);
    if (doubled_area < 0) std::ranges::reverse(points_);  // Dear ImGui wants them clockwise
    if (doubled_area != 0) fill_points(color);
  }

  void stroke(const Rect& rect, float radius, float width, Color color) {
    const Rect middle = device(rect);
    const float w = width * scale_;
    if (std::min(middle.w, middle.h) <= w) {
      take_round_rect(middle.inset(-w / 2), 0);
      return fill_points(color);
    }
    take_round_rect(middle, radius * scale_);
    draw_line(points_, ImDrawFlags_Closed, w, color);
  }

  void stroke(const Lines& lines, float width, Color color) {
    for (const auto& stretch : lines.stretches) {
      take(stretch);
      if (points_.size() > 1) stroke_points(width * scale_, color);
    }
  }

  void draw(const Image& image) {
    use_texture(images_.texture(image));
    add_quad(snapped(device(image.dest)), ImVec2(0, 0), ImVec2(1, 1), IM_COL32_WHITE);
  }

  void draw(const GlyphRun& run) {
    const Point origin = device(run.origin);
    const ImU32 color = packed(run.color);
    for (const Glyph& glyph : run.glyphs) {
      const PlacedGlyph placed = place_glyph(run, glyph, origin, scale_);
      const int reach = ceil_to_pixel(2 * placed.key.em_pixels);  // of any glyph
      if (outside_clip({placed.x - reach, placed.y - reach, placed.x + reach, placed.y + reach})) continue;
      const GlyphAtlas::Entry& entry = atlas_.find(placed.key, fonts_);
      if (entry.pixels.empty()) continue;
      use_texture(atlas_.texture(entry.page));
      const auto uv = [](int x, int y) {
        return ImVec2(static_cast<float>(x) / GlyphAtlas::kSide, static_cast<float>(y) / GlyphAtlas::kSide);
      };
      const PixelRect& p = entry.pixels;
      add_quad({placed.x + p.x0, placed.y + p.y0, placed.x + p.x1, placed.y + p.y1},
               uv(entry.page_x, entry.page_y), uv(entry.page_x + p.width(), entry.page_y + p.height()),
               color);
    }
  }

  void push_clip(const Rect& rect) { push_clip(snapped(device(rect))); }
  void pop_clip() { list_.PopClipRect(); }

 private:
  Point device(Point p) const { return {origin_.x + p.x * scale_, origin_.y + p.y * scale_}; }
  Rect device(const Rect& r) const {
    return {origin_.x + r.x * scale_, origin_.y + r.y * scale_, r.w * scale_, r.h * scale_};
  }
  ImVec2 units(Point at) const { return {at.x / pixel_scale_, at.y / pixel_scale_}; }
  ImVec2 units(int x, int y) const { return units(Point{static_cast<float>(x), static_cast<float>(y)}); }

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

  // --- shapes of Dear ImGui ---

  /// Makes the points of a line or polygon the current ones, without those that equal the previous one.
  void take(std::span<const Point> points) {
    points_.clear();
    for (const Point p : points)
      if (const Point q = device(p); points_.empty() || q != points_.back()) points_.push_back(q);
  }

  /// Makes the outline of a rounded rectangle the current points, clockwise.
  void take_round_rect(const Rect& rect, float radius) {
    const float r = std::min({radius, rect.w / 2, rect.h / 2});
    const Rect centres = rect.inset(r);
    constexpr float kQuarter = std::numbers::pi_v<float> / 2;
    const Point corners[] = {{centres.x, centres.y},
                             {centres.right(), centres.y},
                             {centres.right(), centres.bottom()},
                             {centres.x, centres.bottom()}};
    for (int i = 0; i < 4; ++i) {
      const float angle = static_cast<float>(i + 2) * kQuarter;
      list_.PathArcTo({corners[i].x, corners[i].y}, r, angle, angle + kQuarter);
    }
    points_.clear();
    for (const ImVec2 p : list_._Path) {
      const bool repeated =
          !points_.empty() && std::hypot(p.x - points_.back().x, p.y - points_.back().y) < 0.01F;
      if (!repeated) points_.push_back({p.x, p.y});
    }
    list_.PathClear();
  }

  /// Draws with Dear ImGui, in device pixels.
  template <class Draw>
  void in_pixels(const Draw& draw) {
    use_texture(atlas_.texture(0));
    const int first = list_.VtxBuffer.Size;
    draw();
    for (int i = first; i < list_.VtxBuffer.Size; ++i) {
      ImVec2& at = list_.VtxBuffer[i].pos;
      at = units(Point{at.x, at.y});
    }
  }

  /// Fills the polygon of the current points.
  void fill_points(Color color) {
    while (points_.size() > 1 && points_.back() == points_.front()) points_.pop_back();
    in_pixels([&] { list_.AddConvexPolyFilled(as_vectors(points_), as_int(points_), packed(color)); });
  }

  /// Draws a line without sharp corners.
  void draw_line(std::span<const Point> points, ImDrawFlags flags, float width, Color color) {
    const ImU32 seen = packed(faded(color, std::min(width, 1.F)));  // Dear ImGui draws no thinner lines
    in_pixels([&] { list_.AddPolyline(as_vectors(points), as_int(points), seen, flags, width); });
  }

  /// Draws the line through the current points. Gentle joins are mitred, sharp ones round.
  void stroke_points(float width, Color color) {
    std::size_t start = 0;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const bool last = i + 1 == points_.size();
      const bool sharp = !last && straightness(points_[i - 1], points_[i], points_[i + 1]) < kSharpestMitre;
      if (!last && !sharp && i - start < kPointsPerStroke) continue;
      draw_line(std::span(points_).subspan(start, i - start + 1), ImDrawFlags_None, width, color);
      // Over a translucent line it would be a darker dot.
      if (sharp && width >= kThinnestRoundJoin && color.a == 255)
        in_pixels([&] { list_.AddCircleFilled({points_[i].x, points_[i].y}, width / 2, packed(color)); });
      start = i;
    }
  }

  static const ImVec2* as_vectors(std::span<const Point> points) {
    static_assert(sizeof(Point) == sizeof(ImVec2));
    return reinterpret_cast<const ImVec2*>(points.data());
  }
  static int as_int(std::span<const Point> points) { return static_cast<int>(points.size()); }

  ImDrawList& list_;
  const Fonts& fonts_;
  GlyphAtlas& atlas_;
  ImageCache& images_;
  std::vector<Point>& points_;  ///< of the current shape, in device pixels; keeps its memory
  float pixel_scale_;           ///< device pixels per ImGui unit
  Point origin_;                ///< position of the scene, in device pixels
  float scale_;                 ///< device pixels per logical pixel
  std::uint64_t texture_ = 0;
};

}  // namespace

struct ImguiPlayer::Impl {
  std::shared_ptr<const Fonts> fonts;
  GlyphAtlas atlas;
  ImageCache images;
  float pixel_scale = 1;
  std::vector<Point> scratch = {};
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
