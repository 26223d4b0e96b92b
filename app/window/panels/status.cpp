#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "app/counted.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/predictions.h"
#include "app/run/sources/pattern_file.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"
#include "app/window/panels/panels.h"
#include "system/path_text.h"

namespace headscope::app {

using viz::Rect;

namespace {

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 10 ? "%.1f ms" : "%.0f ms", ms);
  return text;
}

/// The model, the prompt's length and how long the run took.
std::string about_run(const Ui& ui) {
  const Snapshot& snapshot = ui.snapshot;
  std::string words;
  if (snapshot.run) {
    const bool other = ui.state.side == Side::baseline && snapshot.run->baseline;
    const int tokens = (other ? *snapshot.run->baseline : *snapshot.run).tokens.run_length;
    words += std::to_string(tokens) + (tokens == 1 ? " token · " : " tokens · ");
    if (!ui.input.frame.still) words += milliseconds(snapshot.run->milliseconds) + " · ";
  }
  if (snapshot.model && snapshot.model->patterns) {
    const std::string& name = snapshot.model->name;
    words += (name == snapshot.model->patterns->name() ? "" : name + ", ") + snapshot.model->patterns->name();
  } else if (snapshot.model) {
    const bool second = ui.state.side == Side::baseline && snapshot.run && compares_models(*snapshot.run);
    const LoadedModel& shown = second ? *snapshot.run->baseline->model : *snapshot.model;
    words += shown.name + ", " + grouped(shown.transformer->parameter_count()) + " parameters";
  }
  return words;
}

void say(Ui& ui, std::vector<Ui::Part>& line, std::string words, viz::Color color) {
  line.push_back(ui.words(std::move(words), color));
}

void say_selection(Ui& ui, std::vector<Ui::Part>& line) {
  const PromptRun& first = *ui.snapshot.run;
  Selection selection = clamped(ui.state.selection, first);
  // The second prompt's side has its own tokens.
  const bool second = ui.state.side == Side::baseline && first.baseline != nullptr && compares_texts(first);
  const PromptRun& run = second ? *first.baseline : first;
  if (second) selection = clamped(in_baseline(selection, first), run);
  say(ui, line, head_name(selection.layer, selection.head), ui.theme().text);
  const auto position = [&](const char* what, const PromptTokens& tokens, int at, viz::Color color) {
    const std::string& label = tokens.labels[at];
    say(ui, line,
        what + std::to_string(at) + " “" +
            ui.fonts().fit(label, viz::FontStyle::regular, ui.state.font_size, ui.u(120)) + "”",
        color);
  };
  position("query ", run.tokens, selection.query, ui.theme().query);
  if (selection.key >= 0) position("key ", key_tokens(run), selection.key, ui.theme().key);
}

int percent(const Snapshot& snapshot) {
  return static_cast<int>(std::lround(snapshot.fraction * 100));
}

void say_loading(Ui& ui, std::vector<Ui::Part>& line) {
  if (ui.snapshot.busy != Busy::loading) return;
  say(ui, line, "loading " + ui.snapshot.loading + " " + std::to_string(percent(ui.snapshot)) + " %",
      ui.theme().accent);
  line.push_back(ui.button("Cancel", {.tip = "Keep the current model  Esc"},
                           change(&UiState::load_cancel, ui.state.load_request)));
}

/// What an open model warns of.
struct Warning {
  std::string text;
  std::string brief;  ///< with the model's name in place of the path of its folder
};

/// Those that are not closed, each once.
std::vector<Warning> open_warnings(const Ui& ui) {
  std::vector<Warning> open;
  for (const auto& model : {ui.snapshot.model, ui.snapshot.second_model}) {
    if (!model) continue;
    const std::string folder = system::text_of(model->folder);
    for (const std::string& text : model->warnings) {
      if (std::ranges::count(ui.state.closed_warnings, text) > 0) continue;
      if (std::ranges::count(open, text, &Warning::text) > 0) continue;
      const std::size_t rest = text.starts_with(folder) ? text.find_first_not_of("/\\: ", folder.size()) : 0;
      open.push_back({text, model->name + ": " + text.substr(std::min(rest, text.size()))});
    }
  }
  return open;
}

