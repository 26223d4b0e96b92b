// What is placed in rows and lines, which know their own size.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/ui.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {

using viz::Color;
using viz::FontStyle;
using viz::Rect;

Rect cut_top(Rect& rest, float height, float gap) {
  const Rect part{rest.x, rest.y, rest.w, height};
  rest.y += height + gap;
  rest.h -= height + gap;
  return part;
}

Rect cut_bottom(Rect& rest, float height, float gap) {
  rest.h -= height + gap;
  return {rest.x, rest.bottom() + gap, rest.w, height};
}

Rect cut_left(Rect& rest, float width, float gap) {
  const Rect part{rest.x, rest.y, width, rest.h};
  rest.x += width + gap;
  rest.w -= width + gap;
  return part;
}

Rect cut_right(Rect& rest, float width, float gap) {
  rest.w -= width + gap;
  return {rest.right() + gap, rest.y, width, rest.h};
}

Rect Ui::next(float height) {
  const Rect line = cut_top(layers_.back().rest, height);
  ImGui::SetCursorScreenPos({line.x, line.y});
  ImGui::Dummy({1, height});
  return line;
}

void Ui::heading(std::string_view words) {
  const Rect line = next(u(26));
  text(words, {line.x + u(10), line.y, line.w - u(20), line.h}, theme().text_muted, FontStyle::medium, 0.85F);
}

void Ui::paragraph(std::string_view words, Color color, float factor) {
  const Rect& rest = layers_.back().rest;
  paragraph(words, next(paragraph_height(words, rest.w, factor)), color, factor);
}

void Ui::separator() {
  const Rect gap = next(u(9));
  line({gap.x, gap.center().y}, {gap.right(), gap.center().y}, theme().line);
}

void Ui::place(const Rect& rect, const std::vector<Part>& parts, float gap) {
  float spare = rect.w + u(gap), x = rect.x;
  for (const Part& part : parts) spare -= part.width + u(gap);
  for (const Part& part : parts) {
    const float more = part.grows ? std::max(spare, -part.width) : 0;
    const Rect where{x, rect.y, std::min(part.width + more, rect.right() - x), rect.h};
    if (part.draw && where.w > 0) part.draw(where);
    spare -= more;
    x += part.width + more + u(gap);
  }
}

void Ui::flow(Rect& rest, float row, const std::vector<Part>& parts, float max_height) {
  const float gap = u(6), step = row + gap / 2;
  /// Returns the rows' height.
  const auto rows = [&](const Rect& room, bool draws) {
    Rect place{room.x, room.y, 0, row};
    for (const Part& part : parts) {
      if (place.x > room.x && place.x + part.width > room.right()) place.x = room.x, place.y += step;
      place.w = std::min(part.width, room.w);
      if (draws && !part.area.empty()) area(part.area, place);
      if (draws) part.draw(place);
      place.x += part.width + gap;
    }
    return place.bottom() - room.y;
  };
  const float height = rows(rest, false);
  if (height <= max_height) {
    rows(cut_top(rest, height), true);
    return;
  }
  // A half row shows that there are more.
  begin_list("parts", cut_top(rest, step * (std::max(2.F, std::floor(max_height / step)) - 0.5F)));
  rows(next(rows(layers_.back().rest, false)), true);
  end_list();
}

Ui::Part Ui::joined(std::vector<Part> parts, float gap) {
  float width = -u(gap);
  for (const Part& part : parts) width += part.width + u(gap);
  return {width, [this, gap, parts = std::move(parts)](const Rect& rect) { place(rect, parts, gap); }};
}

Ui::Part Ui::label(std::string words, std::string tip, std::string_view term) {
  return {std::ceil(width(words, FontStyle::regular, kSmall)) + 1, [=, this](const Rect& rect) {
            small(words, rect, theme().text_muted);
            explain(rect, term, tip);
          }};
}

Ui::Part Ui::words(std::string words, Color color, float factor, bool grows) {
  return {std::ceil(width(words, FontStyle::regular, factor)) + 1,
          [=, this](const Rect& rect) { text(words, rect, color, FontStyle::regular, factor); }, grows};
}

Ui::Part Ui::button(std::string label, Button style, Action action) {
  return {style.square ? u(28) : button_width(label, style.menu), [=, this](const Rect& rect) {
            if (button(rect, label, style)) actions.push_back(action);
          }};
}

Ui::Part Ui::sign(const char* sign, std::string name, std::string tip, Action action,
                  std::string unavailable) {
  return button(sign,
                {.look = Look::plain,
                 .unavailable = std::move(unavailable),
                 .square = true,
                 .tip = std::move(tip),
                 .name = std::move(name)},
                std::move(action));
}

Ui::Part Ui::menu_button(std::string label, Menu menu, Button style) {
  style.on = widgets.menu == menu;
  return {button_width(label, style.menu), [=, this](const Rect& rect) {
            menu_buttons_[menu] = rect;
            if (button(rect, label, style)) widgets.open = menu;
          }};
}

Ui::Part Ui::field(Field field, std::string placeholder, float width, bool grows) {
  return {width, [=, this](const Rect& rect) { this->field(field, rect, placeholder); }, grows};
}

}  // namespace headscope::app
