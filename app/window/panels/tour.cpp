// The tour panel: the open stop, its text and the navigation buttons.
#include <algorithm>

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

}  // namespace headscope::app
