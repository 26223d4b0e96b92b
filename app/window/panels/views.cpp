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

void draw_header_line(Ui& ui, const Rect& rect, float y) {
  ui.line({rect.x + 1, y}, {rect.right() - 1, y}, ui.theme().line);
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
  if (ui.button(
          rect, running ? "■ Stop" : "▶ Generate",
          {.on = running,
           .unavailable = running ? "" : generating_problem(ui),
           .tip = running ? "Stop generating  Esc"
                          : with_keys("Generate token by token at this temperature", command("Generate")),
           .name = running ? "Stop" : "Generate"}))
    ui.actions.emplace_back(Generate{!running});
}

/// The groups of views.
Ui::Part groups(Ui& ui, const View& shown, bool second_view, float room) {
  std::vector<Ui::Segment> titles;
  for (const GroupSpec& spec : kGroups)
    titles.push_back({.label = std::string(spec.title), .tip = std::string(spec.help)});
  const auto chosen = std::ranges::find(kGroups, shown.group, &GroupSpec::group) - std::begin(kGroups);
  return ui.choice("Group", std::move(titles), static_cast<int>(chosen), room, [=, &shown](int i) -> Action {
    const View* first = *std::ranges::find(tabs(), kGroups[i].group, &View::group);
    return ShowView{std::string((first->group == shown.group ? shown : *first).id), second_view};
  });
}

/// The views of the shown one's group.
Ui::Part views_of_group(Ui& ui, const View& shown, bool second_view, float room) {
  std::vector<const View*> group;
  std::vector<Ui::Segment> titles;
  for (const View* view : tabs()) {
    if (view->group != shown.group) continue;
    const bool begins_half = group.empty() || group.back()->audience != view->audience;
    group.push_back(view);
    titles.push_back({.label = std::string(view->title),
                      .tip = with_key(view->help),
                      .heading = begins_half ? audience_title(view->audience) : ""});
  }
  const auto chosen = static_cast<int>(std::ranges::find(group, &shown) - group.begin());
  return ui.choice("Views", std::move(titles), chosen, room, [=](int i) -> Action {
    return ShowView{std::string(group[i]->id), second_view};
  });
}

/// Why a view shows no difference; empty: it shows one, or none is wanted.
std::string no_difference(const Ui& ui, const View& shown) {
  if (ui.state.side != Side::difference || !has_comparison(ui.state)) return "";
  if (can_show_difference(shown, ui.context(&shown))) return "";
  if (!shown.caption.prompt) return "This view shows weights of the model, which no run changes.";
  if (shown.shows_difference) return "This is about the unedited model: there is no difference.";
  return std::string("This view has no differences: it shows the ") + (ui.state.second.on ? "first prompt."
                                                                       : ui.state.second.is_set()
                                                                           ? "first model."
                                                                           : "edited run.");
}

}  // namespace

void draw_side_view(Ui& ui, const Rect& rect, Place place) {
  const View& view = view_at(place);
  ui.begin_pane(place == Place::left ? "left" : "right", rect);
  const float header = ui.u(40), pad = ui.u(12), gap = ui.u(8);
  const Rect title{rect.x + pad, rect.y, rect.w - 2 * pad, header};
  ui.text(view.title, title, ui.theme().text, viz::FontStyle::medium);
  ui.explain({title.x, title.y, ui.width(view.title, viz::FontStyle::medium), header}, view.title,
             with_key(view.help));
  ui.small(pane_subtitle(ui, place), title, ui.theme().text_muted, viz::Align::right);
  draw_header_line(ui, rect, title.bottom());
  const float top = ui.flow({title.x, title.bottom() + gap, title.w, ui.u(28)}, controls(ui, view, title.w),
                            (rect.h - header) / 2) +
                    gap;
  float bottom = rect.bottom() - gap;
  if (place == Place::right) {
    bottom -= ui.u(32);
    draw_generate(ui, {title.x, bottom, title.w, ui.u(32)});
    bottom -= gap;
  }
  ui.picture(view, {title.x, top, title.w, bottom - top});
  ui.end_pane();
}

void draw_tabs(Ui& ui, const Rect& rect, bool second_view) {
  ui.begin_pane(second_view ? "beside" : "middle", rect);
  const View& shown = *find_view(second_view ? ui.state.second_view : ui.state.view);
  const float pad = ui.u(8), control = ui.u(28), gap = ui.u(6);
  const Rect head{rect.x + pad, rect.y + gap, rect.w - 2 * pad, control};
  // The groups, then the views of the shown one: beside them, or before the view's controls.
  const float room = head.w - control - 2 * pad;
  Ui::Part stages = groups(ui, shown, second_view, room);
  Ui::Part views = views_of_group(ui, shown, second_view, room - stages.width - pad);
  const bool beside = stages.width + pad + views.width <= room;
  std::vector<Ui::Part> line{std::move(stages)};
  if (beside) line.push_back(views);
  const bool compares = ui.snapshot.run && ui.snapshot.run->baseline && shown.caption.prompt;
  const auto say_side = [&](const Rect& rest) {
    const std::string side = compares && ui.state.side != Side::difference ? side_words(ui.state) : "";
    if (ui.width(side) < rest.w) ui.small(side, rest, ui.theme().text_muted, viz::Align::right);
  };
  line.push_back({.draw = say_side, .grows = true});
  const Command& two = command("Two views side by side");
  if (second_view)
    line.push_back(
        ui.sign("×", "One view", with_keys("Close the second view", two), change(&UiState::second_view, "")));
  else if (ui.state.second_view.empty())
    line.push_back(
        ui.sign("◫", "Two views", with_keys("Add a second view", two), toggle_second_view(ui.state)));
  ui.place(head, line);
  float top = head.bottom() + gap;
  draw_header_line(ui, rect, top);
  top += gap;
  std::vector<Ui::Part> parts = controls(ui, shown, head.w);
  if (!beside) parts.insert(parts.begin(), std::move(views));
  if (!parts.empty()) {  // the picture keeps at least half of the room
    const float max_height = std::max(control, (rect.bottom() - top) / 2);
    top = ui.flow({head.x, top, head.w, control}, parts, max_height) + gap;
  }
  if (const std::string why = no_difference(ui, shown); !why.empty()) {
    ui.text(why, {head.x, top, head.w, ui.u(22)}, ui.theme().text_muted);
    top += ui.u(24);
  }
  ui.picture(shown, {head.x, top, head.w, rect.bottom() - top - gap});
  ui.end_pane();
}

}  // namespace headscope::app
