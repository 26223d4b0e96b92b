// The panes: heads on the left, tabs in the middle, the next token on the right.
#include <algorithm>
#include <utility>

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
  ui.button(running ? "■ Stop" : "▶ Generate",
            {.on = running,
             .unavailable = running ? "" : generating_problem(ui),
             .tip = running ? "Stop generating  Esc"
                            : with_keys("Generate token by token at this temperature", command("Generate")),
             .name = running ? "Stop" : "Generate"},
            Generate{!running})
      .draw(rect);
}

/// The groups of views.
Ui::Part groups(Ui& ui, const View& shown, bool second_view, float room) {
  std::vector<MenuItem> titles;
  for (const GroupSpec& spec : kGroups) {
    const View& first = **std::ranges::find(tabs(), spec.group, &View::group);
    const View& view = spec.group == shown.group ? shown : first;
    titles.push_back({.label = std::string(spec.title),
                      .actions = {ShowView{std::string(view.id), second_view}},
                      .tip = std::string(spec.help)});
  }
  const auto chosen = std::ranges::find(kGroups, shown.group, &GroupSpec::group) - std::begin(kGroups);
  return ui.choice("Group", std::move(titles), static_cast<int>(chosen), room);
}

/// The views of the shown one's group.
Ui::Part views_of_group(Ui& ui, const View& shown, bool second_view, float room) {
  std::vector<MenuItem> titles;
  int chosen = 0;
  std::optional<Audience> audience;
  for (const View* view : tabs()) {
    if (view->group != shown.group) continue;
    if (view == &shown) chosen = static_cast<int>(titles.size());
    const bool begins_half = std::exchange(audience, view->audience) != view->audience;
    titles.push_back({.label = std::string(view->title),
                      .actions = {ShowView{std::string(view->id), second_view}},
                      .tip = with_key(view->help),
                      .heading = begins_half ? audience_title(view->audience) : "",
                      .begins_group = begins_half && !titles.empty()});
  }
  return ui.choice("Views", std::move(titles), chosen, room);
}

/// Why a view shows no difference; empty: it shows one, or none is wanted.
std::string no_difference(const Ui& ui, const View& shown) {
  if (ui.state.side != Side::difference || !has_comparison(ui.state)) return "";
  if (can_show_difference(shown, ui.context(&shown))) return "";
  if (!shown.caption.prompt) return "This view shows the model's weights, which are the same in every run.";
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
  const float pad = ui.u(12), gap = ui.u(8);
  Rect body{rect.x + pad, rect.y, rect.w - 2 * pad, rect.h - gap};
  const Rect title = cut_top(body, ui.u(40), gap);
  ui.text(view.title, title, ui.theme().text, viz::FontStyle::medium);
  ui.explain({title.x, title.y, ui.width(view.title, viz::FontStyle::medium), title.h}, view.title,
             with_key(view.help));
  ui.small(pane_subtitle(ui, place), title, ui.theme().text_muted, viz::Align::right);
  draw_header_line(ui, rect, title.bottom());
  ui.flow(body, ui.u(28), controls(ui, view, body.w), (rect.h - title.h) / 2);
  cut_top(body, gap);
  if (place == Place::right) draw_generate(ui, cut_bottom(body, ui.u(32), gap));
  ui.picture(view, body, ui.state.side);
  ui.end_pane();
}

void draw_tabs(Ui& ui, const Rect& rect, bool second_view) {
  ui.begin_pane(second_view ? "beside" : "middle", rect);
  const View& shown = *find_view(second_view ? ui.state.second_view : ui.state.view);
  const float pad = ui.u(8), control = ui.u(28), gap = ui.u(6);
  Rect body{rect.x + pad, rect.y + gap, rect.w - 2 * pad, rect.h - 2 * gap};
  const Rect head = cut_top(body, control, gap);
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
  draw_header_line(ui, rect, body.y);
  cut_top(body, gap);
  std::vector<Ui::Part> parts = controls(ui, shown, head.w);
  if (!beside) parts.insert(parts.begin(), std::move(views));
  if (!parts.empty()) {  // the picture keeps at least half of the room
    ui.flow(body, control, parts, std::max(control, (rect.bottom() - body.y) / 2));
    cut_top(body, gap);
  }
  if (const std::string why = no_difference(ui, shown); !why.empty())
    ui.text(why, cut_top(body, ui.u(22), ui.u(2)), ui.theme().text_muted);
  ui.picture(shown, body, ui.state.side);
  ui.end_pane();
}

}  // namespace headscope::app
