#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/cli/answer_file.h"
#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/cli/prompts.h"
#include "app/run/analyses/predictions.h"
#include "app/text/output_text.h"
#include "model/tokens/sampling.h"
#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

struct Sampling {
  int tokens = 40;
  model::SamplingOptions options;
  std::uint64_t seed = 0;
  bool echo = false;  ///< print the prompt first
};

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
    put(kept_.size() - viz::incomplete_tail(kept_));
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

Json tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens) {
  Json list = Json::array();
  for (const model::Token& token : tokens) {
    list.push_back(token_json(tokenizer, token.id));
    list.back()["start"] = token.start, list.back()["end"] = token.end;
  }
  return list;
}

void run_generate(Arguments& a, const Sampling& sampling, bool json, const Streams& streams) {
  PromptSource source(a, streams.in);
  const Prompt prompt = source.next().value();
  Engine engine = start_engine(a, streams);
  const model::Transformer& transformer = *engine.model->transformer;
  const model::Tokenizer& tokenizer = *engine.model->tokenizer;
  std::ostringstream nowhere;
  const Streams silent{streams.in, nowhere, streams.err, false, streams.err_is_terminal};
  Text text(json ? silent : streams);
  Made result;
  if (sampling.echo) text.write(prompt.ids.empty() ? prompt.text : tokenizer.decode(prompt.ids));
  const PromptRun first = run_prompt(engine, a, prompt, source.where(), ComparedWith::nothing);
  std::vector<int> ids = first.tokens.ids();
  std::vector<float> logits(transformer.config().vocab_size);
  std::shared_ptr<const model::Run> run = first.run;
  for (int made = 0; made < sampling.tokens; ++made) {
    if (made > 0) {  // reuses the previous run's pages, so only the new token is computed
      const auto plan =
          plan_for(ids, engine.plan.plan, *engine.model, engine.second.get(), {engine.workspace});
      run = transformer.forward(ids, engine.workspace, {.base = run.get(), .plan = plan});
    }
    transformer.logits(*run, run->length() - 1, 1, engine.workspace, logits);
    const int id = [&] {
      try {
        return model::draw_token(logits, sampling.options, sampling.seed, run->length());
      } catch (const model::RunError&) {
        text.end();
        throw model::RunError("cannot sample a next token: " +
                              not_finite_note(*run, run->length() - 1, logits));
      }
    }();
    if (id == tokenizer.end_of_text()) {
      text.end();
      result.end = "end_of_text";
      streams.err << "headscope: the model ended the text after " << made << " of " << sampling.tokens
                  << " tokens\n";
      break;
    }
    text.write(tokenizer.text(id));
    if (json) {
      Json token = token_json(tokenizer, id);
      token["probability"] = probability_of(logits, id);
      result.tokens.push_back(std::move(token));
      result.bytes += tokenizer.text(id);
    }
    if (run->length() == transformer.config().n_ctx && made + 1 < sampling.tokens) {
      text.end();
      result.end = "context";
      streams.err << "headscope: stopped after " << made + 1 << " of " << sampling.tokens
                  << " tokens: the context of " << transformer.config().n_ctx << " tokens is full\n";
      break;
    }
    ids.push_back(id);
  }
  text.end();
  if (!json) return;
  Json how = with_prompt(how_made(a, engine), first);
  how["sampling"] = {{"temperature", sampling.options.temperature},
                     {"top_k", sampling.options.top_k},
                     {"top_p", sampling.options.top_p},
                     {"seed", sampling.seed}};
  streams.out << json_line({{"how", std::move(how)},
                            {"tokens", tokens_json(tokenizer, first.tokens.tokens)},
                            {"generated", std::move(result.tokens)},
                            {"text", utf8_or_replacement(result.bytes)},
                            {"end", result.end}})
              << '\n';
}

}  // namespace

Run describe_generate(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  const auto own = std::make_shared<Sampling>();
  add_computing(app, *a);
  add_prompt(app, *a, false);
  add_edits(app, *a);
  add_number(app, "--tokens", "N", own->tokens, 0, 1 << 30, "maximum number of new tokens (default: 40)");
  add_number(app, "--temperature", "X", own->options.temperature, 0, 1e6,
             "temperature; 0: always the most probable token (default: 1)");
  add_number(app, "--top-k", "K", own->options.top_k, 0, 1 << 30,
             "sample from the K most probable tokens (default 0: from all)");
  add_number(app, "--top-p", "P", own->options.top_p, 0, 1,
             "sample from the fewest tokens whose total probability reaches P (default: 1)");
  app.add_option("--seed", own->seed, "the same seed gives the same text (default: 0)")->type_name("S");
  app.add_flag("--echo", own->echo, "write the prompt first");
  add_out(app, *a, "txt|json", "write the text to this file");
  return [&app, a, own](const Streams& streams) {
    const bool json = format_of(app, *a, "txt|json") == Format::json;
    require_prompt(*a);
    refuse({{own->echo && json, "--echo is for text; JSON has the prompt's tokens"}});
    AnswerFile file(a->out, streams);
    run_generate(*a, *own, json, file.streams());
    file.commit();
    return 0;
  };
}

}  // namespace headscope::app
