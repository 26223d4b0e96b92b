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

Rect Ui::next(float height) {
  Rect& rest = layers_.back().rest;
  const Rect line{rest.x, rest.y, rest.w, height};
  ImGui::SetCursorScreenPos({line.x, line.y});
  ImGui::Dummy({1, height});
  rest.y += height;
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

float Ui::flow(const Rect& first, const std::vector<Part>& parts, float max_height) {
  const float gap = u(6);
  const auto rows = [&](Rect row, bool draws) {
    float x = row.x;
    for (const Part& part : parts) {
      if (x > row.x && x + part.width > row.right()) x = row.x, row.y += row.h + gap / 2;
      const Rect where{x, row.y, std::min(part.width, row.w), row.h};
      if (draws && !part.area.empty()) area(part.area, where);
      if (draws) part.draw(where);
      x += part.width + gap;
    }
    return row.bottom();
  };
  if (rows(first, false) - first.y <= max_height) return rows(first, true);
  const float row = first.h + gap / 2;
  max_height =
      row * (std::max(2.F, std::floor(max_height / row)) - 0.5F);  // a half row shows that there are more
  begin_list("parts", {first.x, first.y, first.w, max_height});
  const Rect& rest = layers_.back().rest;
  const Rect all = next(rows({0, 0, rest.w, first.h}, false));
  rows({all.x, all.y, all.w, first.h}, true);
  end_list();
  return first.y + max_height;
}

Ui::Part Ui::joined(std::vector<Part> parts, float gap) {
  float width = -u(gap);
  for (const Part& part : parts) width += part.width + u(gap);
  return {width, [this, parts = std::move(parts), gap](const Rect& rect) { place(rect, parts, gap); }};
}

Ui::Part Ui::label(std::string words, std::string tip, std::string_view term) {
  return {std::ceil(width(words, FontStyle::regular, kSmall)) + 1,
          [this, words = std::move(words), tip = std::move(tip), term](const Rect& rect) {
            small(words, rect, theme().text_muted);
            explain(rect, term, tip);
          }};
}

Ui::Part Ui::words(std::string words, Color color, float factor) {
  return {std::ceil(width(words, FontStyle::regular, factor)) + 1,
          [this, words = std::move(words), color, factor](const Rect& rect) {
            text(words, rect, color, FontStyle::regular, factor);
          }};
}

Ui::Part Ui::button(std::string label, Button style, Action action) {
  const float wide = button_width(label, style.menu);
  return {wide, [this, label = std::move(label), style = std::move(style),
                 action = std::move(action)](const Rect& rect) {
            if (button(rect, label, style)) actions.push_back(action);
          }};
}

Ui::Part Ui::sign(const char* sign, std::string name, std::string tip, Action action,
                  std::string unavailable) {
  Part part = button(sign,
                     {.look = Look::plain,
                      .unavailable = std::move(unavailable),
                      .tip = std::move(tip),
                      .name = std::move(name)},
                     std::move(action));
  part.width = u(28);
  return part;
}

Ui::Part Ui::menu_button(std::string label, Menu menu, Button style) {
  const float wide = button_width(label, style.menu);
  return {wide, [this, label = std::move(label), menu, style = std::move(style)](const Rect& rect) mutable {
            menu_buttons_[menu] = rect;
            style.on = widgets.menu == menu;
            if (button(rect, label, style)) widgets.open = menu;
          }};
}

Ui::Part Ui::field(Field field, std::string placeholder, float width, bool grows) {
  return {width,
          [this, field, placeholder = std::move(placeholder)](const Rect& rect) {
            this->field(field, rect, placeholder);
          },
          grows};
}

Ui::Part Ui::choice(std::string name, std::vector<Segment> segments, int chosen, float room,
                    std::function<Action(int)> action, bool list) {
  float wide = segmented_width(segments);
  list = list || wide > room;
  if (list) wide = 0;
  for (const Segment& segment : segments)  // a list's button has room for each of them
    if (list) wide = std::max(wide, button_width(segment.label, true));
  return {wide, [=, this, name = std::move(name), segments = std::move(segments),
                 action = std::move(action)](const Rect& rect) {
            const int pressed =
                list ? this->list(rect, name, segments, chosen) : segmented(rect, name, segments, chosen);
            if (pressed >= 0) actions.push_back(action(pressed));
          }};
}

}  // namespace headscope::app
