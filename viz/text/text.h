#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viz/scene/scene.h"

namespace headscope::viz {

enum class FontStyle { regular, medium, bold, mono };

/// One character of a text, or one byte that is not UTF-8.
struct Cluster {
  std::size_t start = 0;  ///< byte range of the text
  std::size_t end = 0;
  float x = 0;
  float advance = 0;
};

struct TextLayout {
  std::vector<Glyph> glyphs;
  std::vector<Cluster> clusters;
  float width = 0;
};

/// A closed or open path of lines and curves in em units, y down, baseline at 0.
struct OutlinePoint {
  enum class Kind { move, line, quad, cubic } kind = Kind::move;
  Point to;
  Point c1;  ///< control points of quad (c1) and cubic (c1, c2)
  Point c2;
};
using Outline = std::vector<OutlinePoint>;

/// Fonts found on the system: Inter or DejaVu Sans for the interface, a monospaced font, then installed
/// fallbacks (DejaVu, CJK, symbols). Immutable and thread-safe. Turns bytes into glyphs.
class Fonts {
 public:
  /// Searches the default folders (XDG data, /usr/share/fonts, ~/.fonts). Throws std::runtime_error (one
  /// sentence that names packages) if no usable font is installed.
  static std::shared_ptr<const Fonts> load();
  /// Searches only these folders, recursively.
  static std::shared_ptr<const Fonts> load(std::span<const std::filesystem::path> folders);
  ~Fonts();

  /// Lays out one line, without shaping. Bytes that are not UTF-8 become `<E2>`, control characters their
  /// pictures (U+2400 block) or `<0A>`, noncharacters `<U+FFFE>`, and characters that no font has their
  /// code point, `<U+1F600>`; tabs are four spaces wide, and joiners and direction marks have no width. A
  /// cluster's advance includes the kerning with its successor, so that the advances add up to the width. All
  /// digits are equally wide.
  TextLayout layout(std::string_view text, FontStyle style, float size) const;
  float width(std::string_view text, FontStyle style, float size) const;

  /// `text`, truncated with an ellipsis if it is wider than `max_width`. Empty if not even the ellipsis fits.
  std::string fit(std::string_view text, FontStyle style, float size, float max_width) const;

  float ascent(FontStyle style, float size) const;   ///< from the baseline up, positive
  float descent(FontStyle style, float size) const;  ///< from the baseline down, positive
  float line_height(FontStyle style, float size) const;
  float cap_height(FontStyle style, float size) const;  ///< for optical centring of labels

  Outline outline(const Glyph& glyph) const;  ///< in ems
  std::filesystem::path file(
      FontStyle style) const;  ///< for Dear ImGui, so that the interface uses the same face
  std::filesystem::path file(
      const Glyph& glyph) const;  ///< path of its font, whose first face is used; empty if no font has it
  std::string family(const Glyph& glyph) const;  ///< for SVG text; empty if no font has it
  int weight(const Glyph& glyph) const;          ///< as in CSS: 400 is regular

 private:
  struct Impl;
  explicit Fonts(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The alignment of a text relative to its anchor.
enum class Align { left, center, right };

/// A run whose baseline starts (left), is centred, or ends (right) at `anchor`; `angle` turns it about the
/// anchor.
GlyphRun make_text(const Fonts& fonts, std::string_view text, Point anchor, float size, Color color,
                   FontStyle style = FontStyle::regular, Align align = Align::left, float angle = 0);

/// Like make_text, but the anchor is at the middle of the capitals' height, so that labels are vertically
/// centred in their rows.
GlyphRun make_text_middle(const Fonts& fonts, std::string_view text, Point anchor, float size, Color color,
                          FontStyle style = FontStyle::regular, Align align = Align::left, float angle = 0);

/// A token as written in labels: spaces as "·", no-break spaces as "⍽", newlines as "↵", tabs as "⇥", other
/// control characters as their pictures, invisible characters and rare spaces as `<U+200D>`, bytes that are
/// not UTF-8 as `<E2>`. Always UTF-8.
std::string visible(std::string_view bytes);

}  // namespace headscope::viz
