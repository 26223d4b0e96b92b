#include "app/views/parts/frame.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/views/export.h"
#include "viz/scene/contrast.h"

namespace headscope::app {

viz::Style style_of(const ViewContext& c) {
  constexpr float kSixPoints = 8;  // on paper, in logical pixels
  return {*c.theme, *c.fonts, c.font_size, c.device_scale, c.printed ? kSixPoints : 0, c.least_label};
}

bool is_on_paper(const ViewContext& c) {
  return c.printed && c.min_stroke_width < spec_of(Target::slide).min_stroke_width;
}

float margin(const ViewContext& c) {
  const float unit = style_of(c).unit();  // a pane has a margin of its own
  if (is_on_paper(c)) return unit;
  return c.in_pane || c.width < 25 * c.font_size ? 2 * unit : 4 * unit;
}

Picture blank(const ViewContext& c) {
  Picture picture;
  picture.scene.width = c.width;
  picture.scene.height = c.height;
  picture.scene.background = c.theme->surface;
  return picture;
}

Picture message(const ViewContext& c, std::string_view words) {
  Picture picture = blank(c);
  picture.whole = false;
  const viz::Style style = style_of(c);
  const float room = c.width - 2 * margin(c), line = style.line(style.small());
  std::vector<std::string> lines = small_lines(c, words, room);
  if (static_cast<float>(lines.size()) * line > c.height) lines = {std::string(words)};  // shortened
  float y = c.height / 2 - line * static_cast<float>(std::ssize(lines) - 1) / 2;
  for (const std::string& text : lines) {
    viz::add_muted(picture.scene, style, text, {c.width / 2, y}, viz::Align::center, room);
    y += line;
  }
  return picture;
}

Picture too_small(const ViewContext& c) {
  const bool can_say_more = c.in_pane && c.height > 10 * c.font_size;
  Picture picture =
      message(c, can_say_more ? "too small: widen its pane or enlarge the window" : "too small");
  picture.readable = false;
  return picture;
}

viz::Color text_on(const ViewContext& c, viz::Color ground) {
  return viz::text_on(*c.theme, ground);
}

viz::Rect below_title(const ViewContext& c, float heading) {
  const float m = margin(c), top = m + heading;
  // A pane's picture may get scroll bars on its right and below it.
  const float end = c.in_pane ? std::max(m, kScrollBar * c.font_size + style_of(c).unit()) : m;
  const float below = c.titled ? end : m;  // without a title in its pane, it does not scroll sideways
  return {m, top, std::max(0.F, c.width - m - end), std::max(0.F, c.height - top - below)};
}

static float room_beside_title(const ViewContext& c, std::string_view title) {
  const viz::Style style = style_of(c);
  return c.width - 2 * margin(c) - style.width(title, style.title(), viz::FontStyle::medium) -
         3 * style.unit();
}
constexpr float kLeastBeside = 14;  // ems: a few letters and an ellipsis are useless

int wanted_subtitle_lines(const Picture& picture, const ViewContext& c) {
  constexpr float kLeastHeight = 24, kLeastWithNone = 18;  // ems
  if (!c.in_pane || picture.cut_heading == 0 || picture.subtitle.empty()) return 0;
  // A lone ellipsis is worth a line even in a low pane.
  const bool shows_some = room_beside_title(c, picture.title) >= kLeastBeside * c.font_size;
  if (c.height < (shows_some ? kLeastHeight : kLeastWithNone) * c.font_size) return 0;
  const std::size_t most = c.height < kLeastHeight * c.font_size ? 1 : c.differs() ? 3 : 2;
  return static_cast<int>(std::min(most, small_lines(c, picture.subtitle, c.width - 2 * margin(c)).size()));
}

Heading heading_of(std::string_view title, std::string_view subtitle, const ViewContext& c,
                   std::optional<int> lines) {
  Heading heading;
  if (title.empty()) return heading;
  const viz::Style style = style_of(c);
  const float m = margin(c), u = style.unit(), room = c.width - 2 * m;
  const float beside = room_beside_title(c, title), needed = style.width(subtitle, style.small());
  float y = m;
  const auto add = [&](std::vector<std::string> all, bool is_title) {
    const float line = style.line(is_title ? style.title() : style.small());
    for (std::string& text : all) {
      heading.lines.push_back({std::move(text), {m, y + line / 2}, is_title});
      y += line;
    }
  };
  if (lines)
    add({std::string(title)}, true);
  else
    add(viz::wrap(style, title, style.title(), viz::FontStyle::medium, room), true);
  const bool fits = heading.lines.size() == 1 && needed <= beside;
  heading.is_cut = lines && !fits;
  const float end = lines ? y + static_cast<float>(*lines) * style.line(style.small()) : 0;
  if (fits || (lines == 0 && beside >= kLeastBeside * style.font_size)) {
    // On the title's baseline, not on its middle.
    const float lower = (c.fonts->cap_height(viz::FontStyle::medium, style.title()) -
                         c.fonts->cap_height(viz::FontStyle::regular, style.small())) /
                        2;
    heading.lines.push_back(
        {std::string(subtitle), {m + room - beside, heading.lines.front().at.y + lower}, false});
  } else if (lines == 0) {
    if (c.in_pane && beside >= style.width("…", style.small()))  // hover it
      heading.lines.push_back({"…", {m + room - beside, heading.lines.front().at.y}, false});
  } else {
    auto under = small_lines(c, subtitle, room);
    const std::size_t most = lines ? static_cast<std::size_t>(*lines) : under.size();
    heading.is_cut = under.size() > most;
    for (; under.size() > most; under.pop_back()) under[most - 1] += " " + under[most];
    add(std::move(under), false);
  }
  heading.height = std::max(y, end) - m + (c.in_pane ? 1 : 2) * u;
  return heading;
}

void paint_heading(viz::Scene& scene, const ViewContext& c, const Heading& heading) {
  const viz::Style style = style_of(c);
  for (const auto& [text, at, is_title] : heading.lines)
    viz::add_label(scene, style, text, at, is_title ? style.title() : style.small(),
                   is_title ? c.theme->text : c.theme->text_muted,
                   is_title ? viz::FontStyle::medium : viz::FontStyle::regular, viz::Align::left,
                   c.width - margin(c) - at.x);
}

std::vector<std::string> small_lines(const ViewContext& c, std::string_view text, float width) {
  const viz::Style style = style_of(c);
  return viz::wrap(style, text, style.small(), viz::FontStyle::regular, std::max(1.F, width));
}

void paint_small_lines(viz::Scene& scene, const ViewContext& c, const std::vector<std::string>& lines,
                       viz::Point top, float room) {
  const viz::Style style = style_of(c);
  top.y += style.line(style.small()) / 2;
  for (const std::string& words : lines) {
    viz::add_muted(scene, style, words, top, viz::Align::left, room);
    top.y += style.line(style.small());
  }
}

}  // namespace headscope::app
