#include "viz/players/cell_images.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

namespace headscope::viz {

std::vector<CellBlock> merged_blocks(const Bitmap& bitmap) {
  std::vector<CellBlock> blocks;
  std::vector<std::size_t> above;  // blocks that end at the previous row
  for (int y = 0; y < bitmap.height; ++y) {
    std::vector<std::size_t> here;
    std::size_t candidate = 0;
    for (int x = 0; x < bitmap.width;) {
      const Color color = bitmap.at(x, y);
      int end = x + 1;
      while (end < bitmap.width && bitmap.at(end, y) == color) ++end;
      while (candidate < above.size() && blocks[above[candidate]].x < x) ++candidate;
      const bool continues = candidate < above.size() && blocks[above[candidate]].x == x &&
                             blocks[above[candidate]].width == end - x &&
                             blocks[above[candidate]].color == color;
      if (color.a == 0) {
        // nothing to see
      } else if (continues) {
        ++blocks[above[candidate]].height;
        here.push_back(above[candidate]);
      } else {
        here.push_back(blocks.size());
        blocks.push_back({x, y, end - x, 1, color});
      }
      x = end;
    }
    above = std::move(here);
  }
  return blocks;
}

double image_resolution(const Scene& scene) {
  constexpr double kWanted = 300.0 / 96;
  constexpr double kMaxPixels = 32e6;
  double area = 0;  // logical pixels
  for (const Item& item : scene.items)
    if (const auto* image = std::get_if<Image>(&item); image && image->dest.w > 0 && image->dest.h > 0)
      area += static_cast<double>(image->dest.w) * static_cast<double>(image->dest.h);
  return area * kWanted * kWanted > kMaxPixels ? std::sqrt(kMaxPixels / area) : kWanted;
}

Enlargement enlargement_of(const Bitmap& bitmap, const Rect& dest, double resolution) {
  constexpr int kLargestSide = 32000;  // cairo's limit is 32767
  const auto factor = [&](float length, int pixels) {
    const double wanted = std::ceil(static_cast<double>(length) * resolution / pixels);
    return wanted > 1 ? static_cast<int>(std::min<double>(wanted, std::max(kLargestSide / pixels, 1))) : 1;
  };
  return {factor(dest.w, bitmap.width), factor(dest.h, bitmap.height)};
}

Bitmap enlarged(const Bitmap& bitmap, Enlargement by) {
  Bitmap result = Bitmap::filled(bitmap.width * by.across, bitmap.height * by.down, {});
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < result.width; ++x) result.at(x, y) = bitmap.at(x / by.across, y / by.down);
  return result;
}

void extend_edges(Bitmap& cells, const Bitmap& bitmap, Enlargement by) {
  const auto is_opaque = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < bitmap.width && y < bitmap.height && bitmap.at(x, y).a != 0;
  };
  struct Neighbour {
    int distance;
    int dx, dy;
  };
  for (int y = 0; y < cells.height; ++y) {
    for (int x = 0; x < cells.width; ++x) {
      const int col = x / by.across, row = y / by.down;
      if (is_opaque(col, row)) continue;
      const int left = x - col * by.across, right = by.across - 1 - left;
      const int top = y - row * by.down, bottom = by.down - 1 - top;
      const Neighbour neighbours[] = {{left, -1, 0},          {right, 1, 0},         {top, 0, -1},
                                      {bottom, 0, 1},         {left + top, -1, -1},  {right + top, 1, -1},
                                      {left + bottom, -1, 1}, {right + bottom, 1, 1}};
      const Neighbour* nearest = nullptr;
      for (const Neighbour& n : neighbours)
        if (is_opaque(col + n.dx, row + n.dy) && (!nearest || n.distance < nearest->distance)) nearest = &n;
      cells.at(x, y) = nearest ? bitmap.at(col + nearest->dx, row + nearest->dy) : Color{0, 0, 0, 255};
    }
  }
}

}  // namespace headscope::viz
