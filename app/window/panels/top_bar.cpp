#include <array>
#include <utility>

#include "app/ascii.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Color;
using viz::Rect;

namespace {

/// The logo: a causal pattern of three tokens.
float draw_mark(Ui& ui, const Rect& rect) {
  const float cell = ui.u(6), gap = ui.u(1.5F);
  const viz::Theme& theme = ui.theme();
  const std::array<Color, 3> diagonals{theme.query, theme.key, theme.value};
  const float y = rect.center().y - (3 * cell + 2 * gap) / 2;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j)
      ui.fill({rect.x + static_cast<float>(j) * (cell + gap), y + static_cast<float>(i) * (cell + gap), cell,
               cell},
              diagonals[i - j], ui.u(1.5F));
  }
  const float x = rect.x + 3 * cell + 2 * gap + ui.u(10);
  const float wide = ui.width("headscope", viz::FontStyle::bold, 1.12F);
  ui.text("headscope", {x, rect.y, wide + 1, rect.h}, theme.text, viz::FontStyle::bold, 1.12F);
  return x + wide;
}

}  // namespace

void draw_top_bar(Ui& ui, const Rect& rect, bool with_notice) {
  const UiState& s = ui.state;
  const float gap = ui.u(8), mark = draw_mark(ui, rect) + ui.u(18);
  RowLayout line({mark, rect.y, rect.right() - mark, rect.h}, gap);
  ui.menu_button(line.left(ui.button_width("Examples", true, Icon::examples)), "Examples", Menu::examples,
                 {.icon = Icon::examples,
                  .menu = true,
                  .tip = Tip("Prompts worth exploring", command(CommandId::examples))});
  if (ui.button(line.left(ui.button_width("Start token")), "Start token",
                {.on = s.start_token,
                 .tip = Tip("Put <|endoftext|> before the prompt, as before every training text",
                            command(CommandId::start_token))}))
    ui.actions.emplace_back(SetStartToken{!s.start_token});

  for (const auto& [icon, id] : {std::pair{Icon::undo, CommandId::undo},
                                 {Icon::redo, CommandId::redo},
                                 {Icon::back, CommandId::back},
                                 {Icon::forward, CommandId::forward}}) {
    const Command& step = command(id);
    const auto action = step.act(s);
    const std::string words = step.object && action ? label_of(step, s) : capitalized(step.help);
    if (ui.icon(line.left(rect.h), icon, std::string(step.label), Tip(words + "  " + keys_of(step)),
                action ? "" : std::string(step.unavailable)))
      ui.actions.push_back(*action);
    line.skip(id == CommandId::redo ? gap / 2 : -gap / 2);
  }

  // Placed from the right, but submitted in the order of Tab; what remains between is the notice's.
  float right = rect.right();
  const auto at_right = [&](float w) {
    right -= w + gap;
    return Rect{right + gap, rect.y, w, rect.h};
  };
  const Rect more = at_right(ui.u(36)), save = at_right(ui.button_width("Export", false, Icon::export_));
  const std::string name = ui.snapshot.model ? ui.snapshot.model->name : "no model";
  const float room = std::max(ui.u(60), right - line.rest().x - gap);
  const Rect model = at_right(std::min(ui.button_width(name, true, Icon::model), room));
  line.skip(ui.u(4));
  if (with_notice) draw_prompt_notice(ui, {line.rest().x, rect.y, right - line.rest().x, rect.h});
  ui.menu_button(model, name, Menu::models,
                 {.icon = Icon::model,
                  .menu = true,
                  .tip = Tip("Open another model", command(CommandId::models)),
                  .name = "Model"});
  if (ui.button(save, "Export",
                {.look = Ui::Look::primary,
                 .icon = Icon::export_,
                 .tip = Tip("Export a picture or its data", command(CommandId::export_view))}))
    ui.actions.emplace_back(ShowDialog{Dialog::export_});
  ui.menu_button(more, "", Menu::more, {.icon = Icon::more, .tip = "More  F10", .name = "More"});
}

}  // namespace headscope::app
