// The panes: heads on the left, tabs in the middle, the next token on the right.
#include <algorithm>

#include "app/views/parts/names.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// The subtitle of a side pane: which run it shows, if there are two, or "12 layers × 12 heads".
std::string pane_subtitle(const Ui& ui, Place place) {
  if (!ui.snapshot.run) return "";
  if (ui.snapshot.run->baseline) return side_words(ui.state);
  const auto& config = ui.snapshot.run->run->config;
  return place == Place::left ? counted(config.n_layer, "layer") + " × " + counted(config.n_head, "head")
                              : "";
}

void draw_header_line(Ui& ui, const Rect& rect, float header) {
  ui.line({rect.x + 1, rect.y + header}, {rect.right() - 1, rect.y + header}, ui.theme().line);
}

/// Why the shown text cannot go on; empty: it can.
std::string generating_problem(const Ui& ui) {
  const auto& run = ui.snapshot.run;
  if (!run) return "Nothing has run yet.";
  const PromptRun& shown = ui.state.side == Side::baseline && run->baseline ? *run->baseline : *run;
  const int n_ctx = shown.run->config.n_ctx;
  return shown.tokens.length() < n_ctx
             ? ""
             : "Context full: this model reads at most " + counted(n_ctx, "token") + ".";
}

void draw_generate(Ui& ui, const Rect& rect) {
  const bool running = ui.state.generation.running;
  if (ui.button(rect, running ? "Stop" : "Generate",
                {.icon = running ? Icon::stop : Icon::play,
                 .on = running,
                 .unavailable = running ? "" : generating_problem(ui),
                 .tip = running ? "Stop generating  Esc"
                                : Tip("Generate token by token at this temperature",
                                      command(CommandId::generate))}))
    ui.actions.emplace_back(Generate{!running});
}

/// The tabs of the shown view's group, the shown one among them; a list has them all if they do not fit into
/// `rect`. Without room for even the shown one, the list alone. Returns the pressed one, or null.
const View* draw_group(Ui& ui, const Rect& rect, const View& shown) {
  std::vector<const View*> group;
  for (const View* view : tabs())
    if (view->group == shown.group) group.push_back(view);
  std::vector<Ui::Segment> titles;
  std::optional<Audience> half;  // that the menu has begun, or all there is
  if (group.front()->audience == group.back()->audience) half = shown.audience;
  for (const View* view : group) {
    const bool begins_half = view->audience != half;
    titles.push_back({.label = std::string(view->title),
                      .tip = Tip(view->help, "", 0),
                      .heading = begins_half ? audience_title(view->audience) : ""});
    half = view->audience;
  }
  const auto chosen = static_cast<int>(std::ranges::find(group, &shown) - group.begin());
  const auto tab_width = [&](const View& view) {
    return ui.width(view.title, viz::FontStyle::medium) + ui.u(20);
  };
  const auto total = [&](std::size_t count) {
    float width = 0;
    for (std::size_t i = 0; i < count; ++i) width += tab_width(*group[i]);
    return width;
  };
  const std::string more = std::to_string(group.size()) + " views";
  std::size_t fit = group.size();  // the first tabs, or one fewer and the shown one
  const float list = ui.button_width(more, true);
  if (total(fit) > rect.w) {
    const auto needed = [&](std::size_t count) {
      const bool in = static_cast<std::size_t>(chosen) < count;
      return total(in ? count : count - 1) + (in ? 0 : tab_width(shown)) + ui.u(6) + list;
    };
    while (fit > 0 && needed(fit) > rect.w) --fit;
  }
  RowLayout line(rect, 0);
  const View* pressed = nullptr;
  for (std::size_t i = 0; i < fit; ++i) {
    const bool last = i + 1 == fit && static_cast<std::size_t>(chosen) >= fit;
    const View& view = last ? shown : *group[i];
    if (ui.tab(line.left(tab_width(view)), view.title, &view == &shown, Tip(view.help, "", 0)))
      pressed = &view;
  }
  if (fit == group.size()) return pressed;
  if (fit > 0) line.skip(ui.u(6));
  const int picked = fit > 0
                         ? ui.choice(line.left(list), "Views", titles, chosen, more)
                         : ui.choice(line.left(ui.button_width(shown.title, true)), "Views", titles, chosen);
  return picked >= 0 ? group[picked] : pressed;
}

/// The width of the list of views with the widest title in it.
float widest_list(const Ui& ui) {
  float widest = 0;
  for (const View* view : tabs()) widest = std::max(widest, ui.button_width(view->title, true));
  return widest;
}

