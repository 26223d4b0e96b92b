// The tour panel: the open stop, its text and the navigation buttons.
#include <algorithm>

#include "app/tour/conditions.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kTitle = 1.12F;

RowLayout begin_head(Ui& ui, const Rect& inner) {
  RowLayout head({inner.x, inner.y, inner.w, ui.u(28)}, 0);
  if (ui.icon(head.right(head.rest().h), Icon::close, "Close the tour",
              "Close the tour; the ⋯ menu reopens it"))
    ui.actions.emplace_back(CloseTour{});
  return head;
}

void draw_list(Ui& ui, const Rect& inner) {
  RowLayout head = begin_head(ui, inner);
  ui.text("Guided tours", head.rest(), ui.theme().text, viz::FontStyle::medium);
  const float top = head.rest().bottom() + ui.u(6);
  const Rect place{inner.x, top, inner.w, inner.bottom() - top};
  const float width = place.w - ui.u(16);
  const auto height = [&](const Tour& tour) {
    return ui.u(34) + ui.paragraph_height(tour.about, width) + ui.u(18);
  };
  float whole = 0;
  for (const Tour& tour : ui.state.tours) whole += height(tour);
  const Rect list = ui.begin_list("tours", place, whole);
  float y = list.y;
  for (std::size_t i = 0; i < ui.state.tours.size(); ++i) {
    const Tour& tour = ui.state.tours[i];
    const bool finished = std::ranges::count(ui.state.finished_tours, tour.id) > 0;
    const std::string label = (finished ? "✓ " : "") + tour.title;
    if (ui.button({list.x, y, std::min(width, ui.button_width(label)), ui.u(30)}, label,
                  {.name = tour.title}))
      ui.actions.emplace_back(OpenTour{static_cast<int>(i)});
    ui.paragraph(tour.about, {list.x, y + ui.u(34), width, 0}, ui.theme().text_muted);
    y += height(tour);
  }
  ui.end_list();
}

void draw_stops_menu(Ui& ui, const Tour& tour, const Rect& button) {
  const float row = ui.u(30), height = ui.u(20) + row * static_cast<float>(tour.stops.size() + 1);
  draw_menu(ui, Menu::stops, {button.x, button.y - height}, ui.u(320), [&](MenuLayout& lines) {
    for (int i = 0; i < std::ssize(tour.stops); ++i)
      lines.row(
          {.label = std::to_string(i + 1) + "  " + tour.stops[i].title, .marked = i == ui.state.tour.stop},
          row, GoToStop{i});
    lines.row({.label = "All tours"}, row, OpenTour{});
  });
}

/// The navigation buttons.
void draw_buttons(Ui& ui, const Tour& tour, const Rect& foot) {
  const int stop = ui.state.tour.stop;
  RowLayout line(foot, ui.u(6));
  if (ui.button(line.left(ui.button_width("Back")), "Back",
                {.unavailable = stop > 0 ? "" : "This is the first stop.",
                 .tip = "Previous stop  Alt+Page up",
                 .name = "Previous stop"}))
    ui.actions.emplace_back(GoToStop{stop - 1});
  const bool ends = stop + 1 == std::ssize(tour.stops);
  if (ui.button(line.left(ui.button_width("Done")), ends ? "Done" : "Next",
                {.look = is_stop_done(ui.state) ? Ui::Look::primary : Ui::Look::raised,
                 .tip = ends ? "Close the tour and show all tours" : "Next stop  Alt+Page down",
                 .name = "Next stop"}))
    ui.actions.push_back(ends ? Action(OpenTour{}) : Action(GoToStop{stop + 1}));
  const Rect stops = line.left(ui.button_width("Stops", true));
  ui.menu_button(stops, "Stops", Menu::stops, {.menu = true, .tip = "All stops of this tour"});
  draw_stops_menu(ui, tour, stops);
}

void draw_stop(Ui& ui, const Rect& inner, const Tour& tour) {
  const TourPlace& place = ui.state.tour;
  const TourStop& stop = tour.stops[place.stop];
  const std::string count = std::to_string(place.stop + 1) + " of " + std::to_string(tour.stops.size());
  RowLayout head = begin_head(ui, inner);
  if (has_left_stop(ui.state) && ui.icon(head.right(head.rest().h), Icon::restore, "Return to the stop",
                                         "Restore the view of this stop"))
    ui.actions.emplace_back(GoToStop{place.stop});
  ui.small(count + "  " + tour.title, head.rest(), ui.theme().text_muted);
  const Rect foot{inner.x, inner.bottom() - ui.u(30), inner.w, ui.u(30)};
  draw_buttons(ui, tour, foot);

  ViewContext context = ui.context(nullptr);
  if (context.run && context.run->baseline) context.side = ui.state.side;  // of no view, but conditions ask
  const float top = head.rest().bottom() + ui.u(6);
  Rect body{inner.x, top, inner.w, foot.y - ui.u(6) - top};
  const float gap = ui.u(9), width = body.w - ui.u(16);
  const std::vector<std::string> words = shown_paragraphs(*resolved_tour_stop(ui.state), context);
  const bool asks = stop.wait != nullptr && (!context.run || stop.wait->is_possible(context));
  const std::string task(asks ? (is_stop_done(ui.state) ? "✓ " : "") + std::string(stop.wait->request) : "");
  if (!task.empty()) {  // what is to be done is in sight, however long the text is
    const float height = ui.paragraph_height(task, inner.w);
    body.h -= height + gap;
    ui.paragraph(task, {body.x, body.bottom() + gap / 2, inner.w, height}, ui.theme().accent);
  }
  float height = ui.paragraph_height(stop.title, width, kTitle) + gap;
  for (const std::string& paragraph : words) height += ui.paragraph_height(paragraph, width) + gap;

  const Rect list = ui.begin_list("caption", body, height);
  Rect line{list.x, list.y, width, 0};
  line.y += ui.paragraph(stop.title, line, ui.theme().text, kTitle) + gap;
  for (const std::string& paragraph : words) line.y += ui.paragraph(paragraph, line, ui.theme().text) + gap;
  ui.end_list();
}

}  // namespace

void draw_tour(Ui& ui, const Rect& rect) {
  ui.begin_pane("tour", rect);
  const Rect inner = rect.inset(ui.u(12));
  const int tour = ui.state.tour.tour;
  if (tour < 0) {
    draw_list(ui, inner);
  } else {
    draw_stop(ui, inner, ui.state.tours[tour]);
  }
  ui.end_pane();
}

}  // namespace headscope::app
