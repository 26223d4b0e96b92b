// Sessions: saving one, and those that were lately.
#include <filesystem>

#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

void draw_save(Ui& ui) {
  const auto body = ui.begin_dialog(Dialog::save, "Save the session", 640, 250);
  if (!body) return;
  const SaveForm& form = ui.state.save_form;
  const float row = ui.u(32);
  float y = body->y;
  y += ui.paragraph(
           "Everything that is on the screen, to go on with it later: the prompt, the model's name, the "
           "views with their options, what is changed and what is compared.",
           {body->x, y, body->w, 0}, ui.theme().text_muted, 0.93F) +
       ui.u(10);
  ui.field(Field::session_path, {body->x, y, body->w, ui.u(30)}, "path of the file");
  const Rect note{body->x, y + ui.u(38), body->w, body->bottom() - row - ui.u(44) - y};
  if (!form.problem.empty()) {
    ui.paragraph(form.problem, note, ui.theme().error, 0.93F);
  } else if (form.asked) {
    ui.paragraph("There is a file of that name. Replace it?", note, ui.theme().text);
  }
  const std::string label = form.asked ? "Replace" : "Save";
  const float wide = ui.button_width(label) + ui.u(24);
  if (ui.button({body->right() - wide, body->bottom() - row, wide, row}, label,
                {.look = Ui::Look::primary,
                 .enabled = !form.path.edit.text.empty(),
                 .tip = form.asked ? "Write over the file that is there" : "Write the file  Enter",
                 .name = "Save session"}))
    ui.actions.emplace_back(SaveSession{form.path.edit.text, form.asked});
  draw_text_menu(ui);
  ui.end_dialog();
}

void draw_sessions(Ui& ui) {
  const auto& recent = ui.state.recent_sessions;
  const float row = ui.u(46), small = ui.u(34), width = std::min(ui.u(540), ui.seen.frame.width - ui.u(40));
  const bool left = !ui.state.left_off.empty();
  const float height = row * static_cast<float>(recent.size() + (left ? 1 : 0)) + 2 * small;
  const viz::Point at = ui.below_button(Menu::more, true, width);
  const auto rect = ui.begin_menu(Menu::sessions, at, width, height);
  if (!rect) return;
  Rect line{rect->x, rect->y, rect->w, row};
  const auto next = [&](const Ui::Row& what, float high) {
    line.h = high;
    const bool pressed = ui.row(line, what);
    line.y += high;
    return pressed;
  };
  for (const std::filesystem::path& file : recent)
    if (next({.label = file.stem().string(),
              .more = file.parent_path().string(),
              .marked = file == ui.state.session},
             row))
      ui.actions.emplace_back(OpenFile{file});
  if (left && next({.label = "Where you left off", .more = "as the window was when it was closed last"}, row))
    ui.actions.emplace_back(OpenFile{ui.state.left_off});
  const Command &save = command(CommandId::save_session_as), &open = command(CommandId::open);
  if (next({.label = std::string(save.label), .right = keys_of(save)}, small))
    ui.actions.push_back(*save.act(ui.state));
  if (next({.label = "Open a session or a figure…", .right = keys_of(open)}, small))
    ui.actions.push_back(*open.act(ui.state));
  ui.end_menu();
}

}  // namespace headscope::app
