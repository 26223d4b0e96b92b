#include <algorithm>
#include <string>
#include <variant>

#include "app/window/panels/panels.h"
#include "viz/scale.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// "  S, Shift+S": the keys of an option, for a tip; `up` of the two.
std::string key_of(const OptionSpec& option, bool up) {
  const std::size_t index = up ? 0 : 1;
  if (option.keys.size() <= index) return "";
  return "  " + key_name(option.keys[index]);
}

std::string with_capital(std::string_view words) {
  std::string text(words);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::vector<Canvas::Segment> segments(const PanelContext& p, const OptionSpec& option) {
  const int chosen = std::get<int>(p.state.options.value(option));
  std::vector<Canvas::Segment> result;
  for (std::size_t i = 0; i < option.choices.size(); ++i) {
    const int index = static_cast<int>(i);
    result.push_back({std::string(option.choices[i].label), SetOption{&option, index}, index == chosen,
                      std::string(option.choices[i].help) + key_of(option, true)});
  }
  return result;
}

bool is_choice(const OptionSpec& option) {
  return !option.choices.empty();
}
bool is_slider(const OptionSpec& option) {
  return std::holds_alternative<double>(option.usual) && option.steps.empty();
}

/// What stands between the − and the + of a number.
std::string stepper_words(const PanelContext& p, const OptionSpec& option) {
  return std::string(option.label) + " " + to_text(option, p.state.options.value(option));
}

/// So wide that nothing moves while the value is stepped through what it usually is.
float stepper_words_width(const PanelContext& p, const OptionSpec& option) {
  const bool whole = std::holds_alternative<int>(option.usual);
  return std::max(p.canvas.width(std::string(option.label) + (whole ? " 00" : " 0.001")),
                  p.canvas.width(stepper_words(p, option))) +
         p.u(4);
}

void draw_stepper(PanelContext& p, const OptionSpec& option, const Rect& rect) {
  const OptionValue& value = p.state.options.value(option);
  const auto button = [&](float x, const char* sign, int by) {
    p.canvas.button({x, rect.y, rect.h, rect.h}, sign, SetOption{&option, stepped(option, value, by)},
                    {.tip = with_capital(option.help) + key_of(option, by > 0)});
  };
  button(rect.x, "−", -1);
  const Rect middle{rect.x + rect.h, rect.y, rect.w - 2 * rect.h, rect.h};
  std::string words = stepper_words(p, option);
  if (p.canvas.width(words) > middle.w) words = to_text(option, value);  // the tips say what it is
  p.canvas.text_in(words, middle, p.theme().text, viz::FontStyle::regular, 1, viz::Align::center);
  button(rect.right() - rect.h, "+", 1);
}

void draw_slider(PanelContext& p, const OptionSpec& option, const Rect& rect) {
  const double value = std::get<double>(p.state.options.value(option));
  const std::string label(option.label);
  const float room = p.canvas.width(label + " 0.00") + p.u(14);
  p.canvas.text_in(label + " " + viz::number(value, 3), {rect.x, rect.y, room, rect.h}, p.theme().text_muted);
  Drag drag;
  drag.kind = DragKind::slider;
  drag.option = &option;
  drag.track = {rect.x + room, rect.y, rect.w - room - p.u(4), rect.h};
  p.canvas.slider(
      drag.track, (value - option.low) / (option.high - option.low), drag,
      with_capital(option.help) + "; double click: " + viz::number(std::get<double>(option.usual), 3));
}

}  // namespace

std::string key_name(char key) {
  if (key >= 'a' && key <= 'z') return std::string(1, static_cast<char>(key - 'a' + 'A'));
  if (key >= 'A' && key <= 'Z') return std::string("Shift+") + key;
  return key == '-' ? std::string("−") : std::string(1, key);
}

std::vector<const OptionSpec*> controls_of(const View& view) {
  std::vector<const OptionSpec*> controls;
  const auto always = view.place == Place::tab ? std::span(view_at(Place::left).options)
                                               : std::span<const OptionSpec* const>();
  for (const OptionSpec* option : view.options) {
    if (option->control == Control::automatic &&
        std::find(always.begin(), always.end(), option) == always.end())
      controls.push_back(option);
  }
  return controls;
}

float option_width(const PanelContext& p, const OptionSpec& option) {
  const float height = p.u(28);
  if (std::holds_alternative<bool>(option.usual)) return p.canvas.button_width(option.label);
  if (is_choice(option)) return p.canvas.segmented_width(segments(p, option));
  if (is_slider(option)) return p.u(280);
  if (std::holds_alternative<std::vector<int>>(option.usual))
    return p.canvas.width(option.label) + p.u(8) + p.u(150);
  return 2 * height + stepper_words_width(p, option);
}

void draw_option(PanelContext& p, const OptionSpec& option, const Rect& rect) {
  const OptionValue& value = p.state.options.value(option);
  if (const bool* on = std::get_if<bool>(&value)) {
    p.canvas.button(rect, option.label, SetOption{&option, !*on},
                    {.on = *on, .tip = with_capital(option.help) + key_of(option, true)});
  } else if (is_choice(option)) {
    p.canvas.segmented(rect, segments(p, option));
  } else if (is_slider(option)) {
    draw_slider(p, option, rect);
  } else if (std::holds_alternative<std::vector<int>>(value)) {
    const float words = p.canvas.width(option.label) + p.u(8);
    p.canvas.text_in(option.label, {rect.x, rect.y, words, rect.h}, p.theme().text_muted);
    draw_field(p, Field::option, {rect.x + words, rect.y, rect.w - words, rect.h},
               std::string(option.usual_name));
  } else {
    draw_stepper(p, option, rect);
  }
}

}  // namespace headscope::app
