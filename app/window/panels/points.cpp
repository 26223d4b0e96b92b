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

std::optional<Rect> landmark_in(const Landmark& landmark, const ViewContext& context,
                                const Picture& picture) {
  const auto found = context.run ? landmark.find(context, picture) : std::nullopt;
  return found && found->w > 0 && found->h > 0 ? found : std::nullopt;
}

/// The scroll position, page by page, at which the picture shows the landmark; nothing: none does.
std::optional<ViewActions> scroll_to(const PlacedPicture& placed, const Landmark& landmark) {
  constexpr int kMaxPages = 200;  // of at most n_ctx rows
  // Of its own content, since drawing places its boxes, and the window works with those that it shows.
  const Picture own = placed.view->build(placed.context);
  for (const Scroll& scroll : *placed.scrolls) {
    const double step = std::max(1.0, scroll.shown - 1);
    double first = 0;
    for (int i = 0; i < kMaxPages && first < scroll.total; ++i, first += step) {
      ViewActions actions = scroll.to(first);
      ViewContext context = placed.context;
      for (const ViewAction& action : actions)
        if (const auto* set = std::get_if<SetOption>(&action)) context.options.set(*set->option, set->value);
      const Picture page = placed.view->drawn(context, own.content);
      if (landmark_in(landmark, context, page)) return actions;
    }
  }
  return std::nullopt;
}

/// Scrolls to a landmark that is out of sight, unless the user has left the stop. Returns whether it did.
bool reveal(Ui& ui, const PlacedPicture& placed, const TourPoint& point) {
  if (placed.scrolls->empty() || ui.out.stale || has_left_stop(ui.state)) return false;
  if (!placed.searched->insert(point.landmark).second) return false;
  auto actions = scroll_to(placed, *point.landmark);
  if (!actions) return false;
  ui.actions.emplace_back(RevealPoint{std::move(*actions)});
  ui.out.settling = true;
  return true;
}

/// Where a point is in the window: a landmark that no scrolling brings into view is the pane of its view.
std::optional<Rect> place_of(Ui& ui, const TourPoint& point) {
  using Kind = TourPoint::Kind;
  if (point.kind == Kind::prompt) return area_of(ui, WindowArea::kPrompt);
  if (point.kind == Kind::edits) {
    const auto bar = area_of(ui, WindowArea::kEdits);
    return bar ? std::optional(bar->inset(-ui.u(4))) : std::nullopt;
  }
  const auto placed = std::ranges::find(ui.out.pictures, point.view, &PlacedPicture::view);
  if (placed == ui.out.pictures.end()) return std::nullopt;
  if (point.kind == Kind::landmark) {
    if (const auto found = landmark_in(*point.landmark, placed->context, *placed->picture)) {
      // Beside the numbers at a row's end, but not over the rows above and below.
      const float beside = ui.u(4), above = ui.u(1);
      return Rect{placed->where.x + found->x - beside, placed->where.y + found->y - above,
                  found->w + 2 * beside, found->h + 2 * above};
    }
    if (reveal(ui, *placed, point)) return std::nullopt;
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
