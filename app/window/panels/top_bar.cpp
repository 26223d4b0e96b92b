#include <array>
#include <utility>

#include "app/ascii.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// The logo, a causal pattern of three tokens, and the name.
Ui::Part logo(Ui& ui) {
  constexpr auto kBold = viz::FontStyle::bold;
  const float cell = ui.u(6), pitch = ui.u(7.5F), icon = 3 * pitch + ui.u(8);
  return {icon + ui.width("headscope", kBold, 1.12F) + ui.u(10), [=, &ui](const Rect& rect) {
            const viz::Theme& theme = ui.theme();
            const std::array diagonals{theme.query, theme.key, theme.value};
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j <= i; ++j)
                ui.fill({rect.x + static_cast<float>(j) * pitch,
                         rect.center().y + (static_cast<float>(i) - 1.5F) * pitch, cell, cell},
                        diagonals[i - j], ui.u(1.5F));
            ui.text("headscope", {rect.x + icon, rect.y, rect.w - icon, rect.h}, theme.text, kBold, 1.12F);
          }};
}

/// The button of a command that undoes or goes back.
Ui::Part step(Ui& ui, const char* sign, std::string_view label) {
  const Command& step = command(label);
  const auto action = step.act(ui.state);
  const std::string words = step.object && action ? label_of(step, ui.state) : capitalized(step.help);
  return ui.sign(sign, std::string(step.label), with_keys(words, step), action.value_or(ShowMessage{}),
                 action ? "" : std::string(step.unavailable));
}

}  // namespace

void draw_top_bar(Ui& ui, const Rect& rect) {
  const UiState& s = ui.state;
  const std::string name = ui.snapshot.model ? ui.snapshot.model->name : "no model";
  Ui::Part model = ui.menu_button(
      name, Menu::models,
      {.menu = true, .tip = with_keys("Open another model", command("Models")), .name = "Model"});
  model.width = std::min(model.width, ui.u(240));
  Ui::Part more = ui.menu_button("⋯", Menu::more, {.tip = "More  F10", .name = "More"});
  std::vector<Ui::Part> line{
      logo(ui),
      ui.menu_button("Examples", Menu::examples,
                     {.menu = true, .tip = with_keys("Prompts worth exploring", command("Example prompts"))}),
      step(ui, "↶", "Undo"),
      step(ui, "↷", "Redo"),
      step(ui, "←", "Back"),
      step(ui, "→", "Forward"),
      prompt_notice(ui),
      std::move(model),
      ui.button(
          "Export",
          {.look = Ui::Look::primary, .tip = with_keys("Export a picture or its data", command("Export…"))},
          ShowDialog{Dialog::export_}),
      std::move(more)};
  if (s.all_controls || s.start_token)
    line.insert(
        line.begin() + 2,
        ui.button("Start token",
                  {.on = s.start_token,
                   .tip = with_keys("Put <|endoftext|> before the prompt, as before every training text",
                                    command("Start token"))},
                  SetStartToken{!s.start_token}));
  ui.place(rect, line);
  ui.open_in_place_of(Menu::second_model, Menu::models);
}

}  // namespace headscope::app
