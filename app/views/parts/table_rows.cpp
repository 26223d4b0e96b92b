#include "app/views/parts/table_rows.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

const Option<bool> kStrongestFirst{{.name = "strongest-first",
                                    .label = "Strongest first",
                                    .help = "keys by falling weight instead of by position",
                                    .default_value = false,
                                    .keys = "oO"}};

Option<int> first_row_option(std::string_view name, std::string_view label, std::string_view help,
                             bool follows, int usual) {
  return {{.name = name,
           .label = label,
           .help = help,
           .default_value = usual,
           .default_name = usual < 0 ? "auto" : "",
           .low = 0,
           .high = 1 << 24,
           .kept = false,
           .reset_on_prompt_change = follows,
           .control = Control::none}};
}

int first_row_showing(int row, int shown) {
  return row < shown ? 0 : row - shown / 2;
}

SetOption TableRows::from(double row) const {
  return {option, static_cast<int>(std::lround(std::clamp<double>(row, 0, all - shown)))};
}

ViewActions TableRows::by_wheel(const Gesture& gesture) const {
  constexpr int kRows = 3;  // for a step of the wheel
  if (shown == 0) return {};
  return {from(first + kRows * (gesture.by.y > 0 ? -1 : 1))};
}

std::optional<ViewActions> TableRows::by_key(Key key) const {
  if (shown == 0) return std::nullopt;
  switch (key) {
    case Key::up:
      return ViewActions{from(first - 1)};
    case Key::down:
      return ViewActions{from(first + 1)};
    case Key::page_up:
      return ViewActions{from(first - shown)};
    case Key::page_down:
      return ViewActions{from(first + shown)};
    case Key::home:
      return ViewActions{from(0)};
    case Key::end:
      return ViewActions{from(all)};
    default:
      return std::nullopt;
  }
}

std::vector<Scroll> TableRows::bars(float right) const {
  if (!scrolls()) return {};
  return {{false,
           {place.x, place.y, right - place.x, place.h},
           static_cast<double>(first),
           static_cast<double>(shown),
           static_cast<double>(all),
           [rows = *this](double to) -> ViewActions { return {rows.from(to)}; }}};
}

TableRows table_rows_of(const Picture& picture, int role, int all, int first, const Option<int>& option) {
  TableRows rows{&option, 0, 0, all, {}};
  for (const viz::Region& region : picture.regions) {
    if (region.role != role || rows.shown == all) continue;
    if (rows.shown++ == 0) rows.place = region.rect;
    rows.place.h = region.rect.bottom() - rows.place.y;
  }
  rows.first = std::clamp(first, 0, all - rows.shown);
  return rows;
}

}  // namespace headscope::app
