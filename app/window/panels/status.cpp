#include <cmath>
#include <cstdint>
#include <cstdio>

#include "app/run/finiteness.h"
#include "app/views/common.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// "124.4 M", "941 k".
std::string short_count(std::int64_t count) {
  char text[32];
  if (count >= 1'000'000'000) {
    std::snprintf(text, sizeof text, "%.2f G", static_cast<double>(count) / 1e9);
  } else if (count >= 1'000'000) {
    std::snprintf(text, sizeof text, "%.1f M", static_cast<double>(count) / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.0f k", static_cast<double>(count) / 1e3);
  }
  return text;
}

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 10 ? "%.1f ms" : "%.0f ms", ms);
  return text;
}

/// "memory 19 of 340 MB": former prompts and answers that are kept, and how much they may take.
std::string cache_size(const Snapshot& snapshot) {
  const auto megabytes = [](std::size_t bytes) { return std::to_string((bytes + 500'000) / 1'000'000); };
  return "memory " + megabytes(snapshot.memo_bytes) + " of " + megabytes(snapshot.memo_budget) + " MB";
}

bool stale(const UiState& state, const Snapshot& snapshot) {
  return snapshot.run && snapshot.run->prompt != prompt_of(state);
}

}  // namespace

void draw_status(PanelContext& p, const Rect& rect) {
  const Snapshot& snapshot = p.snapshot;
  const auto& theme = p.theme();
  std::string right;
  if (snapshot.run) {
    const int tokens = snapshot.run->tokens.run_length;
    right += std::to_string(tokens) + (tokens == 1 ? " token · " : " tokens · ");
    if (!p.frame.still) {
      right += milliseconds(snapshot.run->milliseconds) + " · " + cache_size(snapshot) + " · ";
    }
  }
  if (snapshot.model)
    right += snapshot.model->name + ", " + short_count(snapshot.model->transformer->parameter_count()) +
             " parameters";
  p.canvas.text_in(right, rect, theme.text_muted, viz::FontStyle::regular, 0.93F, viz::Align::right);

  float x = rect.x;
  const auto words = [&](std::string_view text, viz::Color color) {
    p.canvas.text(text, {x, rect.center().y}, color, viz::FontStyle::regular, 0.93F);
    x += p.canvas.width(text, viz::FontStyle::regular, 0.93F) + p.u(14);
  };
  if (snapshot.run) {
    const Selection selection = clamped(p.state.selection, *snapshot.run);
    words(head_name(selection.layer, selection.head), theme.text);
    const std::string& label = snapshot.run->tokens.labels[static_cast<std::size_t>(selection.query)];
    words("query " + std::to_string(selection.query) + " “" +
              p.fonts->fit(label, viz::FontStyle::regular, p.state.font_size, p.u(160)) + "”",
          theme.query);
  }
  if (const auto finiteness = ask(*p.answers, FinitenessOfRun{}); finiteness && !finiteness->note.empty()) {
    const float right_width = p.canvas.width(right, viz::FontStyle::regular, 0.93F);
    words(p.fonts->fit(finiteness->note, viz::FontStyle::regular, 0.93F * p.state.font_size,
                       rect.right() - right_width - p.u(14) - x),
          theme.error);
  }
  if (snapshot.loading) {
    words(snapshot.busy + " " + std::to_string(static_cast<int>(std::lround(snapshot.fraction * 100))) + " %",
          theme.accent);
    const float w = p.canvas.button_width("Cancel");
    p.canvas.button({x, rect.y + p.u(3), w, rect.h - p.u(6)}, "Cancel", CancelLoad{},
                    {.tip = "Keep the model that is open"});
  } else if (stale(p.state, snapshot) && snapshot.busy == "running") {
    const auto percent = static_cast<int>(std::lround(snapshot.fraction * 100));
    words(percent > 0 ? "computing… " + std::to_string(percent) + " %" : "computing…", theme.accent);
  }
}

void draw_message(PanelContext& p, const Rect& window) {
  const UiState& s = p.state;
  if (s.message.empty()) return;
  const float width = std::min(window.w - p.u(80), p.u(820));
  const float close = p.u(32);
  // Measured first, so that the card fits its words.
  Canvas measure(p.theme(), *p.fonts, s.font_size, std::nullopt);
  const float height =
      measure.paragraph(s.message, {0, 0}, width - close - p.u(36), p.theme().text) + p.u(20);
  const Rect card{window.center().x - width / 2, window.bottom() - p.u(44) - height, width, height};
  const viz::Color tone = s.message_is_error ? p.theme().error : p.theme().accent;
  p.canvas.shadow(card, p.u(8), p.u(10));
  p.canvas.fill(card, mix(p.theme().surface, tone, 0.1F), p.u(8));
  p.canvas.stroke(card, tone, 1, p.u(8));
  p.canvas.target({card, {}, {}, {}, Cursor::arrow});
  p.canvas.paragraph(s.message, {card.x + p.u(16), card.y + p.u(10)}, width - close - p.u(36),
                     p.theme().text);
  p.canvas.button({card.right() - close - p.u(6), card.y + p.u(6), close, p.u(28)}, "×", DismissMessage{},
                  {.look = Canvas::Look::plain, .tip = "Close  Esc"});
}

}  // namespace headscope::app
