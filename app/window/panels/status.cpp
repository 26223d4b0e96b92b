#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

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
    words += shown.name + ", " + short_count(shown.transformer->parameter_count()) + " parameters";
  }
  return words;
}

void say(Ui& ui, RowLayout& line, std::string_view words, viz::Color color) {
  ui.small(words, line.rest(), color);
  line.skip(ui.width(words, viz::FontStyle::regular, Ui::kSmall) + ui.u(14));
}

void say_selection(Ui& ui, RowLayout& line) {
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

void say_loading(Ui& ui, RowLayout& line) {
  if (ui.snapshot.busy != Busy::loading) return;
  say(ui, line, "loading " + ui.snapshot.loading + " " + std::to_string(percent(ui.snapshot)) + " %",
      ui.theme().accent);
  const Rect place = line.left(ui.button_width("Cancel"));
  if (ui.button({place.x, place.y + ui.u(3), place.w, place.h - ui.u(6)}, "Cancel",
                {.tip = "Keep the current model  Esc"}))
    ui.actions.emplace_back(change(&UiState::load_cancel, ui.state.load_request));
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

constexpr float kWarning = 20;            // height of its line
constexpr std::size_t kMostWarnings = 3;  // lines

/// The card of a message above the status line; `words` draws into the room that the closing button leaves.
/// Returns whether that was pressed. `close`: its name and its tooltip.
bool draw_card(Ui& ui, const char* id, const Rect& rect, viz::Color color,
               const std::pair<const char*, const char*>& close,
               const std::function<void(const Rect&)>& words) {
  const Rect card{rect.x, std::round(rect.y + ui.u(6)), rect.w, std::floor(rect.h - ui.u(6))};
  ui.begin_pane(id, card, false);
  ui.fill(card, mix(ui.theme().surface, color, 0.1F), ui.u(8));
  ui.stroke(card, color, 1, ui.u(8));
  words({card.x + ui.u(14), card.y, card.w - ui.u(60), card.h});
  const bool closes = ui.icon({card.right() - ui.u(36), card.y + ui.u(4), ui.u(30), ui.u(28)}, Icon::close,
                              close.first, close.second);
  ui.end_pane();
  return closes;
}

void say_running(Ui& ui, RowLayout& line) {
  const Snapshot& snapshot = ui.snapshot;
  if (snapshot.busy != Busy::running || !snapshot.run || snapshot.run->prompt == prompt_of(ui.state)) return;
  const int done = percent(snapshot);
  say(ui, line, done > 0 ? "computing… " + std::to_string(done) + " %" : "computing…", ui.theme().accent);
}

}  // namespace

void draw_status(Ui& ui, const Rect& rect) {
  const std::string right = ui.status().empty() ? about_run(ui) : "";
  ui.small(right, rect, ui.theme().text_muted, viz::Align::right);
  RowLayout line(rect, ui.u(14));
  line.right(ui.width(right, viz::FontStyle::regular, Ui::kSmall));
  say_loading(ui, line);
  if (!ui.status().empty()) return say(ui, line, ui.status(), ui.theme().text);
  const Message& message = ui.state.message;
  if (!message.text.empty() && !message.is_error) return say(ui, line, message.text, ui.theme().text);
  if (ui.snapshot.run) say_selection(ui, line);
  if (const auto next = ask(*ui.input.answers, NextAfter{ui.state.selection.query});
      next && !next->not_finite.empty())
    say(ui, line, next->not_finite, ui.theme().error);
  say_running(ui, line);
}

float error_height(const Ui& ui, float width) {
  const Message& message = ui.state.message;
  if (message.text.empty() || !message.is_error) return 0;
  return std::ceil(ui.paragraph_height(message.text, width - ui.u(60)) + ui.u(24));
}

void draw_error(Ui& ui, const Rect& rect) {
  const auto words = [&](const Rect& room) {
    ui.paragraph(ui.state.message.text, {room.x, room.y + ui.u(8), room.w, 0}, ui.theme().text);
  };
  if (draw_card(ui, "error", rect, ui.theme().error, {"Close the message", "Close  Esc"}, words))
    ui.actions.emplace_back(ShowMessage{});
}

float warnings_height(const Ui& ui) {
  const std::size_t count = open_warnings(ui).size();
  return count == 0 ? 0 : ui.u(18) + ui.u(kWarning) * static_cast<float>(std::min(count, kMostWarnings));
}

void draw_warnings(Ui& ui, const Rect& rect) {
  const std::vector<Warning> warnings = open_warnings(ui);
  const auto words = [&](const Rect& room) {
    Rect line{room.x, room.y + ui.u(6), room.w, ui.u(kWarning)};
    std::string more, others;
    for (std::size_t i = kMostWarnings; i < warnings.size(); ++i)
      others += (others.empty() ? "" : "; ") + warnings[i].text;
    if (!others.empty()) more = "and " + std::to_string(warnings.size() - kMostWarnings) + " more";
    for (std::size_t i = 0; i < std::min(warnings.size(), kMostWarnings); ++i, line.y += line.h) {
      RowLayout places(line, ui.u(10));
      if (i + 1 == kMostWarnings && !more.empty()) {
        const Rect end = places.right(ui.width(more, viz::FontStyle::regular, Ui::kSmall) + 1);
        ui.small(more, end, ui.theme().text_muted);
        ui.explain(end, "", Tip(others));
      }
      ui.small(warnings[i].brief, places.rest(), ui.theme().text);
      ui.explain(places.rest(), "", Tip(warnings[i].text));
    }
  };
  if (!draw_card(ui, "warnings", rect, ui.theme().text_muted, {"Close the warnings", "Close"}, words)) return;
  std::vector<std::string> closed = ui.state.closed_warnings;
  for (const Warning& warning : warnings) closed.push_back(warning.text);
  ui.actions.emplace_back(change(&UiState::closed_warnings, std::move(closed)));
}

}  // namespace headscope::app
