#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "app/ascii.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "viz/scene/scale.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr std::size_t kMaxSegments = 5;

bool is_slider(const OptionSpec& option) {
  return std::holds_alternative<double>(option.default_value) && option.steps.empty();
}

/// Whether a typed option has steps, too.
bool has_steps(const OptionSpec& option) {
  return std::holds_alternative<TokenRef>(option.default_value);
}

std::vector<Ui::Segment> segments(const OptionSpec& option) {
  std::vector<Ui::Segment> result;
  result.reserve(option.choices.size());
  for (const Choice& choice : option.choices)
    result.push_back({std::string(choice.label), Tip(choice.help, option.keys, 0)});
  return result;
}

/// The text between − and + of a stepper.
std::string stepper_words(const Ui& ui, const OptionSpec& option) {
  return std::string(option.label) + " " + to_text(option, ui.state.options.value(option));
}

/// Wide enough for the common values, so that nothing moves while stepping.
float stepper_width(const Ui& ui, const OptionSpec& option) {
  const bool whole = std::holds_alternative<int>(option.default_value);
  return std::max(ui.width(std::string(option.label) + (whole ? " 00" : " 0.001")),
                  ui.width(stepper_words(ui, option))) +
         ui.u(12);
}

/// One control of a view: an option or a command; with neither, the button that shows more or fewer.
struct ViewControl {
  const OptionSpec* option = nullptr;
  const KeyCommand* command = nullptr;
};

/// The controls of a view, in order. If there are many, the last ones are shown on demand; an option with
/// another value than its default one always is.
std::vector<ViewControl> controls_of(const Ui& ui, const View& view) {
  const Options& options = ui.state.options;
  std::vector<ViewControl> controls;
  for (const OptionSpec* option : options_shown_with(view))
    if (option->control != Control::none && has_effect(view, *option, ui.state, ui.snapshot))
      controls.push_back({option});
  for (const KeyCommand& command : view.commands)
    if (!command.label.empty()) controls.push_back({.command = &command});
  if (controls.size() <= kMaxControls) return controls;
  if (!ui.state.all_controls) {
    std::vector<ViewControl> shown;
    for (const ViewControl& one : controls) {
      const bool is_set = one.option && options.value(*one.option) != one.option->default_value;
      if (shown.size() + 1 < kMaxControls || is_set) shown.push_back(one);
    }
    controls = std::move(shown);
  }
  controls.emplace_back();
  return controls;
}

/// The button of a slider's special default value.
std::string default_words(const OptionSpec& option) {
  return capitalized(option.default_name);
}
/// Width of the buttons between a slider's label and its track.
float slider_buttons_width(const Ui& ui, const OptionSpec& option) {
  const float gap = ui.u(6);
  const float width = (option.default_name.empty() ? 0 : ui.button_width(default_words(option)) + gap) +
                      (option.plays ? ui.u(28) + gap : 0);
  return width > 0 ? width + gap : 0;
}

/// Draws the buttons at both ends of a stepper. Returns the place between them.
Rect draw_step_buttons(Ui& ui, const OptionSpec& option, const Rect& rect) {
  const OptionValue& value = ui.state.options.value(option);
  const auto button = [&](float x, const char* sign, int by) {
    if (ui.button({x, rect.y, rect.h, rect.h}, "",
                  {.icon = by > 0 ? Icon::plus : Icon::minus,
                   .tip = Tip(option.help, option.keys, by > 0 ? 0 : 1),
                   .name = std::string(option.label) + " " + sign}))
      ui.actions.emplace_back(SetOption{&option, stepped(option, value, by)});
  };
  button(rect.x, "−", -1);
  button(rect.right() - rect.h, "+", 1);
  return {rect.x + rect.h, rect.y, rect.w - 2 * rect.h, rect.h};
}

void draw_stepper(Ui& ui, const OptionSpec& option, const Rect& rect) {
  const Rect middle = draw_step_buttons(ui, option, rect);
  std::string words = stepper_words(ui, option);
  if (ui.width(words) > middle.w)  // the tooltips have the label
    words = to_text(option, ui.state.options.value(option));
  ui.text(words, middle, ui.theme().text, viz::FontStyle::regular, 1, viz::Align::center);
  ui.explain(middle, option.label, Tip(option.help, "", 0));
}

/// Draws the label and the field of a list or a token, with steps around a token's.
void draw_typed(Ui& ui, const OptionSpec& option, const Rect& rect) {
  const float words = ui.width(option.label) + ui.u(8);
  const Rect label{rect.x, rect.y, words, rect.h};
  ui.text(option.label, label, ui.theme().text_muted);
  ui.explain(label, option.label, Tip(option.help, option.keys, 0));
  Rect place{rect.x + words, rect.y, rect.w - words, rect.h};
  if (has_steps(option)) place = draw_step_buttons(ui, option, place);
  if (typed_option(ui.state) == &option) {
    ui.field(Field::option, place, to_text(option, option.default_value));
    if (!ui.state.option_problem.empty()) ui.complain(place, "Expected " + ui.state.option_problem);
  } else if (ui.button(place, to_text(option, ui.state.options.value(option)),
                       {.name = std::string(option.label) + " as text"})) {
    ui.actions.emplace_back(TypeOption{&option});  // all share one field
    ui.moment.field = Field::option;
    ui.moment.leave_keyboard = true;
  }
}

