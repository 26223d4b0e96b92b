// The map of the forward pass above a pane's views: its stages are the groups of views, with a cell for each
// layer. It shows where the pane's view belongs, and a click goes elsewhere.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "app/views/parts/names.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// Widths of the map's parts.
struct Sizes {
  float pad = 0;    ///< on either side of a stage's name
  float arrow = 0;  ///< between two stages
  float gap = 0;    ///< before the model, which is no stage
  float cells = 0;  ///< of all layers' cells together; 0: nothing has run
};

int layer_count(const Ui& ui) {
  return ui.snapshot.run ? ui.snapshot.run->run->config.n_layer : 0;
}

Sizes sizes_of(const Ui& ui, bool narrow) {
  const int layers = layer_count(ui);
  Sizes s{ui.u(narrow ? 5 : 8), ui.u(narrow ? 10 : 16), ui.u(narrow ? 8 : 16), 0};
  if (layers > 0)
    s.cells = std::min(static_cast<float>(layers) * ui.u(narrow ? 5 : 7), ui.u(narrow ? 48 : 84));
  return s;
}

float name_width(const Ui& ui, Group group) {
  return std::ceil(ui.width(spec_of(group).title, viz::FontStyle::medium));
}

/// The first view of a group.
const View& first_of(Group group) {
  return **std::ranges::find(tabs(), group, &View::group);
}

class Painter {
 public:
  Painter(Ui& ui, const Rect& rect, const View& shown, bool narrow)
      : ui_(ui), sizes_(sizes_of(ui, narrow)), shown_(shown), x_(rect.x), rect_(rect) {}

  const View* paint() {
    stage(Group::input);
    arrow();
    const float begin = x_;
    if (sizes_.cells > 0) layers();
    stage(Group::attention);
    stage(Group::block);
    ui_.stroke({begin, rect_.y, x_ - begin, rect_.h}, ui_.theme().field_line, 1, ui_.u(6));
    arrow();
    stage(Group::output);
    x_ += sizes_.gap;
    stage(Group::model);
    return pressed_;
  }

 private:
  void stage(Group group) {
    const std::string label(spec_of(group).title);
    const bool on = group == shown_.group;
    const Rect place{x_, rect_.y, name_width(ui_, group) + 2 * sizes_.pad, rect_.h};
    const bool pressed = ui_.button(place.inset(ui_.u(2)), "",
                                    {.look = Ui::Look::plain,
                                     .on = on,
                                     .tip = std::string(spec_of(group).help),
                                     .name = label + " views"});
    ui_.text(label, {place.x + sizes_.pad, place.y, place.w, place.h}, ui_.theme().text,
             viz::FontStyle::medium);
    if (pressed && !on) pressed_ = &first_of(group);
    x_ = place.right();
  }

  void arrow() {
    const float y = rect_.center().y, head = ui_.u(3), end = x_ + sizes_.arrow - ui_.u(2);
    const viz::Color ink = ui_.theme().text_muted;
    ui_.line({x_ + ui_.u(2), y}, {end - head, y}, ink);
    ui_.scene().add(
        viz::FillPolygon{{{end, y}, {end - 1.6F * head, y - head}, {end - 1.6F * head, y + head}}, ink});
    x_ += sizes_.arrow;
  }

  /// A cell for each layer, the selected one filled.
  void layers() {
    const int count = layer_count(ui_), layer = std::min(ui_.state.selection.layer, count - 1);
    const float pitch = sizes_.cells / static_cast<float>(count), gap = pitch > ui_.u(3) ? ui_.u(1.5F) : 0;
    const Rect place{x_ + ui_.u(6), rect_.y, sizes_.cells, rect_.h};
    const auto chosen = ui_.cell_row(
        place, "Layer", count, layer,
        "L" + std::to_string(layer) + " of " + counted(count, "layer") + ": click or ← → to select");
    for (int i = 0; i < count; ++i) {
      const Rect cell{place.x + pitch * static_cast<float>(i), place.center().y - ui_.u(6),
                      std::max(1.F, pitch - gap), ui_.u(12)};
      ui_.fill(cell,
               i == layer ? ui_.theme().accent : mix(ui_.theme().surface, ui_.theme().text_muted, 0.35F),
               std::min(cell.w / 3, ui_.u(1.5F)));
    }
    if (chosen) ui_.actions.emplace_back(DoAll{{SelectHead{*chosen, ui_.state.selection.head}}});
    x_ = place.right();
  }

  Ui& ui_;
  Sizes sizes_;
  const View& shown_;
  float x_;
  Rect rect_;
  const View* pressed_ = nullptr;
};

float width_of(const Ui& ui, bool narrow) {
  const Sizes s = sizes_of(ui, narrow);
  float width = 2 * s.arrow + s.gap + (s.cells > 0 ? s.cells + ui.u(6) : 0);
  for (const GroupSpec& spec : kGroups) width += name_width(ui, spec.group) + 2 * s.pad;
  return width;
}

}  // namespace

float pass_map_width(const Ui& ui, float room) {
  for (const bool narrow : {false, true})
    if (const float width = width_of(ui, narrow); width <= room) return width;
  return 0;
}

const View* draw_pass_map(Ui& ui, const Rect& rect, const View& shown) {
  return Painter(ui, rect, shown, width_of(ui, false) > rect.w).paint();
}

}  // namespace headscope::app
