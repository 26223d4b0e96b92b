#pragma once
#include <vector>

#include "viz/scene/scene.h"

namespace headscope::viz {

// What players that write vector files make of an image, whose pixels are cells with sharp edges.

/// A rectangle of cells of one colour, in pixels of the bitmap.
struct CellBlock {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  Color color;
};

/// Runs along rows, and equal runs of successive rows as one. Transparent cells are in none.
std::vector<CellBlock> merged_blocks(const Bitmap& bitmap);

/// How often each pixel of a bitmap is repeated.
struct Enlargement {
  int across = 1;
  int down = 1;
};

/// For a file that stretches the bitmap over `dest`: until there are 300 pixels or more to the inch (96
/// logical pixels), since readers blur what they enlarge less than that; up to a limit of size.
Enlargement enlargement_of(const Bitmap& bitmap, const Rect& dest);
Bitmap enlarged(const Bitmap& bitmap, Enlargement by);

/// Gives each transparent pixel of an enlarged bitmap the colour of the nearest opaque cell beside its own
/// cell, and black where there is none. A reader that blurs the edge of what is clipped to the opaque cells
/// then finds their own colours on both sides.
void extend_edges(Bitmap& cells, const Bitmap& bitmap, Enlargement by);

}  // namespace headscope::viz
