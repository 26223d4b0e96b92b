// The tour panel: the open stop, its text and the navigation buttons; and the outlines around what it points
// at.
#include <algorithm>
#include <optional>
#include <utility>

#include "app/tour/tour.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kTitle = 1.12F;

/// The line at the top: words, and buttons at the right end.
void draw_head(Ui& ui, const Rect& head, Ui::Part words) {
  std::vector<Ui::Part> line{std::move(words)};
  if (ui.state.tour.tour >= 0 && has_left_stop(ui.state))
    line.push_back(
        ui.sign("↻", "Return to the stop", "Restore the view of this stop", GoToStop{ui.state.tour.stop}));
  line.push_back(ui.sign("×", "Close the tour", "Close the tour; the ⋯ menu reopens it", CloseTour{}));
  ui.place(head, line);
}

void draw_list(Ui& ui, const Rect& body) {
  ui.begin_list("tours", body);
  for (int i = 0; const Tour& tour : ui.state.tours) {
    const bool finished = std::ranges::count(ui.state.finished_tours, tour.id) > 0;
    ui.place(ui.next(ui.u(30)),
             {ui.button((finished ? "✓ " : "") + tour.title, {.name = tour.title}, OpenTour{i++})});
    ui.next(ui.u(4));
    ui.paragraph(tour.about, ui.theme().text_muted);
    ui.next(ui.u(18));
  }
  ui.end_list();
}

void draw_stops_menu(Ui& ui, const Tour& tour) {
  if (!ui.begin_menu(Menu::stops, ui.u(320))) return;
  for (int i = 0; i < std::ssize(tour.stops); ++i)
    ui.row({.label = std::to_string(i + 1) + "  " + tour.stops[i].title, .marked = i == ui.state.tour.stop},
           GoToStop{i});
  ui.row({.label = "All tours"}, OpenTour{});
  ui.end_menu();
}

/// The navigation buttons.
void draw_buttons(Ui& ui, const Tour& tour, const Rect& foot) {
  const int stop = ui.state.tour.stop;
  const bool ends = stop + 1 == std::ssize(tour.stops);
  ui.place(foot,
           {ui.button("Back",
                      {.unavailable = stop > 0 ? "" : "This is the first stop.",
                       .tip = "Previous stop  Alt+Page up",
                       .name = "Previous stop"},
                      GoToStop{stop - 1}),
            ui.button(ends ? "Done" : "Next",
                      {.look = is_stop_done(ui.state) ? Ui::Look::primary : Ui::Look::raised,
                       .tip = ends ? "Close the tour and show all tours" : "Next stop  Alt+Page down",
                       .name = "Next stop"},
                      ends ? Action(OpenTour{}) : Action(GoToStop{stop + 1})),
            ui.menu_button("Stops", Menu::stops, {.menu = true, .tip = "All stops of this tour"})},
           6);
  draw_stops_menu(ui, tour);
}

void draw_stop(Ui& ui, Rect body, const Tour& tour) {
  const TourStop& stop = tour.stops[ui.state.tour.stop];
  draw_buttons(ui, tour, cut_bottom(body, ui.u(30), ui.u(6)));

  ViewContext context = ui.context(nullptr);
  if (context.run && context.run->baseline) context.side = ui.state.side;  // of no view, but conditions ask
  const float gap = ui.u(9);
  const bool asks = stop.wait != nullptr && (!context.run || stop.wait->is_possible(context));
  if (asks) {  // what is to be done is in sight, however long the text is
    const std::string task = (is_stop_done(ui.state) ? "✓ " : "") + std::string(stop.wait->request);
    const float height = ui.paragraph_height(task, body.w) + gap / 2;
    ui.paragraph(task, cut_bottom(body, height, gap / 2), ui.theme().accent);
  }
  ui.begin_list("caption", body);
  ui.paragraph(stop.title, ui.theme().text, kTitle);
  for (const std::string& paragraph : shown_paragraphs(*resolved_tour_stop(ui.state), context)) {
    ui.next(gap);
    ui.paragraph(paragraph, ui.theme().text);
  }
  ui.end_list();
}

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

float shared_area(const Rect& a, const Rect& b) {
  const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x);
  const float h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
  return w > 0 && h > 0 ? w * h : 0;
}

