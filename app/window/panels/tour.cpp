// The panel of tours: where somebody is, what is to be seen there, and the way on.
#include <algorithm>

#include "app/tour/numbers.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kTitle = 1.12F;

/// A line with buttons at its right end, from the right: the words have the rest of it.
class Head {
 public:
  Head(Ui& ui, const Rect& inner) : ui_(ui), rest_{inner.x, inner.y, inner.w, ui.u(28)} {}
  bool button(const char* sign, const char* name, const char* tip) {
    rest_.w -= rest_.h;
    return ui_.button({rest_.right(), rest_.y, rest_.h, rest_.h}, sign,
                      {.look = Ui::Look::plain, .tip = tip, .name = name});
  }
  void close() {
    if (button("×", "Close the tour", "Close the tour; it is in the menu at the upper right"))
      ui_.actions.emplace_back(CloseTour{});
  }
  const Rect& rest() const { return rest_; }

 private:
  Ui& ui_;
  Rect rest_;
};

void draw_list(Ui& ui, const Rect& inner) {
  Head head(ui, inner);
  head.close();
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
    if (ui.button({list.x, y, std::min(width, ui.button_width(tour.title)), ui.u(30)}, tour.title, {}))
      ui.actions.emplace_back(OpenTour{static_cast<int>(i)});
    ui.paragraph(tour.about, {list.x, y + ui.u(34), width, 0}, ui.theme().text_muted);
    y += height(tour);
  }
  ui.end_list();
}

void draw_stops_menu(Ui& ui, const Tour& tour, viz::Point at) {
  const float row = ui.u(30), width = ui.u(320);
  const auto rect = ui.begin_menu(Menu::stops, at, width, row * static_cast<float>(tour.stops.size() + 1));
  if (!rect) return;
  Rect line{rect->x, rect->y, rect->w, row};
  for (std::size_t i = 0; i < tour.stops.size(); ++i) {
    const std::string label = std::to_string(i + 1) + "  " + tour.stops[i].title;
    if (ui.row(line, {.label = label, .marked = static_cast<int>(i) == ui.state.tour.stop}))
      ui.actions.emplace_back(GoToStop{static_cast<int>(i)});
    line.y += row;
  }
  if (ui.row(line, {.label = "All tours"})) ui.actions.emplace_back(OpenTour{});
  ui.end_menu();
}

void draw_way(Ui& ui, const Tour& tour, const Rect& foot) {
  const TourPlace& place = ui.state.tour;
  const int last = static_cast<int>(tour.stops.size()) - 1;
  float x = foot.x;
  const auto take = [&](float width) {
    const Rect rect{x, foot.y, width, foot.h};
    x += width + ui.u(6);
    return rect;
  };
  if (ui.button(take(ui.button_width("Back")), "Back",
                {.enabled = place.stop > 0, .tip = "The stop before  Alt+Page up", .name = "Stop before"}))
    ui.actions.emplace_back(GoToStop{place.stop - 1});
  const bool ends = place.stop == last;
  const bool done = stop_is_done(ui.state);
  if (ui.button(take(ui.button_width("Done")), ends ? "Done" : "Next",
                {.look = done ? Ui::Look::primary : Ui::Look::raised,
                 .tip = ends ? "Close the tour" : "The next stop  Alt+Page down",
                 .name = "Next stop"})) {
    if (ends) {
      ui.actions.emplace_back(CloseTour{});
    } else {
      ui.actions.emplace_back(GoToStop{place.stop + 1});
    }
  }
  const Rect stops = take(ui.button_width("Stops", true));
  ui.menu_button(stops, "Stops", Menu::stops, {.menu = true, .tip = "All stops of this tour"});
  draw_stops_menu(ui, tour,
                  {stops.x, stops.y - ui.u(20) - ui.u(30) * static_cast<float>(tour.stops.size() + 1)});
}

void draw_stop(Ui& ui, const Rect& inner, const Tour& tour) {
  const TourPlace& place = ui.state.tour;
  const TourStop& stop = tour.stops[place.stop];
  const std::string count = std::to_string(place.stop + 1) + " of " + std::to_string(tour.stops.size());
  Head head(ui, inner);
  head.close();
  if (left_the_stop(ui.state) && head.button("↺", "Return to the stop", "Show what this stop showed"))
    ui.actions.emplace_back(GoToStop{place.stop});
  ui.text(count + "  " + tour.title, head.rest(), ui.theme().text_muted, viz::FontStyle::regular, 0.93F);
  const Rect foot{inner.x, inner.bottom() - ui.u(30), inner.w, ui.u(30)};
  draw_way(ui, tour, foot);

  const ViewContext context =
      make_context(nullptr, ui.state, ui.snapshot, *ui.seen.answers, ui.fonts(), 1, 1, 1);
  const float top = head.rest().bottom() + ui.u(6);
  const Rect body{inner.x, top, inner.w, foot.y - ui.u(6) - top};
  const float gap = ui.u(9), width = body.w - ui.u(16);
  std::vector<std::string> words;
  for (const std::string& paragraph : stop.caption) words.push_back(with_numbers(paragraph, context));
  float height = ui.paragraph_height(stop.title, width, kTitle) + gap;
  for (const std::string& paragraph : words) height += ui.paragraph_height(paragraph, width) + gap;
  const std::string task(stop.wait != nullptr ? stop.wait->asked : "");
  if (!task.empty()) height += ui.paragraph_height(task, width) + gap;

  const Rect list = ui.begin_list("caption", body, height);
  Rect line{list.x, list.y, width, 0};
  line.y += ui.paragraph(stop.title, line, ui.theme().text, kTitle) + gap;
  for (const std::string& paragraph : words) line.y += ui.paragraph(paragraph, line, ui.theme().text) + gap;
  if (!task.empty()) ui.paragraph(stop_is_done(ui.state) ? "✓ " + task : task, line, ui.theme().accent);
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
