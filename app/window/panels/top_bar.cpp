#include <array>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Color;
using viz::Rect;

namespace {

/// The mark: a causal pattern of three tokens.
float draw_mark(PanelContext& p, const Rect& rect) {
  const float cell = p.u(6);
  const float gap = p.u(1.5F);
  const std::array<std::array<Color, 3>, 3> cells = {{{p.theme().query, {}, {}},
                                                      {p.theme().key, p.theme().query, {}},
                                                      {p.theme().value, p.theme().key, p.theme().query}}};
  const float y = rect.center().y - (3 * cell + 2 * gap) / 2;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j)
      p.canvas.fill({rect.x + static_cast<float>(j) * (cell + gap), y + static_cast<float>(i) * (cell + gap),
                     cell, cell},
                    cells[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], p.u(1.5F));
  const float x = rect.x + 3 * cell + 2 * gap + p.u(10);
  p.canvas.text("headscope", {x, rect.center().y}, p.theme().text, viz::FontStyle::bold, 1.12F);
  return x + p.canvas.width("headscope", viz::FontStyle::bold, 1.12F);
}

}  // namespace

void draw_top_bar(PanelContext& p, const Rect& rect) {
  Canvas& canvas = p.canvas;
  const UiState& s = p.state;
  float left = draw_mark(p, rect) + p.u(18);
  const float gap = p.u(8);
  const auto place_left = [&](std::string_view label, Action action, const Canvas::ButtonStyle& style) {
    const float w = canvas.button_width(label, style.menu);
    canvas.button({left, rect.y, w, rect.h}, label, std::move(action), style);
    left += w + gap;
    return Rect{left - gap - w, rect.y, w, rect.h};
  };
  float right = rect.right();
  const auto place_right = [&](std::string_view label, Action action, const Canvas::ButtonStyle& style) {
    const float w = canvas.button_width(label, style.menu);
    right -= w;
    canvas.button({right, rect.y, w, rect.h}, label, std::move(action), style);
    right -= gap;
    return Rect{right + gap, rect.y, w, rect.h};
  };
  using Look = Canvas::Look;
  const bool roomy = rect.w > p.u(1200);

  p.examples_button =
      place_left("Examples", ShowDialog{s.dialog == Dialog::examples ? Dialog::none : Dialog::examples},
                 {.on = s.dialog == Dialog::examples, .menu = true, .tip = "Prompts worth looking at"});
  place_left(
      roomy ? "Start token first" : "Start token", SetStartToken{!s.start_token},
      {.on = s.start_token, .tip = "Put <|endoftext|> before the prompt, as every training text began"});

  place_right("Export", ShowDialog{Dialog::export_},
              {.look = Look::primary, .tip = "Save the picture or its numbers  Ctrl+E"});
  place_right("?", ShowDialog{Dialog::help}, {.look = Look::plain, .tip = "Keys  F1"});
  place_right(s.dark ? "Light" : "Dark", SetDark{!s.dark},
              {.look = Look::plain, .tip = "Light or dark  Ctrl+T"});
  place_right("A+", SetFontSize{s.font_size + 1}, {.look = Look::plain, .tip = "Larger text  Ctrl+="});
  place_right("A−", SetFontSize{s.font_size - 1}, {.look = Look::plain, .tip = "Smaller text  Ctrl+−"});
  const std::string name = p.snapshot.model ? p.snapshot.model->name : "no model";
  p.models_button =
      place_right(name, ShowDialog{s.dialog == Dialog::models ? Dialog::none : Dialog::models},
                  {.on = s.dialog == Dialog::models, .menu = true, .tip = "Open another GPT-2  Ctrl+O"});
}

}  // namespace headscope::app
