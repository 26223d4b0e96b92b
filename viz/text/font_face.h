#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "viz/text/text.h"

namespace headscope::viz {

/// A font file, mapped into memory. All lengths are in ems. Const members are thread-safe.
///
/// Font files are trusted like anything that the system installed: stb_truetype does not check offsets.
class FontFace {
 public:
  /// nullptr if stb_truetype cannot read the file as a font. Opens the first face of a collection (.ttc).
  static std::unique_ptr<const FontFace> open(const std::filesystem::path& file);
  ~FontFace();

  std::uint32_t glyph(char32_t code) const;  ///< 0 if the font does not have it
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
