#include "app/cli/commands/engine.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <ostream>

#include "app/cli/batch.h"
#include "app/cli/status_line.h"
#include "app/counted.h"
#include "app/hub/fetch.h"
#include "app/run/analyses/next_token.h"
#include "app/run/analyses/patterns.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/run/kept_models.h"
#include "app/run/recompute.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/run/sources/pattern_file.h"
#include "app/text/terminal_text.h"
#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "system/file.h"
#include "system/hash.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {

namespace {

std::optional<HubModel> hub_model(const std::string& text) {
  try {
    return parse_hub_model(text);
  } catch (const HubError&) {
    return std::nullopt;
  }
}

}  // namespace

std::shared_ptr<const MeanList> read_mean_list(const std::filesystem::path& file, const LoadedModel& model,
                                               bool start_token) {
  const std::string bytes = model::read_file(file, PromptList::kMaxBytes);  // once: it may be a pipe
  auto list = std::make_shared<MeanList>();
  list->over = {std::make_shared<const PromptList>(parse_prompt_list(bytes, file)), start_token};
  system::Hash hash(system::Hash::Kind::sha256);
  hash.add(bytes);
  list->file = {list->over.list->name, hash.hex(), std::ssize(list->over.list->prompts)};
  const std::string name = terminal_safe(system::text_of(file));
  const std::vector<int> lines = lines_with_prompts(bytes);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Prompt prompt = list->over.list->prompts.at(i);
    prompt.start_token = start_token;
    list->tokens += tokenize_whole(model, prompt, name + ":" + std::to_string(lines[i]) + ": ").length();
  }
  return list;
}

MeanSource known_means(const MeansOverList& question, Engine& engine, const Streams& streams,
                       AnswersInAdvance::Known& known) {
  const std::string where = "--mean-over: ";
  const auto of_model = std::make_shared<PromptRun>();
  of_model->model = engine.model;
  DirectAnswers answers(of_model, engine.workspace, progress_of(where, streams));
  auto answer = saying_where(where, [&] { return answers.ask(question); });
  auto means = std::static_pointer_cast<const ActivationMeans>(answer->value);
  if (means->progress.skipped > 0) throw model::RunError(where + means->progress.problem);
  known.emplace_back(question, std::move(answer));
  return {question.over, std::move(means)};
}

DirectAnswers::Tell progress_of(const std::string& where, const Streams& streams) {
  struct Shown {
    explicit Shown(const Streams& to) : line(to) {}
    system::InterruptGuard interrupts;
    StatusLine line;
  };
  return [where, shown = std::make_shared<Shown>(streams)](std::string_view work, double done) {
    shown->interrupts.check();
    if (done >= 1) return shown->line.clear();
    shown->line.tell_work(where, work, done);
  };
}

std::string words_of(const MeanList& list) {
  return "means over " + counted(list.tokens, "token") + " of " +
         counted(std::ssize(list.over.list->prompts), "prompt") + " of " +
         terminal_safe(list.over.list->name);
}

namespace {

/// The model of that name, which is never taken for a folder here.
std::optional<std::filesystem::path> find_by_name(const std::string& name) {
  const auto cache = hugging_face_cache(process_environment());
  if (const auto named = hub_model(name); named && cache)
    if (auto snapshot = cached_model(*cache, *named)) return snapshot;
  return model_named(name, cache ? discover_models(*cache) : std::vector<DiscoveredModel>{});
}

/// Throws model::LoadError for a folder that holds no model but has the name of one, which it hides.
void reject_shadow(const std::string& name, const std::filesystem::path& folder) {
  if (!system::is_folder(folder) || system::is_there(folder / "config.json")) return;
  const std::string shadows =
      name + ": expected a GPT-2 model folder, found no config.json in it; it shadows the model ";
  if (const auto model = find_by_name(name))
    throw model::LoadError(shadows + model_name(*model) + " in " + system::text_of(*model) +
                           ": rename the folder, or give that path");
  if (const auto model = guess_hub_model(name))
    throw model::LoadError(shadows + to_text(*model) +
                           " of the Hugging Face hub: rename the folder and run headscope get " + name +
                           ", if that is meant");
}

}  // namespace

std::optional<std::filesystem::path> find_model(const std::string& name) {
  if (auto path = system::path_of(name); system::is_there(path)) return path;
  return find_by_name(name);
}

