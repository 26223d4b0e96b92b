#include "app/cli/commands/lens.h"

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/output.h"
#include "app/run/analyses/logit_lens.h"
#include "app/run/analyses/next_token.h"
#include "model/pass/hooks.h"

namespace headscope::app {
namespace {

/// "blocks.0.hook_resid_mid"; after the last block, the end of the residual stream.
std::string hook_of(int place, int n_layer) {
  const auto [layer, mid] = lens_place(place);
  if (layer == n_layer) return model::hook_name({model::Site::resid_post, layer - 1});
  return model::hook_name({mid ? model::Site::resid_mid : model::Site::resid_pre, layer});
}

std::span<const model::Guess> best_of(const model::LensReading& reading, int top) {
  const auto& all = reading.guesses.top;
  return std::span(all).first(std::min(all.size(), static_cast<std::size_t>(top)));
}

/// Calls `use(lens, position)` for each position, in order, with at most one block of positions in memory.
template <class Use>
void for_each_position(Engine& engine, const PromptRun& run, const Use& use) {
  const auto part = [](const LogitLens&, double) {};
  for (int block = 0; block < LensOf::blocks(run.run->length()); ++block) {
    const LogitLens lens = LensOf{block}.compute(run, {engine.workspace, {}, nullptr, nullptr, part});
    for (int i = 0; i < lens.positions(); ++i) use(lens, lens.first + i);
  }
}

Json position_json(const PromptRun& run, const LogitLens& lens, int position, int top) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  const int answer = lens.answer(position);
  Json places = Json::array();
  for (int place = 0; place < lens.places; ++place) {
    const model::LensReading& reading = lens.at(position, place);
    const int rank = reading.guesses.next_rank;
    places.push_back({{"hook", hook_of(place, run.run->config.n_layer)},
                      {"probability", reading.guesses.next_probability},
                      {"rank", rank >= 0 ? Json(rank + 1) : Json(nullptr)},
                      {"kl", reading.divergence},
                      {"guesses", guesses_json(tokenizer, best_of(reading, top))}});
  }
  return {{"position", position},
          {"answer", token_json(answer, tokenizer.bytes(answer))},
          {"places", std::move(places)}};
}

void write_json(Engine& engine, const PromptRun& run, int top, std::ostream& out) {
  out << '{';
  write_tokens_json(*run.model->tokenizer, run.tokens.tokens, out);
  out << ",\"positions\":[";
  for_each_position(engine, run, [&](const LogitLens& lens, int position) {
    out << (position > 0 ? "," : "") << json_line(position_json(run, lens, position, top));
  });
  out << "]}\n";
}

void write_position(const PromptRun& run, const LogitLens& lens, int position, int top, std::ostream& out) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  out << format("after position %d  ", position) << run.tokens.labels[position]
      << "   answer: " << viz::visible(tokenizer.bytes(lens.answer(position))) << '\n'
      << format("%8s %9s %7s %12s  %s\n", "place", "KL, bits", "rank", "of answer", "guesses");
  for (int place = 0; place < lens.places; ++place) {
    const model::LensReading& reading = lens.at(position, place);
    const int rank = reading.guesses.next_rank;
    out << format("%8s %9.4f %7s %11.6f%% ", lens_place_name(place, run.run->config.n_layer).c_str(),
                  printable(bits(reading.divergence)),
                  rank >= 0 ? std::to_string(rank + 1).c_str() : "unknown",
                  100 * printable(reading.guesses.next_probability));
    for (const model::Guess& guess : best_of(reading, top))
      out << ' ' << viz::visible(tokenizer.bytes(guess.id))
          << format(" %.2f%%", 100 * printable(guess.probability));
    out << '\n';
  }
}

void run_lens(const LensCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model, command.prompt.edits);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const PromptRun run = run_prompt(engine, prompt, source.where());
    if (command.json) {
      write_json(engine, run, command.top, streams.out);
    } else {
      if (!source.is_first()) streams.out << '\n';
      for_each_position(engine, run, [&](const LogitLens& lens, int position) {
        write_position(run, lens, position, command.top, streams.out);
      });
    }
    warn_about(run, source.where(), streams.err);
  });
}

}  // namespace

Finish describe_lens(CommandSyntax& command) {
  const auto own = std::make_shared<LensCommand>();
  const std::string most = std::to_string(LogitLens::kGuesses);
  command.reading();
  command.option("top", "K", "guesses per place, at most " + most + " (default: " + most + ")", own->top,
                 whole(1, LogitLens::kGuesses));
  return command.finish(own, require_prompt, run_lens);
}

}  // namespace headscope::app
