#include "app/run/capabilities.h"

#include "app/run/prompt_run.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {

std::string missing(const std::string& name, Capabilities there, Capabilities needed) {
  const Capabilities lacking = needed.without(there);
  if (lacking == Capabilities()) return "";
  const std::string called = model::quote(name);
  if (lacking.has(Capability::weights))
    return "this needs a model's weights; " + called + " holds only attention patterns";
  switch (lacking.first()) {
    case Capability::patterns:
      return "this needs attention patterns; " + called + " has no attention";
    case Capability::positions_table:
      return "this needs position embeddings (wpe); " + called + " has none";
    case Capability::mlp:
      return "this needs an MLP with neurons; " + called + " has none";
    case Capability::tokenizer:
      return "this needs a tokenizer; " + called + " has none";
    case Capability::weights:
      break;
  }
  return "";
}

std::string missing(const LoadedModel& model, Capabilities needed) {
  const Capabilities there = model.capabilities();
  return there.has(needed) ? "" : missing(system::text_of(model.folder.filename()), there, needed);
}

void require(const LoadedModel& model, Capabilities needed) {
  if (const std::string why = missing(model, needed); !why.empty()) throw model::RunError(why);
}

}  // namespace headscope::app
