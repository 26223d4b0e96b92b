#include <algorithm>
#include <cmath>
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

Ui::Part label(Ui& ui, const OptionSpec& option) {
  return ui.label(std::string(option.label), with_key(option.help, option.keys), option.label);
}

/// − or + at the end of a stepper.
Ui::Part step(Ui& ui, const OptionSpec& option, int by) {
  const char* const sign = by > 0 ? "+" : "−";
  return ui.button(sign,
                   {.square = true,
                    .tip = with_key(option.help, option.keys, by > 0 ? 0 : 1),
                    .name = std::string(option.label) + " " + sign},
                   SetOption{&option, stepped(option, ui.state.options.value(option), by)});
}

Ui::Part stepper(Ui& ui, const OptionSpec& option) {
  const std::string words = std::string(option.label) + " " + to_text(option, ui.state.options.value(option));
  // Wide enough for the common values, so that nothing moves while stepping.
  const bool whole = std::holds_alternative<int>(option.default_value);
  const float wide =
      std::max(ui.width(std::string(option.label) + (whole ? " 00" : " 0.001")), ui.width(words));
  const auto value = [=, &ui, &option](const Rect& rect) {
    ui.text(words, rect, ui.theme().text, viz::FontStyle::regular, 1, viz::Align::center);
    ui.explain(rect, option.label, with_key(option.help));
  };
  return ui.joined({step(ui, option, -1), {wide + ui.u(12), value, true}, step(ui, option, 1)});
}

/// The label and the field of a list or a token, with steps around a token's.
Ui::Part typed(Ui& ui, const OptionSpec& option) {
  const auto field = [&ui, &option](const Rect& rect) {
    if (option_in_field(ui.state) == &option) {
      ui.field(Field::option, rect, to_text(option, option.default_value));
      if (!ui.state.option_problem.empty()) ui.complain(rect, "Expected " + ui.state.option_problem);
    } else if (ui.button(rect, to_text(option, ui.state.options.value(option)),
                         {.name = std::string(option.label) + " as text"})) {
      ui.actions.push_back(change(&UiState::last_in_field, &option));  // all share one field
      ui.widgets.field = Field::option;
      ui.widgets.leave_keyboard = true;
    }
  };
  std::vector<Ui::Part> parts{label(ui, option), {ui.u(150), field, true}};
  if (std::holds_alternative<TokenRef>(option.default_value)) {
    parts.insert(parts.begin() + 1, step(ui, option, -1));
    parts.push_back(step(ui, option, 1));
  }
  return ui.joined(std::move(parts), 3);
}

Ui::Part slider(Ui& ui, const OptionSpec& option) {
  const double value = std::get<double>(ui.state.options.value(option));
  const double default_value = std::get<double>(option.default_value);
  const bool named = !option.default_name.empty(), special = named && value == default_value;
  const std::string name(option.label), by_default(option.default_name);
  const int decimals = option.step >= 1 && value == std::round(value) ? 0 : 2;
  Ui::Part words = ui.label(special ? name : name + " " + viz::fixed_number(value, decimals),
                            with_key(option.help, option.keys), option.label);
  const double longest = std::max(1.0, option.high);
  words.width = ui.width(name + " " + viz::fixed_number(longest, option.step >= 1 ? 0 : 2));
  std::vector<Ui::Part> parts{std::move(words)};
  if (named)
    parts.push_back(ui.button(capitalized(by_default), {.on = special, .name = name + " " + by_default},
                              SetOption{&option, default_value}));
  if (option.plays) {
    const bool plays = ui.state.playing == &option;
    parts.push_back(ui.sign(plays ? "■" : "▶", plays ? "Stop" : "Play",
                            plays ? "Stop" : "Play the stages once", PlayOption{&option}));
  }
  const auto track = [=, &ui, &option](const Rect& rect) {
    const auto moved = ui.slider(rect, name, value, {option.low, option.high, option.step, default_value},
                                 with_key(option.help, option.keys) + "; double click: " +
                                     (named ? by_default : viz::number(default_value, 3)));
    if (moved) ui.actions.emplace_back(SetOption{&option, *moved});
  };
  parts.push_back({ui.u(140), track, true});
  return ui.joined(std::move(parts), 6);
}

/// `room`: width of a row.
Ui::Part choices(Ui& ui, const OptionSpec& option, float room) {
  std::vector<MenuItem> segments;
  for (int i = 0; const Choice& choice : option.choices)
    segments.push_back({.label = std::string(choice.label),
                        .actions = {SetOption{&option, i++}},
                        .tip = with_key(choice.help, option.keys)});
  const bool list = option.control == Control::list || segments.size() > kMaxSegments;
  Ui::Part name = label(ui, option);
  const float gap = ui.u(8);
  Ui::Part buttons = ui.choice(std::string(option.label), std::move(segments),
                               std::get<int>(ui.state.options.value(option)), room, list);
  if (name.width + gap + buttons.width > room) return buttons;
  return ui.joined({std::move(name), std::move(buttons)}, 8);
}

Ui::Part control(Ui& ui, const OptionSpec& option, float room) {
  if (const bool* on = std::get_if<bool>(&ui.state.options.value(option)))
    return ui.button(std::string(option.label), {.on = *on, .tip = with_key(option.help, option.keys)},
                     SetOption{&option, !*on});
  if (!option.choices.empty()) return choices(ui, option, room);
  if (std::holds_alternative<double>(option.default_value) && option.steps.empty()) return slider(ui, option);
  return takes_text(option) ? typed(ui, option) : stepper(ui, option);
}

Ui::Part control(Ui& ui, const View& view, const KeyCommand& command) {
  return {
      ui.button_width(command.label), [&](const Rect& rect) {
        const ViewContext context = ui.context(&view, rect.w, rect.h);
        const ViewActions actions = context.run ? command.act(context, 0) : ViewActions();
        // Without anything to do it keeps its room, so that nothing moves.
        if (!actions.empty() && ui.button(rect, command.label, {.tip = with_key(command.help, command.keys)}))
          ui.actions.emplace_back(DoAll{actions, false, context.side});
      }};
}

}  // namespace

std::vector<Ui::Part> controls(Ui& ui, const View& view, float room) {
  const bool all = ui.state.all_controls;
  std::vector<Ui::Part> first, advanced, commands;
  bool some_advanced = false;
  for (const OptionSpec* option : options_shown_with(view)) {
    if (option->control == Control::none || !has_effect(view, *option, ui.state, ui.snapshot)) continue;
    some_advanced = some_advanced || option->advanced;
    if (option->advanced && !all && ui.state.options.value(*option) == option->default_value) continue;
    std::vector<Ui::Part>& parts = option->advanced ? advanced : first;
    parts.push_back(control(ui, *option, room));
    parts.back().area = option->name;
  }
  if (some_advanced)
    first.push_back(ui.button(all ? "Fewer options" : "More options",
                              {.tip = all ? "Hide the advanced options of all panes"
                                          : "Show all options of all panes, and the start token"},
                              change(&UiState::all_controls, !all)));
  std::ranges::move(advanced, std::back_inserter(first));
  for (const KeyCommand& command : view.commands)
    if (!command.label.empty()) commands.push_back(control(ui, view, command));
  if (!commands.empty()) first.push_back(ui.joined(std::move(commands), 6));
  return first;
}

}  // namespace headscope::app