/// How much a tag there hides; what is outside the picture counts as hidden.
float hidden_by(const Rect& tag, const Ui& ui, const PlacedPicture& placed) {
  constexpr float kText = 4;  // what is to be read counts more than a place without words
  float area = kText * (tag.w * tag.h - shared_area(tag, placed.where));
  const Rect within{tag.x - placed.where.x, tag.y - placed.where.y, tag.w, tag.h};
  for (const viz::Item& item : placed.picture->scene.items) {
    if (const auto* text = std::get_if<viz::GlyphRun>(&item))
      area += kText * shared_area(within, viz::bounds_of(*text));
    if (const auto* image = std::get_if<viz::Image>(&item)) area += shared_area(within, image->dest);
    if (const auto* fill = std::get_if<viz::FillRect>(&item)) area += shared_area(within, fill->rect);
  }
  for (const Rect& other : ui.out.outlines) area += shared_area(tag, other);
  for (const Rect& other : ui.out.tags) area += kText * shared_area(tag, other);
  return area;
}

/// The place next to an outline where a tag hides least: above, below or at a side.
Rect place_of_tag(const Ui& ui, const PlacedPicture& placed, const Rect& outline, float width) {
  constexpr int kSteps = 8;  // places along a side
  const float height = ui.u(18);
  std::vector<Rect> places;
  for (const float y : {outline.y + 1 - height, outline.bottom() - 1})
    for (int i = kSteps; i >= 0; --i)  // the right end first: headings begin at the left
      places.push_back({outline.x + (outline.w - width) * static_cast<float>(i) / kSteps, y, width, height});
  for (const float x : {outline.right(), outline.x - width})
    for (const float y : {outline.y, outline.bottom() - height}) places.push_back({x, y, width, height});
  return *std::ranges::min_element(places, {}, [&](const Rect& tag) { return hidden_by(tag, ui, placed); });
}

}  // namespace

void draw_tour(Ui& ui, const Rect& rect) {
  ui.begin_pane("tour", rect);
  Rect body = rect.inset(ui.u(12));
  const Rect head = cut_top(body, ui.u(28), ui.u(6));
  const TourPlace& at = ui.state.tour;
  if (at.tour < 0) {
    draw_head(ui, head, ui.words("Guided tours", ui.theme().text, 1, true));
    draw_list(ui, body);
  } else {
    const Tour& tour = ui.state.tours[at.tour];
    const std::string place = std::to_string(at.stop + 1) + " of " + std::to_string(tour.stops.size());
    draw_head(ui, head, ui.words(place + "  " + tour.title, ui.theme().text_muted, Ui::kSmall, true));
    draw_stop(ui, body, tour);
  }
  ui.end_pane();
}

void draw_points(Ui& ui) {
  const TourStop* stop = tour_stop(ui.state);
  if (stop == nullptr || stop->points.empty()) return;
  ui.begin_overlay();
  const viz::Color ink = ui.theme().text, ground = ui.theme().surface;  // no colour that means something
  const float line = ui.u(2), halo = ui.u(1), radius = ui.u(4);
  std::vector<std::pair<std::string_view, Rect>> named;
  for (const TourPoint& point : stop->points) {
    const auto place = place_of(ui, point);
    if (!place) continue;
    ui.out.outlines.push_back(*place);
    // The halo sets it off from any colours of the picture.
    ui.stroke(place->inset(-halo), ground.with_alpha(160), line + 2 * halo, radius + halo);
    ui.stroke(*place, ink, line, radius);
    if (point.landmark && stop->points.size() > 1) named.emplace_back(point.landmark->name, *place);
  }
  for (const auto& [name, outline] : named) {
    const auto placed = std::ranges::find_if(
        ui.out.pictures, [&](const PlacedPicture& one) { return one.where.overlaps(outline); });
    if (placed == ui.out.pictures.end()) continue;
    const float width = ui.width(name, viz::FontStyle::regular, Ui::kSmall) + ui.u(10);
    const Rect tag = ui.out.tags.emplace_back(place_of_tag(ui, *placed, outline, width));
    ui.fill(tag, ink, radius);
    ui.small(name, tag, ground, viz::Align::center);
  }
  ui.end_pane();
}

}  // namespace headscope::app
