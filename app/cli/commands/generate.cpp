#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"

namespace headscope::app {
namespace {

/// Writes generated text as it arrives: byte for byte if a program reads it. On a terminal, control
/// characters are escaped, characters are written only when complete, and the last line is ended, so that
/// messages and the shell's prompt start on a new line.
class Text {
 public:
  explicit Text(const Streams& streams) : streams_(streams) {}

  void write(std::string_view bytes) {
    if (!streams_.out_is_terminal) {
      streams_.out << bytes << std::flush;
      return;
    }
    kept_ += bytes;
    put(kept_.size() - incomplete_tail(kept_));
  }

  void end() {
    put(kept_.size());
    if (line_is_open_) streams_.out << '\n' << std::flush;
    line_is_open_ = false;
  }

 private:
  void put(std::size_t count) {
    if (count == 0) return;
    streams_.out << terminal_safe(std::string_view(kept_).substr(0, count), "\n\t") << std::flush;
    line_is_open_ = kept_[count - 1] != '\n';
    kept_.erase(0, count);
  }

  const Streams& streams_;
  std::string kept_;
  bool line_is_open_ = false;
};

/// The probability of a token at temperature 1: softmax of the logits.
double probability_of(std::span<const float> logits, int id) {
  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return std::exp(static_cast<double>(logits[static_cast<std::size_t>(id)]) - largest) / sum;
}

/// The tokens that were made, for JSON.
struct Made {
  Json tokens = Json::array();
  std::string bytes;
  const char* end = "length";  ///< why it ended: "length", "end_of_text" or "context"
};

void write_json(Json how, const GenerateCommand& command, const model::Tokenizer& tokenizer,
                const PromptTokens& prompt, Made made, std::ostream& out) {
  const model::SamplingOptions& sampling = command.sampling;
  how["sampling"] = {{"temperature", sampling.temperature},
                     {"top_k", sampling.top_k},
                     {"top_p", sampling.top_p},
                     {"seed", command.seed}};
  write_json_line(
      how, tokenizer, prompt.tokens,
      {{"generated", std::move(made.tokens)}, {"text", utf8_or_replacement(made.bytes)}, {"end", made.end}},
      out);
}

void run_generate(const GenerateCommand& command, const Streams& streams) {
  PromptSource source(command.prompt, streams.in);
  const Prompt prompt = source.next().value();
  How how(command);
  Engine engine = start_engine(command, streams);
  const model::Transformer& transformer = *engine.model->transformer;
  const model::Tokenizer& tokenizer = *engine.model->tokenizer;
  const PromptTokens prompt_tokens = tokenize_whole(*engine.model, prompt, source.where());
  std::vector<int> ids = prompt_tokens.ids();
  std::ostringstream nowhere;
  const Streams silent{streams.in, nowhere, streams.err, false, streams.err_is_terminal};
  Text text(command.json ? silent : streams);
  Made result;
  if (command.echo) text.write(prompt.ids.empty() ? prompt.text : tokenizer.decode(prompt.ids));

  std::vector<float> logits(engine.config().vocab_size);
  std::shared_ptr<const model::Run> run;
  for (int made = 0; made < command.tokens; ++made) {
    // Each run reuses the previous run's pages, so only the new token is computed.
    model::ForwardOptions options;
    options.base = run.get();
    options.plan = plan_for(engine, ids);
    run = transformer.forward(ids, engine.workspace, options);
    transformer.logits(*run, run->length() - 1, 1, engine.workspace, logits);
    const int id = [&] {
      try {
        return model::draw_token(logits, command.sampling, command.seed, run->length());
      } catch (const model::RunError&) {
        text.end();
        throw model::RunError("cannot sample a next token: " +
                              not_finite_note(*run, run->length() - 1, logits));
      }
    }();
    if (id == tokenizer.end_of_text()) {
      text.end();
      result.end = "end_of_text";
      streams.err << "headscope: the model ended the text after " << made << " of " << command.tokens
                  << " tokens\n";
      break;
    }
    text.write(tokenizer.text(id));
    if (command.json) {
      Json token = token_json(tokenizer, id);
      token["probability"] = probability_of(logits, id);
      result.tokens.push_back(std::move(token));
      result.bytes += tokenizer.text(id);
    }
    if (run->length() == engine.config().n_ctx && made + 1 < command.tokens) {
      text.end();
      result.end = "context";
      streams.err << "headscope: stopped after " << made + 1 << " of " << command.tokens
                  << " tokens: the context of " << engine.config().n_ctx << " tokens is full\n";
      break;
    }
    ids.push_back(id);
  }
  text.end();
  if (!command.json) return;
  PromptRun made;
  made.prompt = prompt;
  write_json(how.of(engine, made), command, tokenizer, prompt_tokens, std::move(result), streams.out);
}

}  // namespace

Finish describe_generate(CommandSyntax& command) {
  const auto own = std::make_shared<GenerateCommand>();
  command.computing();
  command.prompt(false);
  command.edits();
  command.option("tokens", "N", "maximum number of new tokens (default: 40)", own->tokens, whole(0));
  command.option("temperature", "X", "temperature; 0: always the most probable token (default: 1)",
                 own->sampling.temperature, between(0, 1e6, "from 0 up"));
  command.option("top-k", "K", "sample from the K most probable tokens (default 0: from all)",
                 own->sampling.top_k, whole(0));
  command.option("top-p", "P", "sample from the fewest tokens whose total probability reaches P (default: 1)",
                 own->sampling.top_p, between(0, 1, "from 0 to 1"));
  command.option("seed", "S", "the same seed gives the same text (default: 0)", own->seed, seed_number);
  command.flag("echo", "write the prompt first", own->echo);
  command.answer_out();
  const auto check = [](const GenerateCommand& generate) {
    require_prompt(generate);
    if (generate.echo && generate.json) throw UsageError("--echo is for text; JSON has the prompt's tokens");
  };
  return command.finish(own, check, run_generate);
}

}  // namespace headscope::app
