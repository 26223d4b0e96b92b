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

/// One character (or a byte that is no UTF-8) of a laid out text.
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

/// Fonts found on the system: Inter or DejaVu Sans for the interface, a monospaced one, then fallbacks
/// (DejaVu, CJK, symbols) as far as they are installed. Immutable and safe to share (its caches are locked
/// inside). Bytes in, glyphs out.
class Fonts {
 public:
  /// Looks in the default folders (XDG data, /usr/share/fonts, ~/.fonts), then asks fontconfig. Throws
  /// std::runtime_error (one sentence, naming packages) when no usable font is installed.
  static std::shared_ptr<const Fonts> load();
  /// Looks below these folders only.
  static std::shared_ptr<const Fonts> load(std::span<const std::filesystem::path> folders);
  ~Fonts();

  /// Lays out one line, without shaping. Bytes that are no UTF-8 become `<E2>`, control characters their
  /// pictures (U+2400 block) or `<0A>`, characters that no font has a box with the code point; tabs are four
  /// spaces wide, joiners and direction marks take no room. A cluster's advance holds the kerning with its
  /// successor, so that the advances sum to the width. Digits are all equally wide.
  TextLayout layout(std::string_view text, FontStyle style, float size) const;
  float width(std::string_view text, FontStyle style, float size) const;

  /// `text` shortened with an ellipsis to fit `max_width`; whole when it fits.
  /// Empty when not even the ellipsis fits.
  std::string fit(std::string_view text, FontStyle style, float size, float max_width) const;

  float ascent(FontStyle style, float size) const;   ///< from the baseline up, positive
  float descent(FontStyle style, float size) const;  ///< from the baseline down, positive
  float line_height(FontStyle style, float size) const;
  float cap_height(FontStyle style, float size) const;  ///< for optical centring of labels

  Outline outline(const Glyph& glyph) const;          ///< in ems
  std::filesystem::path file(FontStyle style) const;  ///< so that the interface can use the same face
  std::filesystem::path file(
      const Glyph& glyph) const;                 ///< of its font, the first face in it; empty for a box
  std::string family(const Glyph& glyph) const;  ///< for SVG text; empty for a box
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

/// As make_text, with the anchor at the middle of the capitals' height, so that labels sit in the middle of
/// their rows.
GlyphRun make_text_middle(const Fonts& fonts, std::string_view text, Point anchor, float size, Color color,
                          FontStyle style = FontStyle::regular, Align align = Align::left, float angle = 0);

/// A token as written in labels: spaces as "·", no-break spaces as "⍽", newlines as "↵", tabs as "⇥", other
/// control characters as their pictures, invisible characters and rare spaces as `<U+200D>`, bytes that are
/// not UTF-8 as `<E2>`. Always UTF-8.
std::string visible(std::string_view bytes);

}  // namespace headscope::viz
