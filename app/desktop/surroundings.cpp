#include <algorithm>
#include <exception>

#include "app/desktop/doctor.h"
#include "app/recipe/settings.h"
#include "app/run/memory_budget.h"
#include "app/run/prompt_run.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/version.h"
#include "model/files/tensor_source.h"
#include "model/kernels/panels.h"
#include "system/machine.h"
#include "system/path_text.h"
#include "system/picture_clipboard.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

/// Whether a font has all characters of a text.
bool shows(const viz::Fonts& fonts, std::string_view text) {
  const viz::TextLayout layout = fonts.layout(text, viz::FontStyle::regular, 14);
  return std::ranges::none_of(layout.glyphs,
                              [&](const viz::Glyph& glyph) { return fonts.family(glyph).empty(); });
}

FontFacts font_facts() {
  FontFacts facts;
  try {
    const auto fonts = viz::Fonts::load();
    facts.regular = fonts->file(viz::FontStyle::regular);
    facts.medium = fonts->file(viz::FontStyle::medium);
    facts.bold = fonts->file(viz::FontStyle::bold);
    facts.mono = fonts->file(viz::FontStyle::mono);
    facts.scripts = {{"Greek, Cyrillic", "fonts-dejavu-core", shows(*fonts, "ΑωЖя")},
                     {"Arabic, Hebrew (letters alone)", "fonts-dejavu-core", shows(*fonts, "سאב")},
                     {"Chinese, Japanese", "fonts-droid-fallback", shows(*fonts, "中あ")},
                     {"Korean", "fonts-noto-cjk", shows(*fonts, "한")},
                     {"mathematics", "fonts-dejavu-core", shows(*fonts, "∑→≤")},
                     {"emoji", "fonts-symbola", shows(*fonts, "😀🚀")}};
  } catch (const std::exception& error) {
    facts.problem = error.what();
  }
  return facts;
}

/// Checks that a model's files exist and are complete, without reading the weights.
ModelFact model_fact(std::string name, const fs::path& folder) {
  ModelFact fact{std::move(name), folder, {}};
  try {
    if (!is_gpt2(folder)) {
      fact.problem = "GPT-2 is no longer in " + system::text_of(folder);
    } else {
      model::TensorSource::open(folder);
    }
  } catch (const std::exception& error) {
    fact.problem = error.what();
  }
  return fact;
}

void look_at_bundled(Surroundings& facts) {
  facts.bundled.name = "tales";
  try {
    facts.bundled.folder = bundled_model();
    const auto model = load_model(facts.bundled.folder, {});
    facts.window_memory = memory_budget(*model->transformer, std::max(1, facts.processors)).total();
  } catch (const std::exception& error) {
    facts.bundled.problem = error.what();
  }
}

void look_at_cache(Surroundings& facts, const Environment& environment) {
  facts.cache = hugging_face_cache(environment);
  if (!facts.cache) return;
  for (const DiscoveredModel& model : discover_models(*facts.cache))
    facts.cached.push_back(model_fact(model.name, model.folder));
}

void look_at_settings(Surroundings& facts, const Environment& environment) {
  const auto folder = config_folder(environment);
  if (!folder) return;
  facts.settings = *folder / kSettingsFile;
  const LoadedSettings loaded = load_settings(*facts.settings);
  facts.settings_problem = loaded.message;
  for (const fs::path& recent : loaded.settings.recent_models) {
    const auto same = [&](const ModelFact& model) { return model.folder == recent; };
    if (!same(facts.bundled) && std::ranges::none_of(facts.cached, same))
      facts.recent.push_back(model_fact(system::text_of(recent), recent));
  }
}

}  // namespace

Surroundings surroundings(const Environment& environment) {
  Surroundings facts;
  facts.windows = system::is_windows();
  facts.macos = system::is_macos();
  facts.version = version();
  facts.build = HEADSCOPE_BUILD;
  for (const model::PanelKernels& kernels : model::runnable_kernels()) facts.loops.emplace_back(kernels.name);
  facts.processor = system::processor_name();
  facts.processors = system::available_processors();
  const system::MemoryFacts memory = system::memory_here();
  facts.memory = memory.all;
  facts.memory_free = memory.free;
  facts.fonts = font_facts();
  look_at_bundled(facts);
  look_at_cache(facts, environment);
  look_at_settings(facts, environment);
  if (const auto clipboard = system::picture_clipboard(environment))
    facts.clipboard = clipboard->program.empty() ? "Windows" : system::text_of(clipboard->program);
  return facts;
}

}  // namespace headscope::app
