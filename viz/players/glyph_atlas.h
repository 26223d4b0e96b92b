#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "viz/players/coverage.h"
#include "viz/players/texture_backend.h"

namespace headscope::viz {

/// Textures with rasterized glyphs, white with the coverage as alpha; the first texture also has a white spot
/// for shapes. When a texture is full, another is added; when there are too many, all are dropped between two
/// frames.
class GlyphAtlas {
 public:
  explicit GlyphAtlas(TextureBackend& textures);
  ~GlyphAtlas();
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
  void begin_frame();
  const Entry& find(const GlyphKey& key, const Fonts& fonts);
  /// Uploads new glyphs to the textures. Call it before the frame is rendered.
  void upload();

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
  void add_page();
  void clear();
  bool place(Page& page, int width, int height, int& x, int& y);

  TextureBackend& textures_;
  std::vector<Page> pages_;
  std::unordered_map<GlyphKey, Entry, GlyphKeyHash> entries_;
};

}  // namespace headscope::viz
