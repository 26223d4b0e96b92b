#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace headscope::viz {

/// The font files to use, best first for each FontStyle (regular, medium, bold, mono): the style's own face,
/// then fallbacks for missing characters.
struct FontFiles {
  std::vector<std::filesystem::path> files;
  std::array<std::vector<std::uint16_t>, 4> order;  ///< indexes into files; empty if no usable font was found
};

/// Searches the folders recursively for known file names. Skips unreadable folders.
FontFiles find_font_files(std::span<const std::filesystem::path> folders);

}  // namespace headscope::viz
