#include <ostream>

#include "app/cli/batch.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/attribution.h"
#include "app/text/json_text.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

void write_json(const model::Tokenizer& tokenizer, const BestWeights& found, std::ostream& out) {
  const auto token = [&](int position, int id) {
    Json object = token_json(id, tokenizer.bytes(id));
    object["position"] = position;
    return object;
  };
  Json best = Json::array();
  for (const FoundWeight& f : found.best()) {
    best.push_back({{"prompt", f.prompt},
                    {"layer", f.layer},
                    {"head", f.head},
                    {"query", token(f.query, f.query_id)},
                    {"key", token(f.key, f.key_id)},
                    {"weight", f.weight}});
  }
  out << json_line(Json{{"count", found.count()}, {"best", std::move(best)}}) << '\n';
}

void write_text(const model::Tokenizer& tokenizer, const BestWeights& found, std::ostream& out) {
  const std::vector<FoundWeight> best = found.best();
  out << grouped(found.count()) << (found.count() == 1 ? " weight" : " weights");
  if (static_cast<std::int64_t>(best.size()) < found.count())
    out << ", the largest " << grouped(std::ssize(best));
  out << '\n';
  if (best.empty()) return;
  out << format("%8s %7s %-8s %6s %6s  %s\n", "weight", "prompt", "head", "query", "key", "tokens");
  for (const FoundWeight& f : best) {
    out << format("%8.4f %7d %-8s %6d %6d  ", static_cast<double>(f.weight), f.prompt,
                  head_name(f.layer, f.head).c_str(), f.query, f.key)
        << viz::visible(tokenizer.bytes(f.query_id)) << " → " << viz::visible(tokenizer.bytes(f.key_id))
        << '\n';
  }
}

}  // namespace

void run_command(const SearchCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model, command.prompt.edits);
  BestWeights found(static_cast<std::size_t>(command.top));
  bool some = false;
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const PromptRun run = run_prompt(engine, prompt, source.where());
    warn_about(run, source.where(), streams.err);
    search_weights(run, command.search, source.number(), engine.workspace, found);
    some = true;
  });
  if (!some && command.prompt.shard.count == 1)
    throw model::RunError("there is no prompt in " + command.prompt.file.string());
  const model::Tokenizer& tokenizer = *engine.model->tokenizer;
  if (command.json) {
    write_json(tokenizer, found, streams.out);
  } else {
    write_text(tokenizer, found, streams.out);
  }
}

}  // namespace headscope::app
