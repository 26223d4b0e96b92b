#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "system/path_text.h"
#include "viz/players/cairo_player.h"
#include "viz/players/cell_images.h"
#include "viz/players/players.h"
#include "viz/text/utf8.h"

namespace headscope::viz {
namespace {

constexpr double kPointsPerPixel = 72.0 / 96;
constexpr float kLongestPdfSide = 19200;  ///< 200 inches, the limit of most readers

struct PatternRelease {
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
};

/// The file so far. Cairo forgets some failures to write, so they are kept here.
struct Output {
  std::string bytes;
  bool is_short = false;  ///< there was no memory for some of it
};

cairo_status_t append(void* to, const unsigned char* bytes, unsigned count) {
  auto& output = *static_cast<Output*>(to);
  try {
    output.bytes.append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {  // cairo could not propagate it
    output.is_short = true;
    return CAIRO_STATUS_NO_MEMORY;
  }
}

/// A character of a text, and its number of glyphs: one, or none without ink.
struct Character {
  std::size_t bytes = 0;
  std::size_t glyphs = 0;
  bool of_number = false;
};

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> characters;
  for (std::size_t at = 0; at < text.size(); at += characters.back().bytes) {
    const Decoded c = decode_utf8(text, at);
    const bool number = (c.code >= '0' && c.code <= '9') || c.code == '.';
    characters.push_back({c.length, c.code == '\t' || is_invisible(c.code) ? 0U : 1U, number});
  }
  return characters;
}

class PdfWriter : public CairoPlayer {
 public:
  PdfWriter(const Scene& scene, const Fonts& fonts, Output& output)
      : CairoPlayer(CairoHandle<cairo_surface_t>(cairo_pdf_surface_create_for_stream(
                        append, &output, scene.width * kPointsPerPixel, scene.height * kPointsPerPixel)),
                    kPointsPerPixel),
        fonts_(fonts),
        resolution_(image_resolution(scene)),
        plain_(cairo_font_options_create()) {
    cairo_font_options_set_hint_style(plain_.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(plain_.get(), CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(now(), plain_.get());
  }

  void metadata(cairo_pdf_metadata_t key, const std::string& text) {
    cairo_pdf_surface_set_metadata(surface(), key, drawable(text).c_str());
  }

  void draw(const Scene& scene) {
    if (scene.background.a > 0) fill({0, 0, scene.width, scene.height}, 0, scene.background);
    play(scene, *this);
    finish();
  }

  void draw(const Image& item) {
    const Bitmap& bitmap = *item.bitmap;
    const auto any = [&](auto holds) { return std::ranges::any_of(bitmap.pixels, holds, &Color::a); };
    const bool has_gaps = any([](int a) { return a == 0; });
    // Not drawn with a mask, since poppler and cairo blend black in at its edges: instead an opaque image,
    // clipped to its cells.
    const bool clips = has_gaps && !any([](int a) { return a > 0 && a < 255; });
    const Enlargement by = enlargement_of(bitmap, item.dest, resolution_);
    Bitmap cells = enlarged(bitmap, by);
    if (clips) extend_edges(cells, bitmap, by);
    const CairoHandle<cairo_surface_t> pixels = surface_of(cells);
    cairo_save(now());
    if (clips) clip_to_cells(item);
    cairo_translate(now(), item.dest.x, item.dest.y);
    cairo_scale(now(), static_cast<double>(item.dest.w) / cairo_image_surface_get_width(pixels.get()),
                static_cast<double>(item.dest.h) / cairo_image_surface_get_height(pixels.get()));
    cairo_set_source_surface(now(), pixels.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(now()), CAIRO_FILTER_NEAREST);  // /Interpolate false
    cairo_paint(now());
    cairo_restore(now());
  }

  void draw(const GlyphRun& item) {
    const std::vector<Character> characters = characters_of(item.text);
    std::size_t glyphs = 0;
    for (const Character& c : characters) glyphs += c.glyphs;
    cairo_save(now());
    cairo_translate(now(), item.origin.x, item.origin.y);
    cairo_rotate(now(), item.angle);
    set_color(item.color);
    if (glyphs == item.glyphs.size()) {
      write_text(item, characters);
    } else {  // a label stands for a character
      for (const Glyph& glyph : item.glyphs) write_outline(item, glyph);
    }
    cairo_restore(now());
  }

 private:
  /// Clips to the cells that are not transparent, as one path, so that no reader draws seams within it.
  void clip_to_cells(const Image& item) const {
    Bitmap cells = *item.bitmap;
    for (Color& color : cells.pixels) color = {0, 0, 0, color.a};
    const double across = static_cast<double>(item.dest.w) / cells.width;
    const double down = static_cast<double>(item.dest.h) / cells.height;
    for (const CellBlock& b : merged_blocks(cells))
      cairo_rectangle(now(), item.dest.x + b.x * across, item.dest.y + b.y * down, b.width * across,
                      b.height * down);
    cairo_clip(now());
  }

  /// Writes runs of the same font, each glyph where it was laid out and mapped to the characters it
  /// represents.
  void write_text(const GlyphRun& item, const std::vector<Character>& characters) {
    std::size_t glyph = 0, byte = 0;
    for (std::size_t i = 0; i < characters.size();) {
      const std::size_t first = glyph, start = byte;
      std::vector<cairo_text_cluster_t> clusters;
      while (i < characters.size()) {
        const Character& c = characters[i];
        if (c.glyphs > 0 && glyph > first && item.glyphs[glyph].font != item.glyphs[first].font) break;
        // Digits are laid out as if they were equally wide; separate clusters would make a reader find spaces
        // in a number.
        if (clusters.empty() || !c.of_number || !characters[i - 1].of_number) clusters.push_back({0, 0});
        clusters.back().num_bytes += static_cast<int>(c.bytes);
        clusters.back().num_glyphs += static_cast<int>(c.glyphs);
        glyph += c.glyphs, byte += c.bytes, ++i;
      }
      if (glyph > first)
        write_stretch(item, {item.glyphs.data() + first, glyph - first},
                      item.text.substr(start, byte - start), clusters);
    }
  }

  void write_stretch(const GlyphRun& item, std::span<const Glyph> glyphs, const std::string& text,
                     const std::vector<cairo_text_cluster_t>& clusters) {
    cairo_font_face_t* face = face_of(glyphs.front());
    if (face == nullptr) {
      for (const Glyph& glyph : glyphs) write_outline(item, glyph);
      return;
    }
    std::vector<cairo_glyph_t> placed;
    for (const Glyph& glyph : glyphs) placed.push_back({glyph.index, glyph.x, 0});
    cairo_set_font_face(now(), face);
    cairo_set_font_size(now(), item.size);
    cairo_show_text_glyphs(now(), text.data(), static_cast<int>(text.size()), placed.data(),
                           static_cast<int>(placed.size()), clusters.data(),
                           static_cast<int>(clusters.size()), static_cast<cairo_text_cluster_flags_t>(0));
  }

  void write_outline(const GlyphRun& item, const Glyph& glyph) const {
    add_outline(now(), fonts_.outline(glyph), {glyph.x, 0}, item.size);
    cairo_fill(now());
  }

  /// Null for a font that FreeType cannot open.
  cairo_font_face_t* face_of(const Glyph& glyph) {
    const auto [at, added] = faces_.try_emplace(glyph.font);
    if (!added) return at->second.get();
    const std::string file = system::text_of(fonts_.file(glyph));
    if (file.empty()) return nullptr;
    const std::unique_ptr<FcPattern, PatternRelease> pattern(FcPatternCreate());
    if (!pattern ||
        !FcPatternAddString(pattern.get(), FC_FILE, reinterpret_cast<const FcChar8*>(file.c_str())) ||
        !FcPatternAddInteger(pattern.get(), FC_INDEX, 0))
      throw std::bad_alloc();
    CairoHandle<cairo_font_face_t> face(cairo_ft_font_face_create_for_pattern(pattern.get()));
    const cairo_status_t status = cairo_font_face_status(face.get());
    if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
    if (status == CAIRO_STATUS_SUCCESS) at->second = std::move(face);
    return at->second.get();
  }

  const Fonts& fonts_;
  double resolution_;
  CairoHandle<cairo_font_options_t> plain_;
  std::map<std::uint16_t, CairoHandle<cairo_font_face_t>> faces_;
};

/// Removes the date, so that the same picture always gives the same file.
void take_date_out(std::string& bytes, std::string_view digits) {
  const std::string line = "/CreationDate (" + std::string(digits) + ")";
  const std::size_t at = bytes.rfind(line);
  if (at != std::string::npos) bytes.replace(at, line.size(), line.size(), ' ');
}

/// Inserts a comment after everything that is located by its offset, and before the last lines, where readers
/// look for the offset of the table.
void add_comment(std::string& bytes, const Note& note) {
  const std::size_t at = bytes.rfind("startxref");
  if (at != std::string::npos) bytes.insert(at, "%" + note.name + " " + note.text + "\n");
}

}  // namespace

std::string to_pdf(const Scene& scene, const Fonts& fonts, std::span<const Note> notes,
                   const Description& description) {
  if (!(scene.width > 0) || !(scene.height > 0) || scene.width > kLongestPdfSide ||
      scene.height > kLongestPdfSide)
    throw std::runtime_error("a picture of this size cannot be written as PDF: sides may be up to " +
                             std::to_string(static_cast<int>(kLongestPdfSide)) + " logical pixels");
  Output output;
  PdfWriter writer(scene, fonts, output);
  if (!description.title.empty()) writer.metadata(CAIRO_PDF_METADATA_TITLE, description.title);
  if (!description.words.empty()) writer.metadata(CAIRO_PDF_METADATA_SUBJECT, description.words);
  writer.metadata(CAIRO_PDF_METADATA_CREATOR, "headscope");
  writer.metadata(CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
  writer.draw(scene);
  if (output.is_short) throw std::bad_alloc();
  std::string& bytes = output.bytes;
  take_date_out(bytes, "20000101000000Z");
  for (const Note& note : notes) add_comment(bytes, note);
  return std::move(bytes);
}

}  // namespace headscope::viz
