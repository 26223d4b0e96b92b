#include <ostream>
#include <string_view>
#include <vector>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/prompt_source.h"
#include "model/error.h"
#include "model/sampling.h"

namespace headscope::app {
namespace {

/// Generated text as it comes: byte for byte for a program that reads it; on a terminal its last line ends,
/// so that neither a message nor the shell's prompt goes on in it.
class Text {
 public:
  explicit Text(const Streams& streams) : streams_(streams) {}

  void write(std::string_view bytes) {
    streams_.out << bytes << std::flush;
    if (!bytes.empty()) line_is_open_ = !bytes.ends_with('\n');
  }

  void end() {
    if (streams_.out_is_terminal && line_is_open_) write("\n");
  }

 private:
  const Streams& streams_;
  bool line_is_open_ = false;
};

}  // namespace

void run_generate(const GenerateCommand& command, const Streams& streams) {
  PromptSource source(command.prompt, streams.in);
  const Prompt prompt = source.next().value();
  Engine engine = start_engine(command.model, command.prompt.edits);
  const model::Transformer& transformer = *engine.model->transformer;
  const model::Tokenizer& tokenizer = *engine.model->tokenizer;
  std::vector<int> ids = tokenize_whole(*engine.model, prompt, source.where()).ids();
  Text text(streams);
  if (command.echo) text.write(prompt.ids.empty() ? prompt.text : tokenizer.decode(prompt.ids));

  std::vector<float> logits(static_cast<std::size_t>(engine.config().vocab_size));
  std::shared_ptr<const model::Run> run;
  for (int made = 0; made < command.tokens; ++made) {
    // Each run shares the pages of the last one: only the new token is computed.
    model::ForwardOptions options;
    options.base = run.get();
    options.plan = engine.plan;
    run = transformer.forward(ids, engine.workspace, options);
    transformer.logits(*run, run->length() - 1, 1, engine.workspace, logits);
    const int id = [&] {
      try {
        return model::draw_token(logits, command.sampling, command.seed, run->length());
      } catch (const model::RunError&) {
        text.end();
        throw model::RunError("no next token can be drawn: the run has " +
                              not_finite_note(*run, run->length() - 1, logits));
      }
    }();
    if (id == tokenizer.end_of_text()) {
      text.end();
      streams.err << "headscope: the model ended the text after " << made << " of " << command.tokens
                  << " tokens\n";
      break;
    }
    text.write(tokenizer.bytes(id));
    if (run->length() == engine.config().n_ctx && made + 1 < command.tokens) {
      text.end();
      streams.err << "headscope: stopped after " << made + 1 << " of " << command.tokens
                  << " tokens: the context of " << engine.config().n_ctx << " tokens is full\n";
      break;
    }
    ids.push_back(id);
  }
  text.end();
}

}  // namespace headscope::app