/// The groups as buttons, in as many rows as needed, for a pane too narrow for the map; returns their bottom.
float draw_groups(Ui& ui, const Rect& first, const View& shown, const View*& pressed) {
  FlowLayout rows(first, ui.u(2));
  for (const GroupSpec& spec : kGroups) {
    const std::string label(spec.title);
    const bool on = spec.group == shown.group;
    if (ui.button(
            rows.take(ui.button_width(label)), label,
            {.look = Ui::Look::plain, .on = on, .tip = std::string(spec.help), .name = label + " views"}) &&
        !on)
      pressed = *std::ranges::find(tabs(), spec.group, &View::group);
  }
  return rows.bottom();
}

}  // namespace

void draw_side_view(Ui& ui, const Rect& rect, Place place) {
  const View& view = view_at(place);
  ui.begin_pane(place == Place::left ? "left" : "right", rect);
  const float header = ui.u(40), pad = ui.u(12), control = ui.u(28);
  const Rect title{rect.x + pad, rect.y, rect.w - 2 * pad, header};
  ui.text(view.title, title, ui.theme().text, viz::FontStyle::medium);
  ui.explain({title.x, title.y, ui.width(view.title, viz::FontStyle::medium), header}, view.title,
             Tip(view.help, "", 0));
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
  const float pad = ui.u(8), control = ui.u(28), gap = ui.u(6);
  const Rect head{rect.x + pad, rect.y + gap, rect.w - 2 * pad, control};

  // At the right end: the button that opens or closes a second view.
  const Rect last{head.right() - control, head.y, control, control};
  const Command& two = command(CommandId::two_views);
  if (second_view) {
    if (ui.icon(last, Icon::close, "One view", Tip("Close the second view", two)))
      ui.actions.emplace_back(change(&UiState::second_view, ""));
  } else if (ui.state.second_view.empty() &&
             ui.icon(last, Icon::two_views, "Two views", Tip("Add a second view", two))) {
    ui.actions.push_back(toggle_second_view(ui.state));
  }
  // The map, then the views of the shown group: next to it, or before the view's controls.
  const View* pressed = nullptr;
  float top = head.bottom();
  Rect rest{head.x, head.y, last.x - gap - head.x, control};
  if (const float map = pass_map_width(ui, rest.w); map > 0) {
    pressed = draw_pass_map(ui, {rest.x, rest.y, map, control}, shown);
    rest.x += map + 2 * gap, rest.w -= map + 2 * gap;
    const float x = rest.x - gap;
    if (rest.w >= widest_list(ui)) ui.line({x, rest.y + gap}, {x, rest.bottom() - gap}, ui.theme().line);
  } else {
    top = draw_groups(ui, rest, shown, pressed);
    rest.w = 0;
  }
  const bool beside = rest.w >= widest_list(ui);
  if (beside)
    if (const View* view = draw_group(ui, rest, shown)) pressed = view;
  top += gap;
  draw_header_line(ui, rect, top - rect.y);
  top += gap;
  float taken = 0;  // of the row of controls
  if (!beside) {
    taken = ui.button_width(shown.title, true);
    if (const View* view = draw_group(ui, {head.x, top, taken, control}, shown)) pressed = view;
    taken += gap;
  }
  if (pressed != nullptr) ui.actions.emplace_back(ShowView{std::string(pressed->id), second_view});
  // The picture keeps at least half of the room.
  const float most = std::max(control, (rect.bottom() - top) / 2), controls = top;
  top = draw_controls(ui, shown, {head.x, top, head.w, control}, most, taken);
  if (top > controls) top += gap;
  if (ui.state.side == Side::difference && has_comparison(ui.state) &&
      !can_show_difference(shown, ui.context(&shown))) {
    ui.text(!shown.caption.prompt      ? "This view shows weights of the model, which no run changes."
            : shown.shows_difference   ? "This is about the unedited model: there is no difference."
            : ui.state.second.on       ? "This view has no differences: it shows the first prompt."
            : ui.state.second.is_set() ? "This view has no differences: it shows the first model."
                                       : "This view has no differences: it shows the edited run.",
            {rect.x + pad, top, rect.w - 2 * pad, ui.u(22)}, ui.theme().text_muted);
    top += ui.u(24);
  }
  ui.picture(shown, {rect.x + pad, top, rect.w - 2 * pad, rect.bottom() - top - ui.u(6)});
  ui.end_pane();
}

}  // namespace headscope::app
