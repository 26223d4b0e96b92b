#include <algorithm>

#include "app/window/panels/panels.h"

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
  const bool hint_holds = state.examples_model.empty() || snapshot.run->model->folder == state.examples_model;
  return hint_holds ? state.hint : "";
}

/// First byte of the text that lies beyond n_ctx.
std::size_t grey_from(const Snapshot& snapshot, const std::string& text) {
  if (!snapshot.run || snapshot.run->prompt.text != text) return std::string::npos;
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() <= tokens.run_length) return std::string::npos;
  return tokens.tokens[static_cast<std::size_t>(tokens.run_length)].start;
}

/// Puts the chips, three lines of them at the most, and returns the height they take: of two lines at least
/// where the window is not low, so that nothing moves while the first line fills.
float place_chips(PanelContext& p, const Rect& rect) {
  const float line = p.u(26);
  if (rect.w < 1 || rect.h < 1) return 0;
  place_view(p, view_at(Place::strip), rect);
  PlacedPicture& placed = p.out.pictures.back();
  float bottom = p.frame.height < p.u(800) ? line : 2 * line;
  for (const viz::Region& region : placed.picture->regions) bottom = std::max(bottom, region.rect.bottom());
  placed.where.h = std::min(rect.h, bottom + p.u(2));
  return placed.where.h;
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
  if (!words.empty())
    y += p.canvas.paragraph(words, {rect.x + p.u(2), y}, rect.w - p.u(4), p.theme().text_muted, 0.93F) +
         p.u(2);
  return y + place_chips(p, {rect.x, y, rect.w, p.u(3 * 26 + 14)}) - rect.y;
}

}  // namespace headscope::app
