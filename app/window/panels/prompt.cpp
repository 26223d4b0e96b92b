// The bar at the top, with the notice about the prompt, and below it the prompt's text and tokens.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/ascii.h"
#include "app/run/sources/pattern_file.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "viz/charts/chips.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kTextFactor = 1.1F;  // the prompt's font size, relative to other text
constexpr float kStripInset = 6;     // of the tokens in their card

/// The notice about the whole prompt, and what can be done about it.
struct Notice {
  std::string words = {};   ///< empty: none
  std::string button = {};  ///< empty: nothing can be done
  Action action = ShowMessage{};
};

std::string file_words(const PatternFile& file) {
  std::string words = "Attention patterns from " + file.name() + ", not from this prompt: " + file.summary();
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

/// The notice about the whole prompt, with a link that mends it.
Ui::Part prompt_notice(Ui& ui) {
  return {0,
          [&ui, shown = notice(ui.state, ui.snapshot)](const Rect& rect) {
            constexpr float kFactor = 0.85F;
            if (shown.words.empty()) return;
            const auto wide = [&](const std::string& words) {
              return words.empty() ? 0 : ui.width(words, viz::FontStyle::regular, kFactor) + ui.u(10);
            };
            const float link = wide(shown.button), w = std::min(wide(shown.words), rect.w - link);
            // In two lines; text that does not fit is in the tooltip.
            std::vector<std::string> lines = ui.wrapped(shown.words, w, kFactor);
            for (; lines.size() > 2; lines.erase(lines.begin() + 2)) lines[1] += " " + lines[2];
            const float height = ui.u(17) * static_cast<float>(lines.size());
            Rect room{rect.x, rect.center().y - height / 2, w, height};
            for (const std::string& line : lines)
              ui.text(line, cut_top(room, ui.u(17)), ui.theme().text_muted, viz::FontStyle::regular, kFactor);
            ui.explain({rect.x, rect.y, w, rect.h}, "", shown.words);
            if (link > 0 && ui.link({rect.x + w, rect.y, link, rect.h}, shown.button, kFactor))
              ui.actions.push_back(shown.action);
          },
          true};
}

/// The logo, a causal pattern of three tokens, and the name.
Ui::Part logo(Ui& ui) {
  constexpr auto kBold = viz::FontStyle::bold;
  const float cell = ui.u(6), pitch = ui.u(7.5F), icon = 3 * pitch + ui.u(8);
  return {icon + ui.width("headscope", kBold, 1.12F) + ui.u(10), [=, &ui](const Rect& rect) {
            const viz::Theme& theme = ui.theme();
            const std::array diagonals{theme.query, theme.key, theme.value};
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j <= i; ++j)
                ui.fill({rect.x + static_cast<float>(j) * pitch,
                         rect.center().y + (static_cast<float>(i) - 1.5F) * pitch, cell, cell},
                        diagonals[i - j], ui.u(1.5F));
            ui.text("headscope", {rect.x + icon, rect.y, rect.w - icon, rect.h}, theme.text, kBold, 1.12F);
          }};
}

/// The button of a command that undoes or goes back.
Ui::Part step(Ui& ui, const char* sign, std::string_view label) {
  const Command& step = command(label);
  const auto action = step.act(ui.state);
  const std::string words = step.object && action ? label_of(step, ui.state) : capitalized(step.help);
  return ui.sign(sign, std::string(step.label), with_keys(words, step), action.value_or(ShowMessage{}),
                 action ? "" : std::string(step.unavailable));
}

/// The first byte of the text beyond n_ctx.
std::size_t grey_from(const Snapshot& snapshot, const std::string& text) {
  if (!snapshot.run || snapshot.run->prompt.text != text) return std::string::npos;
  const PromptTokens& tokens = snapshot.run->tokens;
  if (tokens.length() <= tokens.run_length) return std::string::npos;
  return tokens.tokens[tokens.run_length].start;
}

/// The number of lines that show all tokens.
int token_lines(const Ui& ui, float width) {
  const ViewContext context = ui.context(nullptr, width - 2 * ui.u(kStripInset), 0);
  if (!context.run) return 1;
  const float line = tokens_height(ui, 1) - tokens_height(ui, 0);
  const float whole = token_strip().whole_height(context) - tokens_height(ui, 0);
  return std::max(1, static_cast<int>(std::lround(whole / line)));
}

}  // namespace

