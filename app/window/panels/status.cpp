// The status line, and the bars above it: an error, warnings, and a fetch or the offer of a model.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/counted.h"
#include "app/run/analyses/predictions.h"
#include "app/run/sources/pattern_file.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"
#include "app/window/panels/panels.h"
#include "system/path_text.h"
#include "viz/scene/scale.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// "45 %"
std::string done(const Snapshot& snapshot) {
  return viz::fixed_number(100 * snapshot.fraction, 0) + " %";
}

/// The model, the prompt's length and how long the run took.
std::string about_run(const Ui& ui) {
  const Snapshot& snapshot = ui.snapshot;
  std::string words;
  if (snapshot.run) {
    const bool other = ui.state.side == Side::baseline && snapshot.run->baseline;
    const double time = snapshot.run->milliseconds;
    words = counted((other ? *snapshot.run->baseline : *snapshot.run).tokens.run_length, "token") + " · ";
    if (!ui.input.frame.still) words += viz::fixed_number(time, time < 10 ? 1 : 0) + " ms · ";
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

void say_loading(Ui& ui, std::vector<Ui::Part>& line) {
  if (ui.snapshot.busy != Busy::loading) return;
  say(ui, line, "loading " + ui.snapshot.loading + " " + done(ui.snapshot), ui.theme().accent);
  line.push_back(ui.button("Cancel", {.tip = "Keep the current model  Esc"},
                           change(&UiState::load_cancel, ui.state.load_request)));
}

/// Paragraphs in a card that can be closed, cut off the bottom of a rectangle.
void draw_card(Ui& ui, Rect& rest, const std::vector<std::string>& words, viz::Color color, const char* close,
               const char* tip, Action action) {
  const float pad = ui.u(14), room = rest.w - pad - ui.u(46);
  float height = ui.u(18);
  for (const std::string& paragraph : words) height += ui.paragraph_height(paragraph, room);
  Rect card = cut_bottom(rest, std::ceil(height), ui.u(6));
  card.y = std::round(card.y);
  ui.begin_group();
  ui.fill(card, viz::blended(ui.theme().surface, color.with_alpha(26)), ui.u(8));
  ui.stroke(card, color, 1, ui.u(8));
  Rect line{card.x + pad, card.y + ui.u(8), room, 0};
  for (const std::string& paragraph : words) line.y += ui.paragraph(paragraph, line, ui.theme().text);
  ui.place({card.x, card.y + ui.u(4), card.w - ui.u(6), ui.u(28)},
           {{.grows = true}, ui.sign("×", close, tip, std::move(action))});
  ui.begin_group();
}

/// What the folders of the open models have that is not used, as far as it is not `closed`, to which what is
/// returned is added.
std::vector<std::string> warnings(const Snapshot& snapshot, std::vector<std::string>& closed) {
  constexpr std::size_t kMaxWarnings = 3;
  std::vector<std::string> words;
  int more = 0;
  for (const auto& model : {snapshot.model, snapshot.second_model}) {
    if (!model) continue;
    const std::string folder = system::text_of(model->folder);
    for (const std::string& text : model->warnings) {
      if (std::ranges::count(closed, text) > 0) continue;  // or another model has the same one
      if (words.size() == kMaxWarnings) {
        ++more;
        continue;
      }
      closed.push_back(text);  // only what is shown: the next ones follow
      const std::size_t rest = text.starts_with(folder) ? text.find_first_not_of("/\\: ", folder.size()) : 0;
      words.push_back(model->name + ": " + text.substr(std::min(rest, text.size())));
    }
  }
  if (more > 0) words.push_back("and " + std::to_string(more) + " more");
  return words;
}

std::vector<Ui::Part> progress(Ui& ui) {
  const FetchState& fetching = ui.state.fetching;
  const bool cancelled = fetching.stop.stop_requested();
  FetchProgress progress = fetching.progress;
  progress.file.clear();  // only the progress, without the file's name
  return {ui.words("Fetching " + to_text(*fetching.model), ui.theme().text),
          ui.words(cancelled ? "cancelling…" : progress_text(progress), ui.theme().text_muted),
          {.grows = true},
          ui.button("Cancel",
                    {.unavailable = cancelled ? "It is being cancelled." : "",
                     .tip = "The partial download is kept for the next time",
                     .name = "Cancel fetching"},
                    [](UiState& s, ReduceContext&) { s.fetching.stop.request_stop(); })};
}

std::vector<Ui::Part> offer(Ui& ui) {
  const KnownModel& model =
      *std::ranges::find(kKnownModels, std::string_view("gpt2"), &KnownModel::short_name);
  const auto here = std::ranges::find(ui.state.models, model.repository, &DiscoveredModel::name);
  const std::string words = "“tales” is a miniature GPT-2 trained on children's books. GPT-2 itself is " +
                            bytes_text(model.bytes) + " on the Hugging Face hub.";
  return {ui.words(words, ui.theme().text_muted, Ui::kSmall, true),
          here != ui.state.models.end()
              ? ui.button("Open GPT-2", {.tip = system::text_of(here->folder)}, OpenModel{here->folder})
              : ui.button("Fetch GPT-2", {.tip = "Fetch it into the Hugging Face cache and open it"},
                          FetchModel{{std::string(model.repository)}}),
          ui.sign("×", "Close the offer", "Do not offer this again", change(&UiState::offer_models, false))};
}

/// Whether a larger model is offered.
bool offers_models(const UiState& state, const Snapshot& snapshot) {
  return state.offer_models && state.can_fetch && !state.fetching.model && snapshot.model &&
         snapshot.model->folder == state.examples_model;
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
    const Snapshot& now = ui.snapshot;
    if (now.run) say_selection(ui, line);
    if (const auto next = ask(*ui.input.answers, NextAfter{ui.state.selection.query});
        next && !next->not_finite.empty())
      say(ui, line, next->not_finite, ui.theme().error);
    if (now.busy == Busy::running && now.run && now.run->prompt != prompt_of(ui.state))
      say(ui, line, now.fraction < 0.01 ? "computing…" : "computing… " + done(now), ui.theme().accent);
  }
  line.push_back({.grows = true});
  if (!hovers) say(ui, line, about_run(ui), ui.theme().text_muted);
  ui.place(rect, line, 14);
}

void draw_bars(Ui& ui, Rect& rest) {
  if (const Message& message = ui.state.message; message.is_error && !message.text.empty())
    draw_card(ui, rest, {message.text}, ui.theme().error, "Close the message", "Close  Esc", ShowMessage{});
  std::vector<std::string> closed = ui.state.closed_warnings;
  if (const auto words = warnings(ui.snapshot, closed); !words.empty())
    draw_card(ui, rest, words, ui.theme().text_muted, "Close the warnings", "Close",
              change(&UiState::closed_warnings, std::move(closed)));
  const bool fetches = ui.state.fetching.model.has_value();
  if (!fetches && !offers_models(ui.state, ui.snapshot)) return;
  ui.begin_group();
  ui.place(cut_bottom(rest, ui.u(28), ui.u(8)), fetches ? progress(ui) : offer(ui));
  ui.begin_group();
}

}  // namespace headscope::app
