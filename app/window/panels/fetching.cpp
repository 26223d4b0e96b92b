// The line above the status line: how far a model has come from the hub, or the offer of one.
#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kSize = 0.93F;
constexpr std::string_view kOffered = "gpt2";

const KnownModel& offered() {
  return *std::ranges::find(known_models(), kOffered, &KnownModel::short_name);
}

/// The rest of a line, of which things take their places from the right.
Rect at_right(Rect& rest, float width, float gap) {
  rest.w = std::max(0.0F, rest.w - width - gap);
  return {rest.right() + gap, rest.y, width, rest.h};
}

void draw_progress(Ui& ui, Rect line) {
  const Fetching& fetching = ui.state.fetching;
  FetchProgress progress = fetching.progress;
  progress.file.clear();  // how much is said, not of what
  const float gap = ui.u(12);
  if (ui.button(at_right(line, ui.button_width("Cancel"), gap), "Cancel",
                {.enabled = !fetching.cancelled,
                 .tip = "What has come is kept for the next time",
                 .name = "Cancel fetching"}))
    ui.actions.emplace_back(CancelFetch{});

  const std::string name = "Fetching " + to_text(*fetching.model);
  const float wide = std::min(line.w, std::ceil(ui.width(name, viz::FontStyle::medium, kSize)) + gap);
  ui.text(name, {line.x, line.y, wide, line.h}, ui.theme().text, viz::FontStyle::medium, kSize);
  line = {line.x + wide, line.y, line.w - wide, line.h};

  const float bar = std::min(ui.u(160), line.w / 4), thick = ui.u(6);
  const Rect whole{line.x, std::round(line.center().y - thick / 2), bar, thick};
  const double part =
      progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : 0;
  ui.fill(whole, ui.theme().line, thick / 2);
  if (part > 0)
    ui.fill({whole.x, whole.y, std::max(thick, bar * static_cast<float>(part)), thick}, ui.theme().accent,
            thick / 2);
  line = {line.x + bar + gap, line.y, line.w - bar - gap, line.h};
  ui.text(fetching.cancelled ? "cancelling…" : progress_text(progress), line, ui.theme().text_muted,
          viz::FontStyle::regular, kSize);
}

void draw_offer(Ui& ui, Rect line) {
  const float gap = ui.u(8);
  const KnownModel& model = offered();
  const auto here = std::ranges::find(ui.state.models, model.repository, &DiscoveredModel::name);
  if (ui.button(at_right(line, line.h, gap), "×",
                {.look = Ui::Look::plain, .tip = "Do not offer this again", .name = "Close the offer"}))
    ui.actions.emplace_back(DismissOffer{});
  if (here != ui.state.models.end()) {
    if (ui.button(at_right(line, ui.button_width("Open GPT-2"), gap), "Open GPT-2",
                  {.tip = here->folder.string()}))
      ui.actions.emplace_back(OpenModel{here->folder});
  } else if (ui.button(at_right(line, ui.button_width("Fetch GPT-2"), gap), "Fetch GPT-2",
                       {.tip = "Fetch it into the Hugging Face cache, and open it then"})) {
    ui.actions.emplace_back(FetchModel{{std::string(model.repository)}});
  }
  ui.text("This is a small model that has read children's books. GPT-2 itself takes " +
              bytes_text(model.bytes) + " from the Hugging Face hub; larger ones are in the menu of models.",
          line, ui.theme().text_muted, viz::FontStyle::regular, kSize);
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
