// The line above the status line: the progress of a fetch from the hub, or the offer of a model.
#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"
#include "system/path_text.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr std::string_view kOffered = "gpt2";

const KnownModel& offered() {
  return *std::ranges::find(kKnownModels, kOffered, &KnownModel::short_name);
}

void draw_progress(Ui& ui, const Rect& rect) {
  const FetchState& fetching = ui.state.fetching;
  FetchProgress progress = fetching.progress;
  progress.file.clear();  // only the progress, without the file's name
  RowLayout line(rect, ui.u(12));
  if (ui.button(line.right(ui.button_width("Cancel")), "Cancel",
                {.unavailable = fetching.cancelled ? "It is being cancelled." : "",
                 .tip = "The partial download is kept for the next time",
                 .name = "Cancel fetching"}))
    ui.actions.emplace_back(CancelFetch{});
  const std::string name = "Fetching " + to_text(*fetching.model);
  ui.text(name, line.left(std::ceil(ui.width(name, viz::FontStyle::medium, Ui::kSmall))), ui.theme().text,
          viz::FontStyle::medium, Ui::kSmall);

  const float thick = ui.u(6);
  Rect bar = line.left(std::min(ui.u(160), line.rest().w / 4));
  bar = {bar.x, std::round(bar.center().y - thick / 2), bar.w, thick};
  const double part =
      progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : 0;
  ui.fill(bar, ui.theme().line, thick / 2);
  if (part > 0)
    ui.fill({bar.x, bar.y, std::max(thick, bar.w * static_cast<float>(part)), thick}, ui.theme().accent,
            thick / 2);
  ui.small(fetching.cancelled ? "cancelling…" : progress_text(progress), line.rest(), ui.theme().text_muted);
}

void draw_offer(Ui& ui, const Rect& rect) {
  RowLayout line(rect, ui.u(8));
  const KnownModel& model = offered();
  const auto here = std::ranges::find(ui.state.models, model.repository, &DiscoveredModel::name);
  if (ui.icon(line.right(rect.h), Icon::close, "Close the offer", "Do not offer this again"))
    ui.actions.emplace_back(change(&UiState::offer_models, false));
  if (here != ui.state.models.end()) {
    if (ui.button(line.right(ui.button_width("Open GPT-2")), "Open GPT-2",
                  {.tip = system::text_of(here->folder)}))
      ui.actions.emplace_back(OpenModel{here->folder});
  } else if (ui.button(line.right(ui.button_width("Fetch GPT-2")), "Fetch GPT-2",
                       {.tip = "Fetch it into the Hugging Face cache and open it"})) {
    ui.actions.emplace_back(FetchModel{{std::string(model.repository)}});
  }
  ui.small("“tales” is a miniature GPT-2 trained on children's books. GPT-2 itself is a download of " +
               bytes_text(model.bytes) + " from the Hugging Face hub; larger ones are in the model menu.",
           line.rest(), ui.theme().text_muted);
}

}  // namespace

float fetching_height(const Ui& ui) {
  return ui.state.fetching.model || offers_models(ui.state, ui.snapshot) ? ui.u(36) : 0;
}

void draw_fetching(Ui& ui, const Rect& rect) {
  const Rect line{rect.x, rect.y + ui.u(6), rect.w, rect.h - ui.u(8)};
  ui.begin_pane("fetching", line, false);
  if (ui.state.fetching.model) {
    draw_progress(ui, line);
  } else {
    draw_offer(ui, line);
  }
  ui.end_pane();
}

}  // namespace headscope::app