float tokens_height(const Ui& ui, int lines) {
  return static_cast<float>(lines) * viz::chip_line_height(ui.style()) + 3 * ui.style().unit();
}

bool shows_second_tokens(const UiState& state, const Snapshot& snapshot) {
  return state.second.on && snapshot.run && compares_texts(*snapshot.run);
}

void draw_top_bar(Ui& ui, const Rect& rect) {
  const UiState& s = ui.state;
  const std::string name = ui.snapshot.model ? ui.snapshot.model->name : "no model";
  Ui::Part model = ui.menu_button(
      name, Menu::models,
      {.menu = true, .tip = with_keys("Open another model", command("Models")), .name = "Model"});
  model.width = std::min(model.width, ui.u(240));
  Ui::Part more = ui.menu_button("⋯", Menu::more, {.tip = "More  F10", .name = "More"});
  std::vector<Ui::Part> line{
      logo(ui),
      ui.menu_button("Examples", Menu::examples,
                     {.menu = true, .tip = with_keys("Prompts worth exploring", command("Example prompts"))}),
      step(ui, "↶", "Undo"),
      step(ui, "↷", "Redo"),
      step(ui, "←", "Back"),
      step(ui, "→", "Forward"),
      prompt_notice(ui),
      std::move(model),
      ui.button(
          "Export",
          {.look = Ui::Look::primary, .tip = with_keys("Export a picture or its data", command("Export…"))},
          ShowDialog{Dialog::export_}),
      std::move(more)};
  if (s.all_controls || s.start_token)
    line.insert(
        line.begin() + 2,
        ui.button("Start token",
                  {.on = s.start_token,
                   .tip = with_keys("Put <|endoftext|> before the prompt, as before every training text",
                                    command("Start token"))},
                  SetStartToken{!s.start_token}));
  ui.place(rect, line);
  ui.open_in_place_of(Menu::second_model, Menu::models);
}

void draw_prompt(Ui& ui, Rect& rest) {
  const bool low = ui.input.frame.height < ui.u(800);
  EditorLook look{.rect = {rest.x, rest.y, rest.w, 0},
                  .fonts = ui.input.fonts,
                  .font_size = ui.state.font_size * kTextFactor,
                  .framed = false,
                  .grey_from = grey_from(ui.snapshot, ui.state.prompt.edit.text)};
  const auto editor = [&](int rows) {
    return editor_height(ui.fonts(), look.font_size, static_cast<float>(rows));
  };
  const auto rows =
      static_cast<int>(editor_extent(ui.state.prompt.edit, ui.memory.metrics[Field::prompt], look).rows);
  const int wanted = token_lines(ui, rest.w);
  // A low window has no room to keep free for text that may come.
  const float height = low ? editor(std::min(rows, 2)) + tokens_height(ui, std::min(wanted, 2))
                           : editor(2) + tokens_height(ui, 2);
  // The text comes first, then the tokens.
  int shown = 1, lines = 1;
  while (shown < rows && editor(shown + 1) + tokens_height(ui, 1) <= height) ++shown;
  while (lines < wanted && editor(shown) + tokens_height(ui, lines + 1) <= height) ++lines;
  look.rect.h = height - tokens_height(ui, lines);

  const Rect card = cut_top(rest, height + ui.u(low ? 2 : 4));
  ui.begin_pane("prompt", card);
  ui.area(WindowArea::kPrompt, look.rect);
  const float top = look.rect.bottom(), inset = ui.u(kStripInset);
  ui.editor(Field::prompt, std::move(look));
  const bool has_own = ui.state.side == Side::baseline && shows_second_tokens(ui.state, ui.snapshot);
  ui.picture(token_strip(), {card.x + inset, top, card.w - 2 * inset, tokens_height(ui, lines)},
             has_own ? Side::run : ui.state.side);
  const bool typing = ui.out.fields.back().look.focused;
  ui.stroke(card, typing ? ui.theme().accent : ui.theme().field_line, typing ? ui.u(2) : 1, ui.u(8));
  ui.end_pane();
}

}  // namespace headscope::app
