#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "viz/text/text.h"

namespace headscope::viz {

/// One font file, mapped into memory. All lengths are in ems. Const members are safe to call from any thread.
///
/// Font files are trusted as everything that the system installed: stb_truetype checks no offsets.
class FontFace {
 public:
  /// nullptr when the file is no font that stb_truetype reads. Of a collection (.ttc) the first face.
  static std::unique_ptr<const FontFace> open(const std::filesystem::path& file);
  ~FontFace();

  std::uint32_t glyph(char32_t code) const;  ///< 0 when the font has none
  float advance(std::uint32_t glyph) const;
  float kerning(std::uint32_t left, std::uint32_t right) const;
  Outline outline(std::uint32_t glyph) const;

  float ascent() const;
  float descent() const;
  float line_gap() const;
  float cap_height() const;
  std::string family() const;

 private:
  struct Impl;
  explicit FontFace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::viz
