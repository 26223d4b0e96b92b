#pragma once
#include "viz/scene/geometry.h"

namespace headscope::viz {

/// Every colour of the program, by role. Query, key and value have the same colours everywhere: a violet, a
/// teal and an ochre. None is the blue or the orange that show a number's sign.
struct Theme {
  bool dark = false;
  Color window;      ///< behind everything
  Color surface;     ///< panes and pictures
  Color raised;      ///< buttons, chips, menus
  Color line;        ///< hairlines
  Color text;        ///< >= 7:1 on surface
  Color text_muted;  ///< >= 4.5:1 on surface
  Color accent;      ///< selection, focus and progress, and nothing else
  Color on_accent;   ///< text on accent
  Color query;
  Color key;
  Color value;
  Color bar;         ///< amounts without a sign: bars, histograms; >= 3:1 on surface
  Color field_line;  ///< around what can be typed into; >= 3:1 on surface
  Color hatch;       ///< masked cells
  Color error;
};

Theme light_theme();
Theme dark_theme();

}  // namespace headscope::viz
