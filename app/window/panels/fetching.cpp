// The line above the status line: the progress of a fetch from the hub, or the offer of a model.
#include <algorithm>

#include "app/window/panels/panels.h"
#include "system/path_text.h"

namespace headscope::app {

using viz::Rect;

namespace {

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
  Ui::Part words =
      ui.words("“tales” is a miniature GPT-2 trained on children's books. GPT-2 itself is a download of " +
                   bytes_text(model.bytes) + " from the Hugging Face hub; larger ones are in the model menu.",
               ui.theme().text_muted);
  words.grows = true;
  return {std::move(words),
          here != ui.state.models.end()
              ? ui.button("Open GPT-2", {.tip = system::text_of(here->folder)}, OpenModel{here->folder})
              : ui.button("Fetch GPT-2", {.tip = "Fetch it into the Hugging Face cache and open it"},
                          FetchModel{{std::string(model.repository)}}),
          ui.sign("×", "Close the offer", "Do not offer this again", change(&UiState::offer_models, false))};
}

}  // namespace

Bar fetching_bar(Ui& ui) {
  const bool fetches = ui.state.fetching.model.has_value();
  if (!fetches && !offers_models(ui.state, ui.snapshot)) return {};
  return {ui.u(36), [&ui, fetches](const Rect& rect) {
            ui.begin_group();
            ui.place({rect.x, rect.y + ui.u(6), rect.w, ui.u(28)}, fetches ? progress(ui) : offer(ui));
            ui.begin_group();
          }};
}

}  // namespace headscope::app
