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
      state.prompt.edit.text == state.hint_text &&
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

struct Heights {
  float editor = 0, notice = 0, tokens = 0, gap = 0;
};

Heights heights(const Ui& ui) {
  const bool low = ui.input.frame.height < ui.u(800);
  const float font = ui.state.font_size;
  return {editor_height(ui.fonts(), font * kTextFactor, low ? 2.0F : 3.0F), ui.u(20), ui.u(low ? 46 : 74),
          ui.u(4)};
}

}  // namespace

float prompt_height(const Ui& ui) {
  const Heights h = heights(ui);
  return h.editor + h.notice + h.tokens + 2 * h.gap;
}

void draw_prompt(Ui& ui, const Rect& rect) {
  const Heights h = heights(ui);
  EditorLook look;
  look.rect = {rect.x, rect.y, rect.w, h.editor};
  ui.area(WindowArea::kPrompt, look.rect);
  look.font_size = ui.state.font_size * kTextFactor;
  look.grey_from = grey_from(ui.snapshot, ui.state.prompt.edit.text);
  ui.editor(Field::prompt, std::move(look));
  const Rect line{rect.x + ui.u(2), rect.y + h.editor + h.gap, rect.w - ui.u(4), h.notice};
  if (const std::string words = notice(ui.state, ui.snapshot); !words.empty()) {
    ui.small(words, line, ui.theme().text_muted);
    // Text that does not fit is shown in a tooltip.
    const bool cut = ui.width(words, viz::FontStyle::regular, Ui::kSmall) > line.w;
    if (cut && ui.input.frame.pointer && line.contains(*ui.input.frame.pointer)) ui.tooltip({words});
  }
  const Rect strip{rect.x, line.bottom() + h.gap, rect.w, h.tokens};
  ui.begin_pane("strip", strip);
  ui.picture(view_at(Place::strip), strip.inset(ui.u(3)));
  ui.end_pane();
}

}  // namespace headscope::app
