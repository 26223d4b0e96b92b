#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// Counts of values in equal bins of a range.
struct Histogram {
  std::span<const std::int64_t> bins;
  double low = 0;  ///< lower limit of the first bin
  double high = 0;
  std::string title;        ///< title of the values' axis, under its numbers
  std::string count_title;  ///< above the columns: what their heights are; empty: neither that nor numbers
  Color color;
  int role = 0;  ///< role of the region: a column for each bin
};

/// Draws columns on a numbered axis, inside `area`; the numbers of their heights are left of it. Numbers and
/// titles that do not fit are left out. Returns the region, which is also added.
Region paint_histogram(Picture& picture, const Histogram& histogram, Rect area, const Style& style);

}  // namespace headscope::viz
