#include "app/window_picture.h"

#include <algorithm>
#include <cmath>

#include "app/panels/panels.h"

namespace headscope::app {

using viz::Point;
using viz::Rect;

const viz::Theme& theme_of(const UiState& state) {
  static const viz::Theme light = viz::light_theme();
  static const viz::Theme dark = viz::dark_theme();
  return state.dark ? dark : light;
}

ViewContext make_context(const UiState& state, const Snapshot& snapshot, const viz::Theme& theme,
                         const viz::Fonts& fonts, float width, float height, float device_scale) {
  ViewContext context;
  context.run = snapshot.run.get();
  context.head = snapshot.head.get();
  context.thumbnails = snapshot.thumbnails.get();
  context.statistics = snapshot.statistics.get();
  context.next = snapshot.next.get();
  context.selection = state.selection;
  context.options = state.options;
  if (snapshot.run) {
    context.selection = clamped(state.selection, *snapshot.run);
    context.options.zoom = inside(state.options.zoom, snapshot.run->run->length());
  }
  if (snapshot.model) {
    const model::Config& config = snapshot.model->transformer->config();
    context.options.encoding_zoom = inside(state.options.encoding_zoom, config.n_embd, config.n_ctx);
  }
  context.theme = &theme;
  context.fonts = &fonts;
  context.width = std::max(1.0F, width);
  context.height = std::max(1.0F, height);
  context.font_size = state.font_size;
  context.device_scale = device_scale;
  context.in_pane = true;
  return context;
}

std::shared_ptr<const Picture> PictureCache::get(const View& view, const ViewContext& context,
                                                 const Snapshot& snapshot) {
  Entry entry;
  entry.run = snapshot.run;
  if (view.needs.head) entry.head = snapshot.head;
  if (view.needs.thumbnails) entry.thumbnails = snapshot.thumbnails;
  if (view.needs.statistics) entry.statistics = snapshot.statistics;
  if (view.needs.next) entry.next = snapshot.next;
  entry.selection = context.selection;
  entry.options = context.options;
  entry.dark = context.theme->dark;
  entry.width = context.width;
  entry.height = context.height;
  entry.font_size = context.font_size;
  entry.device_scale = context.device_scale;
  Slot& slot = slots_[view.id];
  if (!slot.picture || slot.entry != entry) {
    slot.picture = std::make_shared<Picture>(view.build(context));
    slot.entry = std::move(entry);
    ++built_;
  }
  return slot.picture;
}

namespace {

/// Widths of the panes beside each other: those the user set, within what the window has.
struct Columns {
  float heads = 0;
  float next = 0;
};

Columns columns(const PanelContext& p, float width, float height) {
  const PaneSizes& set = p.state.panes;
  const float least = p.u(200);
  const float least_view = std::max(p.u(320), width * 0.3F);
  Columns c;
  c.heads =
      set.heads > 0 ? set.heads : std::clamp(std::min(width * 0.27F, height * 0.8F), p.u(232), p.u(520));
  c.next = set.next > 0 ? set.next : std::clamp(width * 0.2F, p.u(216), p.u(400));
  c.heads = std::clamp(c.heads, least, std::max(least, width - least_view - least));
  c.next = std::clamp(c.next, least, std::max(least, width - least_view - c.heads));
  return c;
}

void draw_splitter(PanelContext& p, float x, float gap, const Rect& body, DragKind kind, float size) {
  const Rect reach{x, body.y, gap, body.h};
  const bool held = p.state.drag && p.state.drag->kind == kind;
  if (held || p.canvas.hot(reach)) {
    const float w = p.u(3);
    p.canvas.fill({reach.center().x - w / 2, reach.y + p.u(8), w, reach.h - p.u(16)}, p.theme().accent,
                  w / 2);
  }
  Drag drag;
  drag.kind = kind;
  drag.size = size;
  p.canvas.target({reach, {}, drag, {}, Cursor::resize_x});
}

void draw_body(PanelContext& p, const Rect& body) {
  const float gap = p.u(10);
  const Columns c = columns(p, body.w - 2 * gap, body.h);
  const Rect heads{body.x, body.y, c.heads, body.h};
  const Rect next{body.right() - c.next, body.y, c.next, body.h};
  const Rect view{heads.right() + gap, body.y, next.x - heads.right() - 2 * gap, body.h};
  draw_heads(p, heads);
  draw_view(p, view);
  draw_next(p, next);
  draw_splitter(p, heads.right(), gap, body, DragKind::heads_splitter, heads.w);
  draw_splitter(p, view.right(), gap, body, DragKind::next_splitter, next.w);
}

Cursor cursor_at(const WindowPicture& window, const UiState& state, const std::optional<Point>& pointer) {
  if (state.drag) {
    switch (state.drag->kind) {
      case DragKind::text:
        return Cursor::text;
      case DragKind::pan:
      case DragKind::encoding_pan:
        return Cursor::move;
      case DragKind::temperature:
        return Cursor::hand;
      case DragKind::heads_splitter:
      case DragKind::next_splitter:
        return Cursor::resize_x;
    }
  }
  if (!pointer) return Cursor::arrow;
  for (auto target = window.targets.rbegin(); target != window.targets.rend(); ++target)
    if (target->rect.contains(*pointer)) return target->cursor;
  return Cursor::arrow;
}

}  // namespace

WindowPicture draw_window(const UiState& state, const Snapshot& snapshot, const WindowFrame& frame,
                          FieldMetrics& metrics, PictureCache& cache,
                          const std::shared_ptr<const viz::Fonts>& fonts) {
  WindowPicture out;
  const bool covered = state.dialog != Dialog::none;
  const std::optional<Point> pointer = state.drag ? std::nullopt : frame.pointer;
  Canvas canvas(theme_of(state), *fonts, state.font_size, covered ? std::nullopt : pointer);
  PanelContext p{canvas, state, snapshot, frame, metrics, cache, fonts, out, {}, {}};

  const Rect window{0, 0, frame.width, frame.height};
  canvas.scene().width = frame.width;
  canvas.scene().height = frame.height;
  const float margin = p.u(12);
  const float inner = frame.width - 2 * margin;
  float y = p.u(8);
  draw_top_bar(p, {margin, y, inner, p.u(32)});
  y += p.u(32) + p.u(8);
  y += draw_prompt(p, {margin, y, inner, frame.height * 0.4F}) + p.u(10);
  const float status = p.u(30);
  const Rect body{margin, y, inner, std::max(p.u(120), frame.height - status - y)};
  draw_body(p, body);
  const Rect status_bar{margin, frame.height - status, inner, status};
  const std::string hovered = draw_hover(p, window);
  if (hovered.empty()) {
    draw_status(p, status_bar);
  } else {
    canvas.text_in(hovered, status_bar, p.theme().text, viz::FontStyle::regular, 0.93F);
  }
  draw_message(p, window);
  if (covered) {
    canvas.set_pointer(pointer);
    draw_dialog(p, window);
  }
  out.scene = std::move(canvas.scene());
  out.targets = std::move(canvas.targets());
  out.cursor = cursor_at(out, state, frame.pointer);
  return out;
}

}  // namespace headscope::app
