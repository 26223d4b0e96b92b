#include <algorithm>
#include <cmath>

#include "app/run/sources/pattern_file.h"
#include "app/window/panels/panels.h"
#include "viz/charts/chips.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kTextFactor = 1.1F;  // the prompt's font size, relative to other text
constexpr float kNoticeFactor = 0.85F;

/// The notice about the whole prompt, and what can be done about it.
struct Notice {
  std::string words = {};   ///< empty: none
  std::string button = {};  ///< empty: nothing can be done
  Action action = ShowMessage{};
};

std::string file_words(const PatternFile& file) {
  std::string words = "Attention patterns from " + file.name() + ", not of this prompt: " + file.summary();
  for (const std::string& note : file.notes()) words += "; " + note;
  return words + ".";
}

Notice notice(const UiState& state, const Snapshot& snapshot) {
  if (!snapshot.run) return {};
  const LoadedModel& model = *snapshot.run->model;
  if (model.patterns) return {file_words(*model.patterns)};
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() > tokens.run_length)
    return {std::to_string(tokens.run_length) + " of " + std::to_string(tokens.length()) +
            " tokens are run: this model reads no more. The others are greyed out."};
  if (tokens.was_empty) return {"The prompt is empty: only the start token " + tokens.labels[0] + " is run."};
  const std::string& text = state.prompt.edit.text;
  const Prompt& run = snapshot.run->prompt;  // the hints are about the text alone, unedited
  const auto id = [&](int position) { return tokens.tokens[position].id; };
  const std::optional<int> start = model.tokenizer->end_of_text();
  if (tokens.has_start_token && tokens.length() > 1 && id(0) == start && id(1) == start)
    return {"The prompt begins with the start token twice: it is in the text, too.", "Remove one",
            SetStartToken{false}};
  // A space that was just typed is followed by a word.
  const TextState& edit = state.prompt.edit;
  const bool is_typing = edit.cursor == text.size() && edit.last_change.kind != TextChange::Kind::other;
  if (run.text == text && state.ids.empty() && text.ends_with(' ') && !is_typing)
    return {"The prompt ends in a space, but tokens usually begin with one: the guesses will be odd.",
            "Remove the space",
            TypeInField{Field::prompt, Replace{text.substr(0, text.find_last_not_of(' ') + 1)}}};
  const View* view = find_view(state.view);
  const bool shows_attention = view && view->group == Group::attention;  // which the hints are about
  const TourStop* example = shown_example(state);
  const bool hint_holds = example != nullptr && run.edits.empty() && !tokens.has_start_token &&
                          shows_attention && state.tour.tour < 0 &&
                          (state.examples_model.empty() || model.folder == state.examples_model);
  return hint_holds ? Notice{example->caption.front().words} : Notice{};
}

/// The first byte of the text beyond n_ctx.
std::size_t grey_from(const Snapshot& snapshot, const std::string& text) {
  if (!snapshot.run || snapshot.run->prompt.text != text) return std::string::npos;
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() <= tokens.run_length) return std::string::npos;
  return tokens.tokens[tokens.run_length].start;
}

EditorLook editor_look(const Ui& ui, const Rect& rect) {
  EditorLook look;
  look.font_size = ui.state.font_size * kTextFactor;
  look.rect = rect;
  look.framed = false;
  look.fonts = ui.input.fonts;
  look.grey_from = grey_from(ui.snapshot, ui.state.prompt.edit.text);
  return look;
}

float strip_inset(const Ui& ui) {
  return ui.u(6);
}

/// The notice stands below the text, in line with it.
float notice_inset(const Ui& ui) {
  return ui.u(12);
}
float notice_width(const Ui& ui, float width) {
  return width - 2 * notice_inset(ui);
}

/// The number of lines that show all tokens.
int token_lines(const Ui& ui, float width) {
  const View& view = token_strip();
  const ViewContext context = ui.context(nullptr, width - 2 * strip_inset(ui), 0);
  if (!context.run) return 1;
  const float line = tokens_height(ui, 1) - tokens_height(ui, 0);
  return std::max(1,
                  static_cast<int>(std::lround((view.whole_height(context) - tokens_height(ui, 0)) / line)));
}

