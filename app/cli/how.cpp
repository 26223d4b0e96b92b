#include "app/cli/how.h"

#include "app/cli/recipes.h"
#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/run/sources/paths.h"
#include "app/text/output_text.h"

namespace headscope::app {
namespace {

/// A prompt's text, or that of its ids.
Json prompt_json(const model::Tokenizer& tokenizer, const Prompt& prompt) {
  return utf8_or_replacement(prompt.ids.empty() ? prompt.text : tokenizer.decode(prompt.ids));
}

}  // namespace

std::string program_name() {
  return "headscope " + version();
}

Json list_json(const ListFile& list) {
  return {{"file", utf8_or_replacement(list.name)}, {"sha256", list.sha256}, {"prompts", list.prompts}};
}

Json texts_json(std::span<const std::string> texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(utf8_or_replacement(text));
  return list;
}

Json how_made(const Arguments& a, const Engine& engine) {
  const WeightHashes weights = weights_of(engine);
  const auto named = [](const LoadedModel& of, const std::string& hash) {
    return Json{{"model", utf8_or_replacement(of.name)}, {"weights", hash}};
  };
  Json how = {{"program", program_name()}}, edits = Json::array();
  how.update(named(*engine.model, weights.model));
  for (const model::Edit& edit : engine.given_edits) edits.push_back(utf8_or_replacement(edit_text(edit)));
  how["second_model"] = engine.second ? named(*engine.second, weights.second) : Json(nullptr);
  how["precision"] = name_of(a.session.precision);
  how["start_token"] = has_start_token(*engine.model, a.session.prompt.start_token);
  how["edits"] = std::move(edits);
  if (const auto& list = engine.mean_over) {
    how["mean_over"] = list_json(list->file);
    how["mean_over"]["tokens"] = list->tokens;
  }
  if (const auto warnings = engine.warnings(); !warnings.empty()) how["warnings"] = texts_json(warnings);
  return how;
}

Json with_prompt(Json how, const PromptRun& run) {
  if (run.model->tokenizer == nullptr) return how;  // attention patterns
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  how["prompt"] = prompt_json(tokenizer, run.prompt);
  const bool compared = run.baseline && compares_texts(run);
  how["second_prompt"] = compared ? prompt_json(tokenizer, run.baseline->prompt) : Json(nullptr);
  if (!compared) return how;
  Json& counterparts = how["counterparts"] = Json::array();
  for (const int position : run.aligned)
    counterparts.push_back(position < 0 ? Json(nullptr) : Json(position));
  return how;
}

Json token_json(const model::Tokenizer& tokenizer, int id) {
  const std::string_view bytes = tokenizer.bytes(id);
  return {{"id", id},
          {"text", utf8_or_replacement(tokenizer.text(id))},
          {"bytes", std::vector<unsigned char>(bytes.begin(), bytes.end())}};
}

}  // namespace headscope::app