/// Paragraphs in a card that can be closed.
Bar card(Ui& ui, float width, std::vector<std::string> words, viz::Color color, const char* close,
         const char* tip, Action action) {
  const float pad = ui.u(14), room = width - pad - ui.u(46);
  float height = ui.u(24);
  for (const std::string& paragraph : words) height += ui.paragraph_height(paragraph, room);
  return {std::ceil(height),
          [=, &ui, words = std::move(words), action = std::move(action)](const Rect& rect) {
            const Rect card{rect.x, std::round(rect.y + ui.u(6)), rect.w, std::floor(rect.h - ui.u(6))};
            ui.begin_group();
            ui.fill(card, viz::blended(ui.theme().surface, color.with_alpha(26)), ui.u(8));
            ui.stroke(card, color, 1, ui.u(8));
            Rect line{card.x + pad, card.y + ui.u(8), room, 0};
            for (const std::string& paragraph : words)
              line.y += ui.paragraph(paragraph, line, ui.theme().text);
            ui.place({card.x, card.y + ui.u(4), card.w - ui.u(6), ui.u(28)},
                     {{.grows = true}, ui.sign("×", close, tip, action)});
            ui.begin_group();
          }};
}

void say_running(Ui& ui, std::vector<Ui::Part>& line) {
  const Snapshot& snapshot = ui.snapshot;
  if (snapshot.busy != Busy::running || !snapshot.run || snapshot.run->prompt == prompt_of(ui.state)) return;
  const int done = percent(snapshot);
  say(ui, line, done > 0 ? "computing… " + std::to_string(done) + " %" : "computing…", ui.theme().accent);
}

}  // namespace

void draw_status(Ui& ui, const Rect& rect) {
  std::vector<Ui::Part> line;
  say_loading(ui, line);
  const Message& message = ui.state.message;
  const bool hovers = !ui.status().empty(), informs = !message.text.empty() && !message.is_error;
  if (informs) say(ui, line, message.text, ui.theme().text);  // it goes after a while, so nothing hides it
  if (hovers) say(ui, line, ui.status(), informs ? ui.theme().text_muted : ui.theme().text);
  if (!hovers && !informs) {
    if (ui.snapshot.run) say_selection(ui, line);
    if (const auto next = ask(*ui.input.answers, NextAfter{ui.state.selection.query});
        next && !next->not_finite.empty())
      say(ui, line, next->not_finite, ui.theme().error);
    say_running(ui, line);
  }
  line.push_back({.grows = true});
  if (!hovers) say(ui, line, about_run(ui), ui.theme().text_muted);
  ui.place(rect, line, 14);
}

Bar error_bar(Ui& ui, float width) {
  const Message& message = ui.state.message;
  if (message.text.empty() || !message.is_error) return {};
  return card(ui, width, {message.text}, ui.theme().error, "Close the message", "Close  Esc", ShowMessage{});
}

Bar warnings_bar(Ui& ui, float width) {
  constexpr std::size_t kMaxWarnings = 3;
  std::vector<std::string> closed = ui.state.closed_warnings;
  std::vector<std::string> words;
  const std::vector<Warning> warnings = open_warnings(ui);
  for (std::size_t i = 0; i < std::min(warnings.size(), kMaxWarnings); ++i) {
    closed.push_back(warnings[i].text);  // only what was shown: the next ones follow
    words.push_back(warnings[i].brief);
  }
  if (warnings.size() > kMaxWarnings)
    words.push_back("and " + std::to_string(warnings.size() - kMaxWarnings) + " more");
  if (words.empty()) return {};
  return card(ui, width, std::move(words), ui.theme().text_muted, "Close the warnings", "Close",
              change(&UiState::closed_warnings, std::move(closed)));
}

}  // namespace headscope::app
