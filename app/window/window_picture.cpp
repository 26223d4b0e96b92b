#include "app/window/window_picture.h"

#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Point;
using viz::Rect;

const viz::Theme& theme_of(const UiState& state) {
  static const viz::Theme light = viz::light_theme();
  static const viz::Theme dark = viz::dark_theme();
  return state.dark ? dark : light;
}

ViewContext make_context(const UiState& state, const Snapshot& snapshot, Answers& answers,
                         const viz::Fonts& fonts, float width, float height, float device_scale) {
  ViewContext context;
  context.run = snapshot.run;
  context.answers = &answers;
  context.selection = snapshot.run ? clamped(state.selection, *snapshot.run) : state.selection;
  context.chosen_query = state.selection.query;
  context.options = state.options;
  context.theme = &theme_of(state);
  context.fonts = &fonts;
  context.width = std::max(1.0F, width);
  context.height = std::max(1.0F, height);
  context.font_size = state.font_size;
  context.device_scale = device_scale;
  context.in_pane = true;
  return context;
}

namespace {

using Said = std::pair<Question, std::shared_ptr<const Answer>>;

/// Asks another and remembers what it said.
class RecordedAnswers final : public Answers {
 public:
  explicit RecordedAnswers(SnapshotAnswers& asked) : asked_(asked) {}

  std::shared_ptr<const Answer> ask(const Question& question) override {
    for (const auto& [known, answer] : said_)
      if (known == question) return answer;
    said_.emplace_back(question, asked_.ask(question));
    return said_.back().second;
  }
  std::vector<Said> said() && { return std::move(said_); }

 private:
  SnapshotAnswers& asked_;
  std::vector<Said> said_;
};

/// What a former picture was told; of its run, and no other, more can be asked.
class FormerAnswers final : public Answers {
 public:
  FormerAnswers(std::vector<Said> said, std::shared_ptr<SnapshotAnswers> more)
      : said_(std::move(said)), more_(std::move(more)) {}

  std::shared_ptr<const Answer> ask(const Question& question) override {
    for (const auto& [known, answer] : said_)
      if (known == question) return answer;
    return more_ ? more_->ask(question) : nullptr;
  }

 private:
  std::vector<Said> said_;
  std::shared_ptr<SnapshotAnswers> more_;  // null: of another run
};

/// Whether another says the same of all that was asked. Each is asked again: what is shown is wanted.
bool says_the_same(const std::vector<Said>& said, SnapshotAnswers& now) {
  bool all = true;
  for (const auto& [question, answer] : said) all = now.ask(question) == answer && all;
  return all;
}
bool complete(const std::vector<Said>& said) {
  return std::all_of(said.begin(), said.end(), [](const Said& s) { return s.second != nullptr; });
}
bool waits_for_a_quick_one(const std::vector<Said>& said) {
  return std::any_of(said.begin(), said.end(),
                     [](const Said& s) { return s.second == nullptr && s.first.quick(); });
}

/// Whether two contexts make the same picture of a view, as far as answers do not matter.
bool looks_same(const View& view, const ViewContext& a, const ViewContext& b) {
  const bool options = std::all_of(view.options.begin(), view.options.end(), [&](const OptionSpec* option) {
    return a.options.value(*option) == b.options.value(*option);
  });
  return options && a.run == b.run && a.selection == b.selection && a.chosen_query == b.chosen_query &&
         a.theme->dark == b.theme->dark && a.width == b.width && a.height == b.height &&
         a.font_size == b.font_size && a.device_scale == b.device_scale;
}

}  // namespace

struct PictureCache::Slot {
  ViewContext context;
  std::vector<Said> said;
  std::shared_ptr<const Picture> picture;
};

ShownPicture PictureCache::get(const View& view, const ViewContext& wanted,
                               const std::shared_ptr<SnapshotAnswers>& answers) {
  shown_.insert(view.id);
  std::shared_ptr<const Slot>& slot = slots_[view.id];
  if (slot && looks_same(view, slot->context, wanted) && says_the_same(slot->said, *answers))
    return {slot->picture, wanted, answers, waits_for_a_quick_one(slot->said)};
  RecordedAnswers recorded(*answers);
  ViewContext context = wanted;
  context.answers = &recorded;
  auto picture = std::make_shared<const Picture>(view.build(context));
  ++built_;
  std::vector<Said> said = std::move(recorded).said();
  context.answers = nullptr;  // whoever shows the slot brings them
  const bool waits = waits_for_a_quick_one(said);
  if (!complete(said) && slot && complete(slot->said) && slot->context.run) {
    auto former =
        std::make_shared<FormerAnswers>(slot->said, slot->context.run == wanted.run ? answers : nullptr);
    ShownPicture shown{slot->picture, slot->context, former, waits};
    shown.context.answers = former.get();
    return shown;
  }
  slot = std::make_shared<const Slot>(Slot{std::move(context), std::move(said), picture});
  return {picture, wanted, answers, waits};
}

void PictureCache::forget_others() {
  std::erase_if(slots_, [&](const auto& slot) { return !shown_.contains(slot.first); });
  shown_.clear();
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
      case DragKind::picture:
        return state.drag->moved ? Cursor::move : Cursor::hand;
      case DragKind::slider:
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

WindowPicture draw_window(const UiState& state, const std::shared_ptr<const Snapshot>& snapshot,
                          const WindowFrame& frame, FieldMetrics& metrics, PictureCache& cache,
                          const std::shared_ptr<const viz::Fonts>& fonts) {
  WindowPicture out;
  const bool covered = state.dialog != Dialog::none;
  const std::optional<Point> pointer = state.drag ? std::nullopt : frame.pointer;
  Canvas canvas(theme_of(state), *fonts, state.font_size, covered ? std::nullopt : pointer);
  const auto answers = std::make_shared<SnapshotAnswers>(snapshot);
  PanelContext p{canvas, state, *snapshot, answers, frame, metrics, cache, fonts, out, {}, {}};

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
  cache.forget_others();
  out.asked = answers->asked();
  out.scene = std::move(canvas.scene());
  out.targets = std::move(canvas.targets());
  out.cursor = cursor_at(out, state, frame.pointer);
  return out;
}

}  // namespace headscope::app
