#pragma once
#include <memory>
#include <utility>

#include "app/run/question.h"

namespace headscope::app {

/// A run of a model that lies in no folder and has no tokenizer; without a run: what is asked of the model.
inline PromptRun run_of_model(std::shared_ptr<const model::Transformer> transformer,
                              std::shared_ptr<const model::Run> run = nullptr) {
  LoadedModel model;
  model.transformer = std::move(transformer);
  PromptRun made;
  made.model = std::make_shared<const LoadedModel>(std::move(model));
  made.run = std::move(run);
  return made;
}

}  // namespace headscope::app
