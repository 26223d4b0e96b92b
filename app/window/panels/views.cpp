// The panes of views: heads at the left, tabs in the middle, the next token at the right.
#include <algorithm>
#include <array>

#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr std::array kGroups{Group::input, Group::attention, Group::block, Group::output, Group::model};

std::vector<const View*> tabs_of(Group group) {
  std::vector<const View*> tabs;
  for (const View& view : views())
    if (view.place == Place::tab && view.group == group) tabs.push_back(&view);
  return tabs;
}

/// "12 layers × 12 heads", or what belongs to another pane's title.
std::string beside_title(const Ui& ui, Place place) {
  if (!ui.snapshot.run || place != Place::left) return "";
  const auto& config = ui.snapshot.run->run->config;
  return std::to_string(config.n_layer) + " layers × " + std::to_string(config.n_head) + " heads";
}

void draw_header_line(Ui& ui, const Rect& rect, float header) {
  ui.line({rect.x + 1, rect.y + header}, {rect.right() - 1, rect.y + header}, ui.theme().line);
}

void draw_generate(Ui& ui, const Rect& rect) {
  const bool running = ui.state.generation.running;
  if (ui.button(rect, running ? "Stop" : "Generate",
                {.on = running,
                 .enabled = ui.snapshot.run != nullptr,
                 .tip = running ? "Stop adding tokens  Esc"
                                : "Go on, token by token, drawn at this temperature  Ctrl+G"}))
    ui.actions.emplace_back(Generate{!running});
}

}  // namespace

void draw_side_view(Ui& ui, const Rect& rect, Place place) {
  const View& view = view_at(place);
  ui.begin_pane(place == Place::left ? "left" : "right", rect);
  const float header = ui.u(40), pad = ui.u(12), control = ui.u(28);
  const Rect title{rect.x + pad, rect.y, rect.w - 2 * pad, header};
  ui.text(view.title, title, ui.theme().text, viz::FontStyle::medium);
  ui.text(beside_title(ui, place), title, ui.theme().text_muted, viz::FontStyle::regular, 0.93F,
          viz::Align::right);
  draw_header_line(ui, rect, header);
  const float top =
      draw_controls(ui, view, {rect.x + pad, rect.y + header + ui.u(8), rect.w - 2 * pad, control}) +
      ui.u(8);
  float bottom = rect.bottom() - ui.u(8);
  if (place == Place::right) {
    bottom -= ui.u(32);
    draw_generate(ui, {rect.x + pad, bottom, rect.w - 2 * pad, ui.u(32)});
    bottom -= ui.u(8);
  }
  ui.picture(view, {rect.x + pad, top, rect.w - 2 * pad, bottom - top});
  ui.end_pane();
}

void draw_tabs(Ui& ui, const Rect& rect, bool beside) {
  ui.begin_pane(beside ? "beside" : "middle", rect);
  const View& shown = *find_view(beside ? ui.state.beside : ui.state.view);
  const float header = ui.u(40), pad = ui.u(12), control = ui.u(28);
  const float y = rect.y + (header - control) / 2;
  const auto show = [&](const View& view) {
    ui.actions.emplace_back(ShowView{std::string(view.id), beside});
  };

  // At the right end: a second view, or an end of it.
  const Rect last{rect.right() - ui.u(8) - ui.u(28), y, ui.u(28), control};
  // Groups by the way of the data, then the views of the one that is shown.
  Rows rows({rect.x + ui.u(6), y, last.x - ui.u(8) - rect.x - ui.u(6), control}, ui.u(2));
  for (const Group group : kGroups) {
    const auto tabs = tabs_of(group);
    if (tabs.empty()) continue;
    const std::string label(title_of(group));
    const Rect place = rows.take(ui.button_width(label));
    if (ui.button(place, label,
                  {.look = Ui::Look::plain, .on = group == shown.group, .name = label + " views"}) &&
        group != shown.group)
      show(*tabs.front());
  }
  const Rect gap = rows.take(ui.u(10));
  ui.line({gap.center().x, gap.y + ui.u(4)}, {gap.center().x, gap.bottom() - ui.u(4)}, ui.theme().line);
  for (const View* view : tabs_of(shown.group))
    if (ui.tab(rows.take(ui.button_width(view->title)), view->title, view == &shown, std::string(view->help)))
      show(*view);
  if (beside) {
    if (ui.button(last, "×", {.look = Ui::Look::plain, .tip = "Only one view  Ctrl+D", .name = "One view"}))
      ui.actions.emplace_back(CloseBeside{});
  } else if (ui.state.beside.empty() &&
             ui.button(last, "◫", {.look = Ui::Look::plain, .tip = "A second view beside this one  Ctrl+D",
                                   .name = "Two views"})) {
    ui.actions.push_back(toggle_beside(ui.state));
  }
  float top = rows.bottom() + (header - control) / 2;
  draw_header_line(ui, rect, top - rect.y);
  top += ui.u(8);
  // The view's controls beside the tabs where there is room, else below them.
  const float wanted = controls_width(ui, shown), room = rows.room() - ui.u(16);
  if (wanted > 0 && wanted <= room) {
    draw_controls(ui, shown, {last.x - ui.u(8) - wanted, rows.bottom() - control, wanted, control});
  } else if (wanted > 0) {
    top = draw_controls(ui, shown, {rect.x + pad, top, rect.w - 2 * pad, control}) + ui.u(8);
  }
  ui.picture(shown, {rect.x + pad, top, rect.w - 2 * pad, rect.bottom() - top - ui.u(8)});
  ui.end_pane();
}

}  // namespace headscope::app