/// The height of the notice in all its lines; 0: there is none.
float notice_height(const Ui& ui, float width) {
  const std::string words = notice(ui.state, ui.snapshot).words;
  return words.empty() ? 0 : ui.paragraph_height(words, width, kNoticeFactor);
}

}  // namespace

float tokens_height(const Ui& ui, int lines) {
  const viz::Style style{ui.theme(), ui.fonts(), ui.state.font_size, 1};
  return static_cast<float>(lines) * viz::chip_line_height(style) + 3 * style.unit();
}

bool shows_second_tokens(const UiState& state, const Snapshot& snapshot) {
  return state.second.on && snapshot.run && compares_texts(*snapshot.run);
}

PromptHeights prompt_heights(Ui& ui, float width) {
  const bool low = ui.input.frame.height < ui.u(800);
  const EditorLook look = editor_look(ui, {0, 0, width, 0});
  const auto editor = [&](int rows) {
    return editor_height(ui.fonts(), look.font_size, static_cast<float>(rows));
  };
  PromptHeights heights;
  heights.below = ui.u(low ? 2 : 4);
  const auto rows =
      static_cast<int>(row_count(ui.state.prompt.edit, ui.metrics.for_field(Field::prompt), look));
  const int wanted = token_lines(ui, width);
  // A low window has no room to keep free for text that may come.
  const float room = low ? editor(std::min(rows, 2)) + tokens_height(ui, std::min(wanted, 2))
                         : editor(2) + tokens_height(ui, 2);
  // The text comes first, then the tokens, then the notice.
  int shown = 1;
  while (shown < rows && editor(shown + 1) + tokens_height(ui, 1) <= room) ++shown;
  int lines = 1;
  while (lines < wanted && editor(shown) + tokens_height(ui, lines + 1) <= room) ++lines;
  heights.tokens = tokens_height(ui, lines);
  heights.editor = room - heights.tokens;
  const float free = heights.editor - editor(shown), notice = notice_height(ui, notice_width(ui, width));
  if (notice > 0 && notice <= free) heights.editor -= free, heights.notice = free;
  return heights;
}

void draw_prompt_notice(Ui& ui, const Rect& rect) {
  const Notice shown = notice(ui.state, ui.snapshot);
  if (shown.words.empty()) return;
  Rect lines = rect.inset(-ui.u(2));
  lines.x = rect.x, lines.w = rect.w;
  if (!shown.button.empty()) {
    const float words = std::min(ui.width(shown.words, viz::FontStyle::regular, kNoticeFactor) + ui.u(12),
                                 rect.w - ui.button_width(shown.button));
    const float wide = ui.width(shown.button, viz::FontStyle::regular, kNoticeFactor);
    if (ui.link({rect.x + words, rect.y, wide, rect.h}, shown.button, kNoticeFactor))
      ui.actions.push_back(shown.action);
    lines.w = words;
  }
  // Text that does not fit is shown in a tooltip.
  const bool all = ui.paragraph_in(shown.words, lines, ui.theme().text_muted, kNoticeFactor);
  if (!all && ui.input.frame.pointer && rect.contains(*ui.input.frame.pointer)) ui.tooltip({shown.words});
}

/// One card: the text, and under it the notice and the tokens that the model reads.
void draw_prompt(Ui& ui, const Rect& rect, const PromptHeights& heights) {
  ui.begin_pane("prompt", rect);
  EditorLook look = editor_look(ui, {rect.x, rect.y, rect.w, heights.editor});
  ui.area(WindowArea::kPrompt, look.rect);
  ui.editor(Field::prompt, std::move(look));
  if (heights.notice > 0)
    draw_prompt_notice(
        ui, {rect.x + notice_inset(ui), rect.y + heights.editor, notice_width(ui, rect.w), heights.notice});
  const float inset = strip_inset(ui);
  const bool has_own = ui.state.side == Side::baseline && shows_second_tokens(ui.state, ui.snapshot);
  ui.picture(token_strip(),
             {rect.x + inset, rect.y + heights.editor + heights.notice, rect.w - 2 * inset, heights.tokens},
             has_own ? Side::run : ui.state.side);
  const bool typing = !ui.out.fields.empty() && ui.out.fields.back().look.focused;
  const float ring = typing ? ui.u(2) : 1;
  ui.stroke(rect, typing ? ui.theme().accent : ui.theme().field_line, ring, ui.u(8));
  ui.end_pane();
}

}  // namespace headscope::app