std::filesystem::path model_folder(const ModelArguments& arguments, const std::string& option) {
  if (!arguments.model) return bundled_model();
  const std::string& name = *arguments.model;
  if (arguments.patterns) {
    std::filesystem::path file = system::path_of(name);
    if (system::is_file(file)) return file;
    throw model::LoadError("cannot read " + name + ": expected a file of attention patterns, found " +
                           (system::is_there(file) ? "something else" : "none"));
  }
  if (arguments.by_name) {
    if (const auto folder = find_by_name(name)) return *folder;
    throw model::LoadError("it was made with the model " + model::quote(name) +
                           ", which was not found here; give its folder with " + option);
  }
  if (auto found = find_model(name)) {
    reject_shadow(name, *found);
    return *found;
  }
  if (const auto named = hub_model(name))
    throw model::LoadError(
        model::quote(name) +
        " is neither a folder nor a model in the Hugging Face cache; to fetch it, run headscope get " +
        to_text(*named));
  return system::path_of(name);
}

namespace {

/// The second model's folder, also if its weights file is named.
std::filesystem::path second_folder(const ModelArguments& arguments) {
  std::filesystem::path folder = model_folder(arguments, "--second-model");
  return system::is_file(folder) ? folder.parent_path() : folder;
}

/// The model in a folder, or the patterns of a file.
std::shared_ptr<const LoadedModel> loaded(const ModelArguments& arguments,
                                          const std::filesystem::path& folder, bool patterns) {
  if (KeptModels* kept = arguments.kept.models.get())
    return patterns ? kept->patterns(folder) : kept->model(folder, arguments.precision);
  const model::LoadOptions options{.precision = arguments.precision, .stop = {}, .progress = {}};
  return patterns ? load_patterns(folder, options) : load_model(folder, options);
}

}  // namespace

std::shared_ptr<const model::Tokenizer> load_tokenizer(const ModelArguments& arguments) {
  const std::filesystem::path folder = model_folder(arguments);
  KeptModels* kept = arguments.kept.models.get();
  if (kept == nullptr) return std::make_shared<const model::Tokenizer>(model::Tokenizer::load(folder));
  auto tokenizer = kept->tokenizer(folder);
  if (!tokenizer->problem().empty()) throw model::LoadError(tokenizer->problem());
  return tokenizer;
}

namespace {

/// The edits with means over the list, if there is one, in place of means over the run's positions.
model::Edits with_list_means(model::Edits edits, Engine& engine, bool takes_means, const Streams& streams) {
  if (!engine.mean_over) return edits;
  const MeansOverList means{engine.mean_over->over, points_of_means(edits)};
  if (!means.points.empty()) {
    AnswersInAdvance::Known known;
    return with_means(std::move(edits), *known_means(means, engine, streams, known).means);
  }
  if (takes_means) return edits;
  throw model::RunError("--mean-over has no effect here without an edit that sets a mean, as in L5H1.z=mean");
}

}  // namespace

std::vector<std::string> Engine::warnings() const {
  std::vector<std::string> all = model->warnings;
  for (const std::string& warning : second ? second->warnings : std::vector<std::string>())
    if (std::ranges::count(all, warning) == 0) all.push_back(warning);
  return all;
}

void show_warnings(std::span<const std::string> warnings, const ModelArguments& arguments,
                   std::ostream& err) {
  KeptModels* const kept = arguments.kept.models.get();
  for (const std::string& warning : warnings)
    if (kept == nullptr || kept->is_new(warning)) err << "headscope: " << one_line(warning) << '\n';
}

Engine start_engine(const Arguments& command, const Streams& streams, const EngineUse& use) {
  const EditArguments& edits = command.prompt.edits;
  const bool needs_weights = !edits.empty() || edits.mean_over;
  const Capabilities needs = needs_weights ? use.needs | Capability::weights : use.needs;
  Engine engine{loaded(command.model, model_folder(command.model), command.model.patterns),
                model::Workspace(command.model.threads), nullptr};
  require(*engine.model, needs);
  if (engine.model->patterns) return engine;
  if (edits.second_model) {
    engine.second = loaded(command.model, second_folder(*edits.second_model), false);
    check_comparable(*engine.model, *engine.second);
  }
  using From = PromptArguments::From;
  std::vector<std::string> warnings = engine.warnings();
  const std::string& problem = engine.model->tokenizer->problem();
  const bool is_text = command.prompt.from != From::ids && command.prompt.from != From::nothing;
  if (is_text && !problem.empty())  // the text's error says it
    std::erase_if(warnings, [&](const std::string& warning) { return warning.starts_with(problem); });
  show_warnings(warnings, command.model, streams.err);
  if (edits.mean_over)
    engine.mean_over = read_mean_list(*edits.mean_over, *engine.model,
                                      has_start_token(*engine.model, command.prompt.start_token));
  engine.given_edits = edits_from(edits, *engine.model);
  model::Edits wanted = with_list_means(engine.given_edits, engine, use.takes_means, streams);
  if (engine.second && use.second == SecondModelUse::patch_source && !model::patches_from_second(wanted))
    throw model::RunError(
        "--second-model has no effect here without an edit that patches from it (<-second); plot, shot, the "
        "window, sweep without --ablate, and trace --gradients kl also compare with it");
  if (!wanted.empty())
    engine.plan =
        engine.model->transformer->plan(std::move(wanted), engine.workspace, {},
                                        {engine.second ? engine.second->transformer.get() : nullptr, {}});
  return engine;
}

