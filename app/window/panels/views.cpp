// The panes: heads on the left, tabs in the middle, the next token on the right.
#include <algorithm>

#include "app/views/parts/names.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// The subtitle of a side pane, for example "12 layers × 12 heads".
std::string pane_subtitle(const Ui& ui, Place place) {
  if (!ui.snapshot.run || place != Place::left) return "";
  const auto& config = ui.snapshot.run->run->config;
  return counted(config.n_layer, "layer") + " × " + counted(config.n_head, "head");
}

void draw_header_line(Ui& ui, const Rect& rect, float header) {
  ui.line({rect.x + 1, rect.y + header}, {rect.right() - 1, rect.y + header}, ui.theme().line);
}

void draw_generate(Ui& ui, const Rect& rect) {
  const bool running = ui.state.generation.running;
  if (ui.button(rect, running ? "Stop" : "Generate",
                {.on = running,
                 .enabled = ui.snapshot.run != nullptr,
                 .tip = running ? "Stop generating  Esc"
                                : tip_words("Generate token by token at this temperature",
                                            command(CommandId::generate))}))
    ui.actions.emplace_back(Generate{!running});
}

/// The first view of each group.
std::vector<const View*> groups_shown() {
  std::vector<const View*> groups;
  for (const View* view : tabs())
    if (groups.empty() || groups.back()->group != view->group) groups.push_back(view);
  return groups;
}

}  // namespace

void draw_side_view(Ui& ui, const Rect& rect, Place place) {
  const View& view = view_at(place);
  ui.begin_pane(place == Place::left ? "left" : "right", rect);
  const float header = ui.u(40), pad = ui.u(12), control = ui.u(28);
  const Rect title{rect.x + pad, rect.y, rect.w - 2 * pad, header};
  ui.text(view.title, title, ui.theme().text, viz::FontStyle::medium);
  ui.explain({title.x, title.y, ui.width(view.title, viz::FontStyle::medium), header}, view.title,
             tip_words(view.help, "", 0));
  ui.small(pane_subtitle(ui, place), title, ui.theme().text_muted, viz::Align::right);
  draw_header_line(ui, rect, header);
  const float top =
      draw_controls(ui, view, {rect.x + pad, rect.y + header + ui.u(8), rect.w - 2 * pad, control},
                    (rect.h - header) / 2) +
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

void draw_tabs(Ui& ui, const Rect& rect, bool second_view) {
  ui.begin_pane(second_view ? "beside" : "middle", rect);
  const View& shown = *find_view(second_view ? ui.state.second_view : ui.state.view);
  const float header = ui.u(40), pad = ui.u(12), control = ui.u(28);
  const float y = rect.y + (header - control) / 2;
  const auto show = [&](const View& view) {
    ui.actions.emplace_back(ShowView{std::string(view.id), second_view});
  };

  // At the right end: the button that opens or closes a second view.
  const Rect last{rect.right() - ui.u(8) - ui.u(28), y, ui.u(28), control};
  // The groups in the order of the data flow, then the views of the shown group.
  Rows rows({rect.x + ui.u(6), y, last.x - ui.u(8) - rect.x - ui.u(6), control}, ui.u(2));
  const std::vector<const View*> groups = groups_shown();
  for (const View* first : groups) {
    const std::string label(title_of(first->group));
    const bool on = first->group == shown.group;
    if (ui.button(rows.take(ui.button_width(label)), label,
                  {.look = Ui::Look::plain, .on = on, .name = label + " views"}) &&
        !on)
      show(*first);
  }
  const Rect gap = rows.take(ui.u(10));
  ui.line({gap.center().x, gap.y + ui.u(4)}, {gap.center().x, gap.bottom() - ui.u(4)}, ui.theme().line);
  std::vector<const View*> group;
  for (const View* view : tabs())
    if (view->group == shown.group) group.push_back(view);
  Rows ahead = rows;
  for (const View* view : group) ahead.take(ui.button_width(view->title));
  if (ahead.bottom() <= y + 2.5F * control) {
    for (const View* view : group)
      if (ui.tab(rows.take(ui.button_width(view->title)), view->title, view == &shown,
                 tip_words(view->help, "", 0)))
        show(*view);
  } else {  // more than two rows of tabs would leave too little room for the picture
    std::vector<Ui::Segment> titles;
    for (const View* view : group) titles.push_back({std::string(view->title), tip_words(view->help, "", 0)});
    const auto chosen = static_cast<int>(std::ranges::find(group, &shown) - group.begin());
    const int pressed = ui.choice(rows.take(ui.button_width(shown.title, true)), "Views", titles, chosen);
    if (pressed >= 0) show(*group[pressed]);
  }
  const Command& two = command(CommandId::two_views);
  if (second_view) {
    if (ui.icon(last, "×", "One view", tip_words("Close the second view", two)))
      ui.actions.emplace_back(CloseSecondView{});
  } else if (ui.state.second_view.empty() &&
             ui.icon(last, "◫", "Two views", tip_words("Add a second view", two))) {
    ui.actions.push_back(toggle_second_view(ui.state));
  }
  float top = rows.bottom() + (header - control) / 2;
  draw_header_line(ui, rect, top - rect.y);
  top += ui.u(8);
  // The view's controls are next to the tabs if they fit, else below them.
  const float wanted = controls_width(ui, shown), room = rows.room() - ui.u(16);
  if (wanted > 0 && wanted <= room) {
    draw_controls(ui, shown, {last.x - ui.u(8) - wanted, rows.bottom() - control, wanted, control}, control);
  } else if (wanted > 0) {  // the picture keeps at least half of the room
    const float most = std::max(control, (rect.bottom() - top) / 2);
    top = draw_controls(ui, shown, {rect.x + pad, top, rect.w - 2 * pad, control}, most) + ui.u(8);
  }
  if (ui.state.side == Side::difference && has_comparison(ui.state) && !shown.shows_difference) {
    ui.text(ui.state.second.on         ? "This view has no differences: it shows the first prompt."
            : ui.state.second.is_set() ? "This view has no differences: it shows the first model."
                                       : "This view has no differences: it shows the edited run.",
            {rect.x + pad, top, rect.w - 2 * pad, ui.u(22)}, ui.theme().text_muted);
    top += ui.u(24);
  }
  ui.picture(shown, {rect.x + pad, top, rect.w - 2 * pad, rect.bottom() - top - ui.u(8)});
  ui.end_pane();
}

}  // namespace headscope::app
