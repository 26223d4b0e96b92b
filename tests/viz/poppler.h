#pragma once
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"
#include "viz/scene/scene.h"

// The output of poppler's programs, on which most PDF readers are based, for a file.
namespace headscope::viz::testing {

inline bool has_poppler() {
  return std::system("pdftoppm -v > /dev/null 2>&1 && pdffonts -v > /dev/null 2>&1") == 0;
}

/// The output of a command; empty if it fails.
inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe))
    text.append(piece.data(), count);
  return ::pclose(pipe) == 0 ? text : "";
}

/// The only page of a PDF as pixels, at `dpi` per inch; empty if poppler cannot read it.
inline Bitmap poppler_pixels(std::string_view pdf, double dpi) {
  const headscope::testing::TemporaryFolder folder;
  const std::string file = folder.write("a.pdf", pdf).string(), out = (folder.path() / "p").string();
  output_of("pdftoppm -r " + std::to_string(dpi) + " -singlefile '" + file + "' '" + out + "' && echo");
  std::ifstream in(out + ".ppm", std::ios::binary);
  std::string magic;
  Bitmap bitmap;
  int most = 0;
  in >> magic >> bitmap.width >> bitmap.height >> most;
  in.get();
  std::array<char, 3> rgb{};
  while (in.read(rgb.data(), 3))
    bitmap.pixels.push_back({static_cast<std::uint8_t>(rgb[0]), static_cast<std::uint8_t>(rgb[1]),
                             static_cast<std::uint8_t>(rgb[2]), 255});
  return bitmap;
}

}  // namespace headscope::viz::testing
