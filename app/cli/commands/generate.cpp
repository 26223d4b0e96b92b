#include <ostream>
#include <vector>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/prompt_source.h"
#include "model/error.h"
#include "model/sampling.h"

namespace headscope::app {

void run_generate(const GenerateCommand& command, const Streams& streams) {
  PromptSource source(command.prompt, streams.in);
  const Prompt prompt = source.next().value();
  Engine engine = start_engine(command.model);
  const model::Transformer& transformer = *engine.model->transformer;
  const model::Tokenizer& tokenizer = *engine.model->tokenizer;
  std::vector<int> ids = tokenize_whole(*engine.model, prompt, source.where()).ids();
  if (command.echo)
    streams.out << (prompt.ids.empty() ? prompt.text : tokenizer.decode(prompt.ids)) << std::flush;

  model::Sampler sampler(command.sampling, command.seed);
  std::vector<float> logits(static_cast<std::size_t>(engine.config().vocab_size));
  std::shared_ptr<const model::Run> run;
  for (int made = 0; made < command.tokens; ++made) {
    // Each run shares the pages of the last one: only the new token is computed.
    model::ForwardOptions options;
    options.base = run.get();
    run = transformer.forward(ids, engine.workspace, options);
    transformer.logits(*run, run->length() - 1, 1, engine.workspace, logits);
    const int id = [&] {
      try {
        return sampler.draw(logits);
      } catch (const model::RunError&) {
        throw model::RunError("no next token can be drawn: the run has " +
                              not_finite_note(*run, run->length() - 1, logits));
      }
    }();
    if (id == tokenizer.end_of_text()) {
      streams.err << "headscope: the model ended the text after " << made << " of " << command.tokens
                  << " tokens\n";
      break;
    }
    streams.out << tokenizer.bytes(id) << std::flush;
    if (run->length() == engine.config().n_ctx && made + 1 < command.tokens) {
      streams.err << "headscope: stopped after " << made + 1 << " of " << command.tokens
                  << " tokens: the context of " << engine.config().n_ctx << " tokens is full\n";
      break;
    }
    ids.push_back(id);
  }
}

}  // namespace headscope::app
