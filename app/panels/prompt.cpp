#include <algorithm>

#include "app/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// What the window has to say about the prompt as a whole, or nothing.
std::string notice(const UiState& state, const Snapshot& snapshot) {
  if (!snapshot.run) return {};
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() > tokens.run_length)
    return "This model reads at most " + std::to_string(tokens.run_length) + " tokens; the " +
           std::to_string(tokens.length() - tokens.run_length) + " after them are greyed and not run.";
  if (tokens.was_empty) return "The prompt is empty: the start token <|endoftext|> runs alone.";
  return state.hint;
}

/// First byte of the text that lies beyond n_ctx.
std::size_t grey_from(const Snapshot& snapshot, const std::string& text) {
  if (!snapshot.run || snapshot.run->prompt.text != text) return std::string::npos;
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() <= tokens.run_length) return std::string::npos;
  return tokens.tokens[static_cast<std::size_t>(tokens.run_length)].start;
}

/// Height of the chips of all lines, at most three rows of them.
float chips_height(PanelContext& p) {
  return p.u(3 * 30 + 4);
}

}  // namespace

float draw_prompt(PanelContext& p, const Rect& rect) {
  const float font = p.state.font_size * kPromptTextFactor;
  const float rows = p.frame.height < p.u(800) ? 2.0F : 3.0F;
  const float editor = editor_height(*p.fonts, font, rows);
  EditorLook look;
  look.rect = {rect.x, rect.y, rect.w, editor};
  look.font_size = font;
  look.grey_from = grey_from(p.snapshot, p.state.prompt.edit.text);
  draw_editor(p, Field::prompt, std::move(look));
  float y = rect.y + editor + p.u(6);
  const std::string words = notice(p.state, p.snapshot);
  if (!words.empty()) {
    p.canvas.text_in(words, {rect.x + p.u(2), y, rect.w - p.u(4), p.u(20)}, p.theme().text_muted,
                     viz::FontStyle::regular, 0.93F);
    y += p.u(22);
  }
  const float chips = chips_height(p);
  place_view(p, "tokens", {rect.x, y, rect.w, chips});
  return y + chips - rect.y;
}

}  // namespace headscope::app
