// The outlines around what a tour's stop points at.
#include <algorithm>
#include <optional>
#include <utility>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

std::optional<Rect> area_of(const Ui& ui, std::string_view name) {
  const auto area = std::ranges::find(ui.out.areas, name, &WindowArea::name);
  return area == ui.out.areas.end() ? std::nullopt : std::optional(area->rect);
}

std::optional<Rect> pane_of(const Ui& ui, const PlacedPicture& placed) {
  for (const WindowArea& area : ui.out.areas)
    if (area.name == WindowArea::kPane && area.rect.encloses(placed.where)) return area.rect;
  return std::nullopt;
}

/// Where a point is in the window: a landmark that is scrolled out of sight is the pane of its view.
std::optional<Rect> place_of(const Ui& ui, const TourPoint& point) {
  using Kind = TourPoint::Kind;
  if (point.kind == Kind::prompt) return area_of(ui, WindowArea::kPrompt);
  if (point.kind == Kind::edits) {
    const auto bar = area_of(ui, WindowArea::kEdits);
    return bar ? std::optional(bar->inset(-ui.u(4))) : std::nullopt;
  }
  const auto placed = std::ranges::find(ui.out.pictures, point.view, &PlacedPicture::view);
  if (placed == ui.out.pictures.end()) return std::nullopt;
  if (point.kind == Kind::landmark && placed->context.run) {
    const auto found = point.landmark->find(placed->context, *placed->picture);
    if (found && found->w > 0 && found->h > 0) {
      // Beside the numbers at a row's end, but not over the rows above and below.
      const float beside = ui.u(4), above = ui.u(1);
      return Rect{placed->where.x + found->x - beside, placed->where.y + found->y - above,
                  found->w + 2 * beside, found->h + 2 * above};
    }
  }
  const auto control = point.option ? area_of(ui, point.option->name) : std::nullopt;
  return control ? control->inset(-ui.u(3)) : pane_of(ui, *placed);
}

}  // namespace

void draw_points(Ui& ui) {
  const TourStop* stop = tour_stop(ui.state);
  if (stop == nullptr || stop->points.empty()) return;
  ui.begin_overlay();
  const viz::Color ink = ui.theme().text, ground = ui.theme().surface;  // no colour that means something
  const float line = ui.u(2), halo = ui.u(1), radius = ui.u(4);
  for (const TourPoint& point : stop->points) {
    const auto place = place_of(ui, point);
    if (!place) continue;
    ui.out.outlines.push_back(*place);
    // The halo sets it off from any colours of the picture.
    ui.stroke(place->inset(-halo), ground.with_alpha(160), line + 2 * halo, radius + halo);
    ui.stroke(*place, ink, line, radius);
    const Landmark* landmark = point.landmark;
    if (landmark == nullptr || stop->points.size() == 1) continue;
    const float width = ui.width(landmark->name, viz::FontStyle::regular, Ui::kSmall) + ui.u(10);
    // At the right end: what is outlined has its heading at the left.
    const Rect tag{place->right() - width, place->y - ui.u(17), width, ui.u(18)};
    ui.fill(tag, ink, radius);
    ui.small(landmark->name, tag, ground, viz::Align::center);
  }
  ui.end_overlay();
}

}  // namespace headscope::app
