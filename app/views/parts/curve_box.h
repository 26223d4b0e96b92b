#pragma once
#include <functional>
#include <string>

#include "app/views/content.h"
#include "viz/charts/curves.h"

// Curves over a whole number, such as a layer, below their names.
namespace headscope::app {

/// `x_title` empty: x has no numbers. Regions have the places' role.
BoxPtr curve_box(viz::CurveChart chart, std::string title, std::string x_title,
                 std::function<Wish(float width)> height, DrawnPlaces places);
/// Adds a curve of these values at 0, 1, ..., which the content keeps; NaN: a gap. `color`: see
/// viz::categorical.
void add_curve(viz::CurveChart& chart, Content& it, std::string name, int color, std::vector<float> values);

}  // namespace headscope::app
