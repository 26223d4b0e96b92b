#include <algorithm>

#include "app/run/sources/pattern_file.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kTextFactor = 1.1F;  // the prompt's font size, relative to other text

/// The notice about the whole prompt.
std::string notice(const UiState& state, const Snapshot& snapshot) {
  if (!snapshot.run) return {};
  if (const PatternFile* file = snapshot.run->model->patterns.get()) {
    std::string words =
        "Attention patterns from " + file->name() + ", not of this prompt: " + file->summary();
    for (const std::string& note : file->notes()) words += "; " + note;
    return words + ".";
  }
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() > tokens.run_length)
    return "This model reads at most " + std::to_string(tokens.run_length) + " tokens; the " +
           std::to_string(tokens.length() - tokens.run_length) + " beyond are greyed out and not run.";
  if (tokens.was_empty) return "The prompt is empty: only the start token <|endoftext|> is run.";
  const bool hint_holds =
      state.prompt.edit.text == state.hint_text && state.view == state.hint_view && state.tour.tour < 0 &&
      (state.examples_model.empty() || snapshot.run->model->folder == state.examples_model);
  return hint_holds ? state.hint : "";
}

/// The first byte of the text beyond n_ctx.
std::size_t grey_from(const Snapshot& snapshot, const std::string& text) {
  if (!snapshot.run || snapshot.run->prompt.text != text) return std::string::npos;
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() <= tokens.run_length) return std::string::npos;
  return tokens.tokens[tokens.run_length].start;
}

/// The look of the editor at the top of a card of this width; its height is that of its text, within limits.
EditorLook editor_look(Ui& ui, const Rect& card) {
  EditorLook look;
  look.font_size = ui.state.font_size * kTextFactor;
  look.rect = card;
  look.framed = false;
  look.fonts = ui.input.fonts;
  look.grey_from = grey_from(ui.snapshot, ui.state.prompt.edit.text);
  const bool low = ui.input.frame.height < ui.u(800);
  const auto rows =
      static_cast<float>(row_count(ui.state.prompt.edit, ui.metrics.for_field(Field::prompt), look));
  look.rect.h = editor_height(ui.fonts(), look.font_size, std::clamp(rows, 1.0F, low ? 2.0F : 3.0F));
  return look;
}

/// The place of the tokens in a card, below the editor; as high as they need, within limits.
Rect strip_place(const Ui& ui, const Rect& card, float editor) {
  const float inset = ui.u(6);
  Rect strip{card.x + inset, card.y + editor, card.w - 2 * inset, 0};
  const View& view = view_at(Place::strip);
  const bool low = ui.input.frame.height < ui.u(800);
  const ViewContext context =
      make_context(&view, ui.state, ui.snapshot, *ui.input.answers, ui.fonts(), strip.w, 0, 1);
  const float whole = context.run ? view.whole_height(context) : 0;
  strip.h = std::clamp(whole, ui.u(30), ui.u(low ? 58 : 86));
  return strip;
}

}  // namespace

float prompt_height(Ui& ui, float width) {
  const Rect card{0, 0, width, 0};
  const float editor = editor_look(ui, card).rect.h;
  return editor + strip_place(ui, card, editor).h + ui.u(4);
}

void draw_prompt_notice(Ui& ui, const Rect& rect) {
  const std::string words = notice(ui.state, ui.snapshot);
  if (words.empty()) return;
  // Text that does not fit is shown in a tooltip.
  const Rect lines = rect.inset(-ui.u(2));
  const bool all = ui.paragraph_in(words, {rect.x, lines.y, rect.w, lines.h}, ui.theme().text_muted, 0.85F);
  if (!all && ui.input.frame.pointer && rect.contains(*ui.input.frame.pointer)) ui.tooltip({words});
}

/// One card: the text, and under it the tokens that the model reads.
void draw_prompt(Ui& ui, const Rect& rect) {
  ui.begin_pane("prompt", rect);
  EditorLook look = editor_look(ui, rect);
  ui.area(WindowArea::kPrompt, look.rect);
  const Rect strip = strip_place(ui, rect, look.rect.h);
  ui.editor(Field::prompt, std::move(look));
  ui.picture(view_at(Place::strip), strip);
  const bool typing = !ui.out.fields.empty() && ui.out.fields.back().look.focused;
  const float ring = typing ? ui.u(2) : 1;
  ui.stroke(rect, typing ? ui.theme().accent : ui.theme().field_line, ring, ui.u(8));
  ui.end_pane();
}

}  // namespace headscope::app
