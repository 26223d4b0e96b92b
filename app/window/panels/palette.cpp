// The command palette.
#include <algorithm>
#include <string>

#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

void draw_palette(Ui& ui) {
  const auto body = ui.begin_dialog(Dialog::palette, "Find a command, a view, a head…", 620, 560);
  if (!body) return;
  const PaletteForm& form = ui.state.palette;
  const std::string& letters = form.search.edit.text;
  const float field = ui.u(34), row = ui.u(30);
  ui.field(Field::palette, {body->x, body->y, body->w, field}, "a few letters, e.g. lens, 5.5 or dark");
  const Rect frame{body->x, body->y + field + ui.u(10), body->w, body->h - field - ui.u(10)};
  const auto& matches = found_entries(ui.widgets, ui.state, ui.snapshot, ui.out.pictures);
  ui.begin_list("entries", frame);
  ui.scroll_once("entry " + std::to_string(form.chosen) + " " + letters,
                 std::max(0.F, row * static_cast<float>(form.chosen) - (frame.h - row) / 2));
  for (int i = 0; const PaletteEntry& entry : matches)
    if (ui.row({.label = entry.label,
                .right = entry.keys.empty() ? entry.kind : entry.kind + "   " + entry.keys,
                .marked = i++ == form.chosen}))
      perform(entry, ui.actions, ui.widgets.open);
  ui.end_list();
  ui.end_dialog();
}

}  // namespace headscope::app