/// Draws the buttons before a slider's track, as wide as slider_buttons_width.
void draw_slider_buttons(Ui& ui, const OptionSpec& option, const Rect& rect) {
  const float gap = ui.u(6);
  float x = rect.x;
  if (!option.default_name.empty()) {
    const std::string words = default_words(option);
    const float wide = ui.button_width(words);
    const bool on = ui.state.options.value(option) == option.default_value;
    if (ui.button({x, rect.y, wide, rect.h}, words,
                  {.on = on, .name = std::string(option.label) + " " + std::string(option.default_name)}))
      ui.actions.emplace_back(SetOption{&option, option.default_value});
    x += wide + gap;
  }
  if (option.plays) {
    const bool plays = ui.state.playing == &option;
    if (ui.icon({x, rect.y, rect.h, rect.h}, plays ? Icon::stop : Icon::play, plays ? "Stop" : "Play",
                plays ? "Stop" : "Run through the values once"))
      ui.actions.emplace_back(PlayOption{&option});
  }
}

void draw_slider(Ui& ui, const OptionSpec& option, const Rect& rect) {
  const double value = std::get<double>(ui.state.options.value(option));
  const double default_value = std::get<double>(option.default_value);
  const std::string label(option.label);
  const bool named = !option.default_name.empty();
  const bool special = named && value == default_value;
  const int decimals = option.step >= 1 && value == std::round(value) ? 0 : 2;
  const std::string shown = special ? label : label + " " + viz::fixed_number(value, decimals);
  const float widest =
      std::max(ui.width(label + " 0.00"),
               ui.width(label + " " + viz::fixed_number(option.high, option.step >= 1 ? 0 : 2)));
  const float room = std::min(widest + ui.u(14), rect.w - ui.u(56));
  ui.text(shown, {rect.x, rect.y, room - ui.u(10), rect.h}, ui.theme().text_muted);
  ui.explain({rect.x, rect.y, room - ui.u(10), rect.h}, label, Tip(option.help, option.keys, 0));
  draw_slider_buttons(ui, option, {rect.x + room, rect.y, rect.h, rect.h});
  const float buttons = slider_buttons_width(ui, option);
  const Rect track{rect.x + room + buttons, rect.y, rect.w - room - buttons - ui.u(8), rect.h};
  const std::string by_default = named ? std::string(option.default_name) : viz::number(default_value, 3);
  const auto moved = ui.slider(track, label, value, {option.low, option.high, option.step, default_value},
                               Tip(option.help, option.keys, 0).words() + "; double click: " + by_default);
  if (!moved) return;
  // Rounded to whole steps, whatever the slider's length.
  ui.actions.emplace_back(SetOption{&option, std::round(*moved / option.step) * option.step});
}

/// A control in its row.
struct ControlCell {
  float width = 0;
  std::function<void(const Rect&)> draw = {};
  bool is_list = false;  ///< choices that do not fit side by side, but go into a list that a button opens
};

/// `room`: width of a row.
ControlCell choices_cell(Ui& ui, const OptionSpec& option, float room) {
  const float wide = ui.segmented_width(segments(option));
  ControlCell cell{
      .width = wide,
      .is_list = option.control == Control::list || option.choices.size() > kMaxSegments || wide > room};
  if (cell.is_list) cell.width = 0;
  for (const Choice& choice : option.choices)  // a list's button has room for each of them
    if (cell.is_list) cell.width = std::max(cell.width, ui.button_width(choice.label, true));
  cell.draw = [&ui, &option, is_list = cell.is_list](const Rect& rect) {
    const std::vector<Ui::Segment> choices = segments(option);
    const int chosen = std::get<int>(ui.state.options.value(option));
    const int pressed = is_list ? ui.choice(rect, option.label, choices, chosen)
                                : ui.segmented(rect, option.label, choices, chosen);
    if (pressed >= 0) ui.actions.emplace_back(SetOption{&option, pressed});
  };
  return cell;
}

ControlCell option_cell(Ui& ui, const OptionSpec& option, float room) {
  const float buttons = 2 * ui.u(28);
  if (const bool* on = std::get_if<bool>(&ui.state.options.value(option)))
    return {ui.button_width(option.label), [&ui, &option, on = *on](const Rect& rect) {
              if (ui.button(rect, option.label, {.on = on, .tip = Tip(option.help, option.keys, 0)}))
                ui.actions.emplace_back(SetOption{&option, !on});
            }};
  if (!option.choices.empty()) return choices_cell(ui, option, room);
  if (is_slider(option))
    return {ui.u(250) + slider_buttons_width(ui, option),
            [&ui, &option](const Rect& rect) { draw_slider(ui, option, rect); }};
  if (is_typed(option))
    return {ui.width(option.label) + ui.u(158) + (has_steps(option) ? buttons : 0),
            [&ui, &option](const Rect& rect) { draw_typed(ui, option, rect); }};
  return {buttons + stepper_width(ui, option),
          [&ui, &option](const Rect& rect) { draw_stepper(ui, option, rect); }};
}