model::Edits edits_from(const EditArguments& edits, const LoadedModel& model) {
  model::Edits all;
  if (edits.file) all = parse_edit_lines(model::read_file(*edits.file), system::text_of(*edits.file), model);
  for (const std::string& text : edits.texts)
    for (model::Edit& edit : parse_edits(text, model)) all.push_back(std::move(edit));
  require_few(all.size());
  return all;
}

PromptTokens tokenize_whole(const LoadedModel& model, const Prompt& prompt, const std::string& where) {
  PromptTokens tokens = saying_where(where, [&] { return tokenize(model, prompt); });
  if (tokens.run_length < tokens.length())
    throw model::RunError(where + beyond_context(tokens, model) + "; shorten it");
  return tokens;
}

void require_below(int count, int value, const std::string& where, const std::string& what,
                   const std::string& hint) {
  if (value >= count)
    throw model::RunError(where + "there is no " + what + " " + std::to_string(value) + ": the last one is " +
                          std::to_string(count - 1) + hint);
}

void require_seen(const PromptRun& run, const Selection& at, int key, const std::string& where,
                  const std::string& hint) {
  const model::HeadIndex head{at.layer, at.head};
  if (may_see(run, head, at.query, key)) return;
  require_below(sees_later(run, head) ? key_count(run) : at.query + 1, key, where, "key", hint);
  throw model::RunError(where + "query " + std::to_string(at.query) + " does not see key " +
                        std::to_string(key) + " in " + head_name(at.layer, at.head) + hint);
}

std::shared_ptr<const model::Plan> plan_for(Engine& engine, std::span<const int> tokens) {
  return plan_for(tokens, engine.plan, *engine.model, engine.second.get(), engine.workspace);
}

PromptRun run_prompt(Engine& engine, const Prompt& prompt, const std::string& where,
                     const model::Hooks* hooks) {
  PromptRun run;
  run.model = engine.model;
  run.second_model = engine.second;
  run.prompt = prompt;
  run.tokens = tokenize_whole(*engine.model, prompt, where);
  const std::vector<int> ids = run.tokens.ids();
  model::ForwardOptions options;
  options.plan = plan_for(engine, ids);
  options.hooks = hooks;
  if (engine.plan) run.prompt.edits = engine.plan->edits();
  run.run = engine.model->transformer->forward(ids, engine.workspace, options);
  return run;
}

std::shared_ptr<const PromptRun> run_second(Engine& engine, Prompt prompt, const std::string& where) {
  auto second = std::make_shared<PromptRun>();
  second->model = engine.second ? engine.second : engine.model;
  second->prompt = std::move(prompt);
  second->prompt.edits.clear();
  second->tokens = tokenize_whole(*engine.model, second->prompt, where);
  second->tokens.run_length = std::min(second->tokens.run_length, second->model->transformer->config().n_ctx);
  second->run = second->model->transformer->forward(second->tokens.ids(), engine.workspace);
  return second;
}

Baseline baseline_of(Engine& engine, const ComparisonArguments& comparison, std::optional<bool> start_token) {
  if (comparison.second)
    return {run_second(engine, {*comparison.second, {}, start_token}, "--second: "), comparison.aligned_by()};
  if (!engine.plan && !engine.second && comparison.side != Side::run)
    throw model::RunError(
        "there is nothing to compare with: --show needs --edit, --edits, --second or --second-model");
  return {};
}

void compare(Engine& engine, PromptRun& run, const Baseline& baseline) {
  if (baseline.second) {
    compare_with(run, baseline.second, baseline.alignment);
  } else if (engine.second) {
    compare_with(run, run_second(engine, run.prompt, "--second-model: "), Alignment::position);
  } else {
    compare_with_unedited(engine, run);
  }
}

void compare_with_unedited(Engine& engine, PromptRun& run) {
  if (engine.plan)
    compare_with_unedited(run, engine.model->transformer->forward(run.tokens.ids(), engine.workspace));
}

