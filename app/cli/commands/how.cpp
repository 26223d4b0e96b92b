#include "app/cli/commands/how.h"

#include "app/cli/commands/recipes.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/precision_names.h"
#include "app/run/version.h"

namespace headscope::app {

std::string program_name() {
  return "headscope " + version();
}

Json prompt_json(const model::Tokenizer& tokenizer, const Prompt& prompt) {
  return utf8_or_replacement(prompt.ids.empty() ? prompt.text : tokenizer.decode(prompt.ids));
}

Json How::shared(const Engine& engine) {
  if (shared_) return *shared_;
  const LoadedModel& model = *engine.model;
  const WeightHashes weights = weights_of(engine);
  Json edits = Json::array();
  for (const model::Edit& edit : engine.given_edits) edits.push_back(utf8_or_replacement(edit_text(edit)));
  const auto named = [](const LoadedModel& of, const std::string& hash) {
    return Json{{"model", utf8_or_replacement(of.name)}, {"weights", hash}};
  };
  Json how = {{"program", program_name()}};
  how.update(named(model, weights.model));
  how["second_model"] = engine.second ? named(*engine.second, weights.second) : Json(nullptr);
  how["precision"] = name_of(command_.model.precision);
  how["start_token"] = has_start_token(model, command_.prompt.start_token);
  how["edits"] = std::move(edits);
  if (const auto& list = engine.mean_over) {
    how["mean_over"] = list_json(list->file);
    how["mean_over"]["tokens"] = list->tokens;
  }
  if (const auto warnings = engine.warnings(); !warnings.empty()) how["warnings"] = texts_json(warnings);
  return shared_.emplace(std::move(how));
}

Json How::of(const Engine& engine, const PromptsRun& prompts) {
  Json how = shared(engine);
  if (prompts.list) how["list"] = list_json(*prompts.list);
  return how;
}

Json How::of(const Engine& engine, const PromptRun& run) {
  Json how = shared(engine);
  const model::Tokenizer& tokenizer = *engine.model->tokenizer;
  how["prompt"] = prompt_json(tokenizer, run.prompt);
  const bool compared = run.baseline && compares_texts(run);
  how["second_prompt"] = compared ? prompt_json(tokenizer, run.baseline->prompt) : Json(nullptr);
  if (compared) {
    how["counterparts"] = Json::array();
    for (const int position : run.aligned)
      how["counterparts"].push_back(position < 0 ? Json(nullptr) : Json(position));
  }
  return how;
}

}  // namespace headscope::app
