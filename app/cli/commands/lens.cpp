#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/list_means.h"
#include "app/run/analyses/logit_lens.h"
#include "app/run/analyses/measured_cells.h"
#include "app/run/analyses/next_token.h"

namespace headscope::app {
namespace {

/// A run, and what is read of it.
struct Reading {
  const LensCommand& command;
  const PromptRun& run;
  TokenChoice token;
  bool chosen = false;     ///< whether a token was given
  int first = 0, end = 0;  ///< positions
};

/// Calls `use(lens, position)` for each position, in order, with at most one block of positions in memory.
template <class Use>
void for_each_position(Engine& engine, const Reading& reading, const Use& use) {
  const auto part = [](const LogitLens&, double) {};
  for (int first = reading.first; first < reading.end;) {
    const LensOf question = LensOf::around(first, reading.token);
    const Computation<LogitLens> computation{engine.workspace, {}, nullptr, nullptr, part};
    // The difference reads the targets of the baseline.
    const LogitLens lens = reading.run.baseline ? question.compute_difference(reading.run, computation)
                                                : question.compute(reading.run, computation);
    for (; first < reading.end && lens.knows(first); ++first) use(lens, first);
  }
}

Json position_json(const PromptRun& run, const LogitLens& lens, int position, int top) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  const int answer = lens.answer(position);
  Json places = Json::array();
  for (int place = 0; place < lens.places; ++place) {
    const model::LensReading& reading = lens.at(position, place);
    const int rank = reading.guesses.next_rank;
    places.push_back({{"hook", lens_hook_name(place, run.run->config.n_layer)},
                      {"probability", reading.guesses.next_probability},
                      {"rank", rank >= 0 ? Json(rank + 1) : Json(nullptr)},
                      {"kl", bits(reading.divergence)},
                      {"guesses", guesses_json(tokenizer, ranked(reading.guesses.top, top))}});
  }
  return {{"position", position}, {"answer", token_json(tokenizer, answer)}, {"places", std::move(places)}};
}

void write_json(const Json& how, Engine& engine, const Reading& reading, std::ostream& out) {
  const PromptRun& run = reading.run;
  begin_json(how, *run.model->tokenizer, run.tokens.tokens, out);
  out << R"(,"unit":"bits","positions":[)";
  for_each_position(engine, reading, [&](const LogitLens& lens, int position) {
    out << (position > reading.first ? "," : "")
        << json_line(position_json(run, lens, position, reading.command.guesses()));
  });
  out << "]}\n";
}

void write_position(const Reading& shown, const LogitLens& lens, int position, std::ostream& out) {
  const PromptRun& run = shown.run;
  const int top = shown.command.guesses();
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  out << format("after position %d  ", position) << run.tokens.labels[position]
      << (shown.chosen ? "   token: " : "   answer: ") << token_words(tokenizer, lens.answer(position))
      << '\n'
      << format("%8s %9s %7s %12s  %s\n", "place", "KL, bits", "rank",
                shown.chosen ? "of token" : "of answer", "guesses");
  for (int place = 0; place < lens.places; ++place) {
    const model::LensReading& reading = lens.at(position, place);
    const int rank = reading.guesses.next_rank;
    out << format("%8s %9.4f %7s %11.6f%% ", lens_place_name(place, run.run->config.n_layer).c_str(),
                  printable(bits(reading.divergence)),
                  rank >= 0 ? std::to_string(rank + 1).c_str() : "unknown",
                  100 * printable(reading.guesses.next_probability));
    for (const model::Guess& guess : ranked(reading.guesses.top, top))
      out << ' ' << token_label(tokenizer, guess.id) << format(" %.2f%%", 100 * printable(guess.probability));
    out << '\n';
  }
}

/// The readings at each place after one position as cells of means.
void add_to(ListMeans& means, Engine& engine, const Reading& reading, const std::string& where) {
  MeasuredCells cells;
  for_each_position(engine, reading,
                    [&](const LogitLens& lens, int position) { cells = cells_of(lens, position); });
  const LensCommand& command = reading.command;
  means.add({{"command", "lens"},
             {"what", "logit lens after " + (command.position.value_or(-1) < 0
                                                 ? std::string("the last position")
                                                 : "position " + std::to_string(*command.position))},
             {"token", given_json(command.token)},
             {"position", command.position ? Json(*command.position) : Json(nullptr)}},
            cells, where);
}

void run_lens(const LensCommand& command, const Streams& streams) {
  if (!command.merge.empty())
    return write_means(ListMeans::merge(command.merge, "lens"), command, false, streams);
  How how(command);
  Engine engine = start_engine(command, streams);
  const TokenChoice token = token_of(*engine.model, command.token, "--token", TokenChoice::best());
  ListMeans means;
  const auto work = [&](const PromptSource& source, const ListedPrompt& prompt) {
    PromptRun run = run_prompt(engine, prompt, source.where());
    const GivenToken& given = prompt.token.empty() ? command.token : prompt.token;
    if (given.by == GivenToken::By::rank) compare_with_unedited(engine, run);
    Reading reading{command, run, token, !given.empty(), 0, run.run->length()};
    require_measurable(prompt);
    reading.token = saying_where(source.where(),
                                 [&] { return token_of(*engine.model, prompt.token, "\"token\"", token); });
    auto only = prompt.position ? prompt.position : command.position;
    if (command.mean && !only) only = -1;
    if (only) {
      require_below(reading.end, *only, source.where(), "position");
      reading.first = *only < 0 ? reading.end - 1 : *only;
      reading.end = reading.first + 1;
    }
    warn_about(run, source.where(), streams.err);
    if (command.mean) return add_to(means, engine, reading, source.where());
    if (command.json) return write_json(how.of(engine, run), engine, reading, streams.out);
    source.separate(streams.out);
    for_each_position(engine, reading, [&](const LogitLens& lens, int position) {
      write_position(reading, lens, position, streams.out);
    });
  };
  const PromptsRun done = for_each_prompt(command.prompt, streams, work);
  if (!command.mean) return;
  means.finish(command.json ? how.shared(engine) : Json(), command.prompt.shard, done);
  write_means(means, command, false, streams);
}

}  // namespace

Finish describe_lens(CommandSyntax& command) {
  const auto own = std::make_shared<LensCommand>();
  const std::string most = std::to_string(LogitLens::kGuesses);
  command.reading();
  command.option("top", "K", "guesses per place, at most " + most + " (default: " + most + ")", own->top,
                 whole(1, LogitLens::kGuesses));
  command.option("token", kTokenValues,
                 "the token whose probability and rank are shown at each place (default: the\nfinal answer)",
                 own->token, given_token);
  command.option("position", "I", "only after this position, from 0; -1: the last (default: all)",
                 own->position, whole(-1));
  command.footer(kTokenGrammar);
  mean_options(command, *own);
  command.answer_out(true);
  return command.finish(
      own,
      [](LensCommand& lens) {
        check_means(lens, lens);
        refuse(
            {{lens.mean && lens.top, "--mean has no guesses; --top does not apply"},
             {lens.csv && !lens.writes_means(), "CSV is for means: give --mean with --prompts, or --merge"}});
      },
      run_lens);
}

}  // namespace headscope::app
