#include <algorithm>
#include <array>
#include <cmath>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;
/// Number of positions processed at a time, so that memory does not grow with the prompt's length.
constexpr int kBlock = 16;

bool has_following(const PromptRun& run, int position) {
  return position + 1 < run.run->length();
}

/// The prediction at one position. `following` is the prompt's next token, null at its end; ranks start at 1;
/// numbers that are not finite, and their ranks, are null.
Json position_json(const PromptRun& run, int position, const model::PositionStatistics& statistics) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  Json following = nullptr;
  if (has_following(run, position)) {
    const int id = run.tokens.tokens[position + 1].id;
    following = token_json(tokenizer, id);
    following["logit"] = statistics.next_logit;
    following["probability"] = statistics.next_probability;
    following["rank"] = statistics.next_rank >= 0 ? Json(statistics.next_rank + 1) : Json(nullptr);
  }
  return {{"position", position},
          {"log_sum_exp", statistics.log_sum_exp},
          {"following", std::move(following)},
          {"next", guesses_json(tokenizer, statistics.top)}};
}

/// Calls `use(position, statistics)` for positions in [first, end). Reports the first logits that are not
/// finite in `not_finite`, unless it is set already.
template <class Use>
void for_each_position(Engine& engine, const PromptRun& run, int first, int end, int top,
                       std::string& not_finite, const Use& use) {
  for (int at = first; at < end; at += kBlock) {
    const int count = std::min(kBlock, end - at);
    auto block = engine.model->transformer->statistics(*run.run, at, count, top, engine.workspace);
    for (int i = 0; i < count; ++i) {
      model::PositionStatistics& statistics = block[i];
      if (ranked(statistics.top, top).empty()) statistics.top.clear();
      use(at + i, statistics);
      if (!std::isfinite(statistics.log_sum_exp) && not_finite.empty())
        not_finite =
            not_finite_note(*run.run, at + i, std::array{static_cast<float>(statistics.log_sum_exp)});
    }
  }
}

void write_json(const Json& how, Engine& engine, const PromptRun& run, int top, bool all_positions,
                std::ostream& out, std::string& not_finite) {
  const int length = run.run->length();
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  std::vector<model::Guess> last;
  begin_json(how, tokenizer, run.tokens.tokens, out);
  if (all_positions) out << ",\"positions\":[";
  for_each_position(engine, run, all_positions ? 0 : length - 1, length, top, not_finite,
                    [&](int position, const model::PositionStatistics& statistics) {
                      if (all_positions)
                        out << (position > 0 ? "," : "")
                            << json_line(position_json(run, position, statistics));
                      last = statistics.top;
                    });
  if (all_positions) out << ']';
  out << ",\"next\":" << json_line(guesses_json(tokenizer, last)) << "}\n";
}

void write_guesses(const model::Tokenizer& tokenizer, const std::vector<model::Guess>& guesses,
                   std::ostream& out) {
  out << format("%6s %13s %10s %8s  %s\n", "rank", "probability", "logit", "id", "token");
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    const model::Guess& guess = guesses[i];
    out << format("%6d %12.6f%% %10.4f %8d  ", static_cast<int>(i) + 1, 100 * printable(guess.probability),
                  printable(static_cast<double>(guess.logit)), guess.id)
        << token_label(tokenizer, guess.id) << '\n';
  }
}

void write_text(Engine& engine, const PromptRun& run, int top, bool all_positions, std::ostream& out,
                std::string& not_finite) {
  const int length = run.run->length();
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  const auto write_position = [&](int position, const model::PositionStatistics& statistics) {
    out << format("after position %d  ", position) << run.tokens.labels[position] << '\n';
    if (has_following(run, position))
      out << format("  next in the prompt: %s  %.6f%%, rank %s\n", run.tokens.labels[position + 1].c_str(),
                    100 * printable(statistics.next_probability),
                    statistics.next_rank >= 0 ? std::to_string(statistics.next_rank + 1).c_str() : "unknown");
    write_guesses(tokenizer, statistics.top, out);
  };
  for_each_position(engine, run, all_positions ? 0 : length - 1, length, top, not_finite, write_position);
}

void run_predict(const PredictCommand& command, const Streams& streams) {
  How how(command);
  Engine engine = start_engine(command, streams);
  const int top = std::min(command.top, engine.config().vocab_size);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const PromptRun run = run_prompt(engine, prompt, source.where());
    std::string not_finite = not_finite_note(*run.run);
    if (command.json) {
      write_json(how.of(engine, run), engine, run, top, command.all_positions, streams.out, not_finite);
    } else {
      source.separate(streams.out);
      write_text(engine, run, top, command.all_positions, streams.out, not_finite);
    }
    warn_about(not_finite, run.prompt.edits, run.run->length(), source.where(), streams.err);
  });
}

}  // namespace

Finish describe_predict(CommandSyntax& command) {
  const auto own = std::make_shared<PredictCommand>();
  command.reading();
  command.option("top", "K", "number of tokens (default: 10)", own->top, whole(1));
  command.flag("all-positions", "after every position, with the rank (from 1) of the actual next token",
               own->all_positions);
  command.answer_out();
  return command.finish(own, require_prompt, run_predict);
}

}  // namespace headscope::app
