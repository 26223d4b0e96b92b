#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace headscope::viz {

/// Which font files to use, best first for each FontStyle (regular, medium, bold, mono): the style's own
/// face, then the fallbacks for the characters that it lacks.
struct FontFiles {
  std::vector<std::filesystem::path> files;
  std::array<std::vector<std::uint16_t>, 4>
      order;  ///< indexes into files; empty when nothing usable was found

  /// A file at the end of one style's order, unless it is in there.
  void add(std::vector<std::uint16_t>& style, const std::filesystem::path& file);
};

/// $XDG_DATA_HOME, ~/.fonts, and `fonts` in $XDG_DATA_DIRS, with their defaults.
std::vector<std::filesystem::path> default_font_folders();

/// Looks for known file names below the folders. What cannot be read is passed over.
FontFiles find_font_files(std::span<const std::filesystem::path> folders);

}  // namespace headscope::viz
