#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/views/content.h"

// Curves over a whole number, such as a layer, below their names.
namespace headscope::app {

struct NamedCurve {
  std::string name;
  int color = 0;              ///< see viz::categorical
  std::vector<float> values;  ///< at 0, 1, ...; NaN: a gap
};

struct Curves {
  std::string title, x_title;  ///< x_title empty: x has no numbers
  std::vector<NamedCurve> curves = {};
  int count = 0;  ///< values of x
  double low = 0, high = 1;
  int marked = -1;  ///< x of an upright line, -1: none
  int id = 0;       ///< of its region, which has a column for each x
};

BoxPtr curve_box(Curves curves, std::function<Wish(float width)> height, DrawnPlaces places);

}  // namespace headscope::app