/// Choices with their name before them, which their buttons do not have.
ControlCell named_cell(Ui& ui, const OptionSpec& option, float room) {
  const float label = std::ceil(ui.width(option.label, viz::FontStyle::regular, Ui::kSmall)) + ui.u(8);
  ControlCell cell = option_cell(ui, option, room - label);
  cell.width += label;
  cell.draw = [&ui, &option, label, draw = std::move(cell.draw)](const Rect& rect) {
    const Rect words{rect.x, rect.y, label, rect.h};
    ui.small(option.label, words, ui.theme().text_muted);
    ui.explain(words, option.label, Tip(option.help, option.keys, 0));
    draw({rect.x + label, rect.y, rect.w - label, rect.h});
  };
  return cell;
}

ControlCell command_cell(Ui& ui, const View& view, const KeyCommand& command) {
  return {
      ui.button_width(command.label), [&](const Rect& rect) {
        const ViewContext context = ui.context(&view, rect.w, rect.h);
        const ViewActions actions = context.run ? command.act(context, 0) : ViewActions();
        // Without anything to do it keeps its room, so that nothing moves.
        if (!actions.empty() && ui.button(rect, command.label, {.tip = Tip(command.help, command.keys, 0)}))
          ui.actions.emplace_back(DoAll{actions, false, context.side});
      }};
}

ControlCell more_cell(Ui& ui) {
  const bool all = ui.state.all_controls;
  const char* const words = all ? "Fewer options" : "More options";
  return {ui.button_width(words), [&ui, all, words](const Rect& rect) {
            if (ui.button(rect, words,
                          {.tip = all ? "Show the first controls of each view only"
                                      : "Show all controls of each view"}))
              ui.actions.emplace_back(change(&UiState::all_controls, !all));
          }};
}

/// `named`: choices have their names before them.
std::vector<ControlCell> cells_of(Ui& ui, const View& view, const std::vector<ViewControl>& controls,
                                  float room, bool named) {
  std::vector<ControlCell> cells;
  for (const auto& [option, command] : controls)
    cells.push_back(option && named && !option->choices.empty() ? named_cell(ui, *option, room)
                    : option                                    ? option_cell(ui, *option, room)
                    : command                                   ? command_cell(ui, view, *command)
                                                                : more_cell(ui));
  return cells;
}

/// Where the rows of cells end.
float bottom_of(const Ui& ui, const std::vector<ControlCell>& cells, const Rect& first, float taken) {
  FlowLayout rows(first, ui.u(6), taken);
  for (const ControlCell& cell : cells) rows.take(cell.width);
  return rows.bottom();
}

void draw_rows(Ui& ui, const std::vector<ViewControl>& controls, const std::vector<ControlCell>& cells,
               const Rect& first, float taken) {
  FlowLayout rows(first, ui.u(6), taken);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Rect rect = rows.take(cells[i].width);
    if (controls[i].option) ui.area(controls[i].option->name, rect);
    cells[i].draw(rect);
  }
}

}  // namespace

float draw_controls(Ui& ui, const View& view, const Rect& first, float most, float taken) {
  const std::vector<ViewControl> controls = controls_of(ui, view);
  if (controls.empty() && taken <= 0) return first.y;
  const std::vector<ControlCell> cells = cells_of(ui, view, controls, first.w, false);
  const float bottom = bottom_of(ui, cells, first, taken);
  if (bottom - first.y <= most) {
    // With names, if these fit, take no more rows and make no choices a list.
    const std::vector<ControlCell> named = cells_of(ui, view, controls, first.w, true);
    const bool fit = std::ranges::equal(named, cells, [&](const ControlCell& a, const ControlCell& b) {
      return a.width <= first.w && a.is_list == b.is_list;
    });
    const bool names = fit && bottom_of(ui, named, first, taken) <= bottom;
    draw_rows(ui, controls, names ? named : cells, first, taken);
    return bottom;
  }
  const float row = first.h + ui.u(3);
  const Rect narrow{first.x, first.y, first.w - ui.u(16), first.h};  // leaves room for the scroll bar
  const std::vector<ControlCell> narrower = cells_of(ui, view, controls, narrow.w, false);
  most = row * (std::max(2.F, std::floor(most / row)) - 0.5F);  // a half row shows that there are more
  const Rect body = ui.begin_list("controls", {first.x, first.y, first.w, most},
                                  bottom_of(ui, narrower, narrow, taken) - first.y);
  draw_rows(ui, controls, narrower, {body.x, body.y, narrow.w, first.h}, taken);
  ui.end_list();
  return first.y + most;
}

}  // namespace headscope::app
