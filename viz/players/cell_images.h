#pragma once
#include <vector>

#include "viz/scene/scene.h"

namespace headscope::viz {

// How players that write vector files draw images whose pixels are cells with sharp edges.

/// A rectangle of cells with the same colour, in pixels of the bitmap.
struct CellBlock {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  Color color;
};

/// The rectangles of a bitmap: runs along rows, with equal runs in successive rows merged. Transparent cells
/// are left out.
std::vector<CellBlock> merged_blocks(const Bitmap& bitmap);

/// How often each pixel of a bitmap is repeated.
struct Enlargement {
  int across = 1;
  int down = 1;
};

/// The resolution of a file's images, in pixels per logical pixel: 300 per inch (96 logical pixels), because
/// viewers blur images of lower resolution, but less if all images of the scene together would have more than
/// 32 million pixels.
double image_resolution(const Scene& scene);
/// The enlargement of a bitmap with a pixel or more that is stretched over `dest`, to at least that
/// resolution.
Enlargement enlargement_of(const Bitmap& bitmap, const Rect& dest, double resolution);
Bitmap enlarged(const Bitmap& bitmap, Enlargement by);

/// Gives each transparent pixel of an enlarged bitmap the colour of the nearest opaque cell adjacent to its
/// own cell, and black if there is none. Then a viewer that blurs the edge of a clipped image blends cells
/// with their own colours.
void extend_edges(Bitmap& cells, const Bitmap& bitmap, Enlargement by);

}  // namespace headscope::viz
