#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "app/view.h"
#include "model/transformer.h"
#include "tests/viz/pictures.h"

namespace headscope::app::testing {

inline const std::filesystem::path kBundledModel =
    std::filesystem::path(HEADSCOPE_SOURCE_DIR) / "assets/models/tales";

inline std::shared_ptr<const LoadedModel> bundled() {
  static const auto model = load_model(kBundledModel, {});
  return model;
}

/// A prompt of some tokens of every kind of length, spaces and line ends among them.
inline std::string long_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text +=
        "The old king had three daughters, and the youngest was so beautiful that the sun itself "
        "wondered.\nOnce, No. " +
        std::to_string(i * 37) + ": \"Naïve café!\"\n";
  }
  return text;
}

/// A run with all that views can ask for.
struct Scenario {
  PromptRun run;
  HeadData head;
  Thumbnails thumbnails;
  Statistics statistics;
  NextToken next;
  Selection selection;

  explicit Scenario(const Prompt& prompt, Selection wanted = {2, 1, -1}) {
    model::Workspace workspace(2);
    run.model = bundled();
    run.prompt = prompt;
    run.tokens = tokenize(*run.model, prompt);
    run.run = run.model->transformer->forward(run.tokens.ids(), workspace);
    select(wanted, workspace);
    const model::Config& config = run.run->config;
    std::vector<model::HeadIndex> heads;
    for (int i = 0; i < config.n_layer * config.n_head; ++i) {
      heads.push_back({i / config.n_head, i % config.n_head});
    }
    thumbnails.of_head = compute_thumbnails(run, heads, workspace);
    statistics = compute_statistics(run, workspace, {});
  }
  explicit Scenario(const std::string& text) : Scenario(Prompt{text, {}, false}) {}

  /// The first `length` tokens of a long text.
  static Scenario of_length(int length) {
    PromptTokens tokens = tokenize(*bundled(), Prompt{long_text(), {}, false});
    return Scenario(long_text().substr(0, tokens.tokens[static_cast<std::size_t>(length) - 1].end));
  }

  void select(Selection wanted, model::Workspace& workspace) {
    selection = clamped(wanted, run);
    head = compute_head(run, selection.layer, selection.head, true);
    next = compute_next(run, selection.query, workspace);
  }

  ViewContext context(float width, float height, const viz::Theme& theme) const {
    ViewContext c;
    c.run = &run;
    c.head = &head;
    c.thumbnails = &thumbnails;
    c.statistics = &statistics;
    c.next = &next;
    c.selection = selection;
    c.theme = &theme;
    c.fonts = viz::testing::fonts().get();
    c.width = width;
    c.height = height;
    return c;
  }
};

inline const viz::Theme& light() {
  static const viz::Theme theme = viz::light_theme();
  return theme;
}
inline const viz::Theme& dark() {
  static const viz::Theme theme = viz::dark_theme();
  return theme;
}

}  // namespace headscope::app::testing