void name_by_id(TokenChoice& token, TokenChoice& against, const PromptRun& run, int position, Engine& engine,
                const std::string& where) {
  const int at = position < 0 ? run.run->length() - 1 : position;
  if (at >= run.run->length()) return;
  std::vector<float> logits(engine.config().vocab_size);  // ids need only their number
  const auto is_ranked = [](const TokenChoice& choice) {
    return choice.by == TokenChoice::By::rank || choice.by == TokenChoice::By::other;
  };
  if (is_ranked(token) || is_ranked(against))
    engine.model->transformer->logits(*unedited_run(run, engine.workspace, {}), at, 1, engine.workspace,
                                      logits);
  saying_where(where, [&] {
    token = TokenChoice::of(id_of(token, logits));
    if (against.by == TokenChoice::By::none) return;
    const int other = id_of(against, logits, token.number);
    if (other == token.number)
      throw model::RunError(
          "both tokens are the same, so that their logits do not differ; see --other-token");
    against = TokenChoice::of(other);
  });
}

PromptRun run_of_patterns(const Engine& engine, const PromptArguments& prompt,
                          const ComparisonArguments& comparison) {
  using From = PromptArguments::From;
  if (prompt.from != From::nothing && !(prompt.from == From::text && prompt.text.empty()))
    throw model::RunError(engine.model->patterns->name() +
                          " holds only attention patterns, which cannot run a prompt; give it with "
                          "--attention and without a prompt");
  PromptRun run = run_of_patterns(engine.model);
  if (comparison.second)
    throw model::RunError("--second is a prompt; to compare attention patterns, use --second-attention");
  if (!comparison.second_attention.empty()) {
    compare_with_patterns(run, load_patterns(comparison.second_attention), comparison.aligned_by());
  } else if (comparison.side != Side::run) {
    throw model::RunError(
        "there is nothing to compare with: with --attention, --show needs --second-attention");
  }
  return run;
}

std::shared_ptr<const PromptList> list_of_prompts(const std::filesystem::path& over) {
  return over.empty() ? nullptr : std::make_shared<const PromptList>(read_prompt_list(over));
}

WindowOptions window_options(const Arguments& given, const Streams& streams) {
  const ComparisonArguments& comparison = given.comparison;
  WindowOptions options{.model = model_folder(given.model),
                        .model_given = given.model.model.has_value(),
                        .prompt = PromptSource(given.prompt, streams.in).next(),
                        .second = comparison.second,
                        .alignment = comparison.aligned_by(),
                        .side = comparison.side,
                        .prompts = list_of_prompts(given.over_list),
                        .tour = given.tour.name,
                        .stop = given.tour.stop,
                        .threads = given.model.threads,
                        .precision = given.model.precision};
  if (!comparison.second_attention.empty())
    options.second = system::text_of(comparison.second_attention), options.second_is_file = true;
  const EditArguments& edits = given.prompt.edits;
  if (edits.second_model) options.second_model = second_folder(*edits.second_model);
  if (!edits.empty())
    options.edits = [edits](const LoadedModel& loaded) { return edits_from(edits, loaded); };
  return options;
}

void warn_about(const std::string& not_finite, const model::Edits& edits, int length,
                const std::string& where, std::ostream& err) {
  if (!not_finite.empty()) err << "headscope: " << where << not_finite << '\n';
  for (const model::Edit& edit : edits)
    if (is_beyond(edit, length))
      err << "headscope: " << where << "the edit " << edit_brief(edit)
          << " has no effect: it is at positions beyond the prompt, which has " << length
          << (length == 1 ? " token\n" : " tokens\n");
}

void warn_about(const PromptRun& run, const std::string& where, std::ostream& err) {
  const auto has_patterns = [](const PromptRun* of) { return of != nullptr && of->model->patterns; };
  for (const PromptRun* of : {&run, run.baseline.get()})
    for (const std::string& note :
         has_patterns(of) ? of->model->patterns->notes() : std::vector<std::string>())
      err << "headscope: " << of->model->patterns->name() << " has " << note << '\n';
  if (run.model->patterns) return;
  warn_about(not_finite_note(*run.run), run.prompt.edits, run.run->length(), where, err);
}

void warn_about_weights(Engine& engine, std::ostream& err) {
  const int first = 0;
  warn_about(not_finite_note(*engine.model->transformer->forward({&first, 1}, engine.workspace)), {}, 1, "",
             err);
}

std::string format(const char* pattern, ...) {
  std::va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  if (length < 0) throw std::bad_alloc();
  return text;
}

}  // namespace headscope::app
