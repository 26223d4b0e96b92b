#include "app/cli/engine.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <ostream>

#include "app/cli/prompts.h"
#include "app/cli/status_line.h"
#include "app/hub/fetch.h"
#include "app/run/analyses/activation_means.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/run/kept_models.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/run/sources/pattern_file.h"
#include "app/text/output_text.h"
#include "app/views/parts/names.h"
#include "app/window/core.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
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

/// Reads a list and checks that the model can run each of its prompts whole. Throws model::LoadError and
/// model::RunError that name file and line.
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
    const std::string where = name + ":" + std::to_string(lines[i]) + ": ";
    const PromptTokens tokens = with_error_prefix(where, [&] { return tokenize(model, prompt); });
    if (tokens.run_length < tokens.length()) throw model::RunError(where + beyond_context(tokens, model));
    list->tokens += tokens.length();
  }
  return list;
}

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
  if (!arguments.name) return bundled_model();
  const std::string& name = *arguments.name;
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
std::shared_ptr<const LoadedModel> loaded(const Arguments& a, const std::filesystem::path& from,
                                          bool patterns) {
  const model::Precision precision = a.session.precision;
  if (KeptModels* kept = a.models.get())
    return kept->find_or_load(from, patterns ? std::nullopt : std::optional(precision));
  const model::LoadOptions options{.precision = precision};
  return patterns ? load_patterns(from, options) : load_model(from, options);
}

/// The edits of a file, then those of texts. Throws like start_engine.
model::Edits edits_from(const Arguments& a, const LoadedModel& model) {
  model::Edits all;
  if (!a.edits_file.empty())
    all = parse_edit_lines(model::read_file(a.edits_file, Prompt::kMaxBytes), system::text_of(a.edits_file),
                           model);
  for (const std::string& text : a.session.edits)
    for (model::Edit& edit : parse_edits(text, model)) all.push_back(std::move(edit));
  require_few(all.size());
  return all;
}

/// The edits with means over the list, if there is one, in place of means over the run's positions.
model::Edits with_list_means(model::Edits edits, Engine& engine, const Streams& streams) {
  if (!engine.mean_over) return edits;
  const MeansOverList question{engine.mean_over->over, points_of_means(edits)};
  if (question.points.empty()) return edits;
  const std::string where = "--mean-over: ";
  const auto of_model = std::make_shared<PromptRun>();
  of_model->model = engine.model;
  DirectAnswers answers(of_model, engine.workspace, progress_of(where, streams));
  const auto means = with_error_prefix(where, [&] { return ask(answers, question); });
  if (means->progress.skipped > 0) throw model::RunError(where + means->progress.problem);
  return with_means(std::move(edits), *means);
}

}  // namespace

std::vector<std::string> Engine::warnings() const {
  std::vector<std::string> all = model->warnings;
  for (const std::string& warning : second ? second->warnings : std::vector<std::string>())
    if (std::ranges::count(all, warning) == 0) all.push_back(warning);
  return all;
}

void show_warnings(std::span<const std::string> warnings, KeptModels* kept, std::ostream& err) {
  for (const std::string& warning : warnings)
    if (kept == nullptr || kept->is_new(warning)) err << "headscope: " << one_line(warning) << '\n';
}

Engine start_engine(Arguments& a, const Streams& streams, Capability needs) {
  fetch_if_missing(a.model, streams);
  if (!a.session.edits.empty() || !a.edits_file.empty() || !a.mean_over.empty())
    needs = needs | Capability::weights;
  Engine engine{loaded(a, model_folder(a.model), a.model.patterns), nullptr, model::Workspace(a.threads)};
  require(*engine.model, needs);
  if (engine.model->patterns) {
    if (!a.second_attention.empty()) engine.second = loaded(a, a.second_attention, true);
    return engine;
  }
  if (a.second_model) {
    engine.second = loaded(a, second_folder(*a.second_model), false);
    check_comparable(*engine.model, *engine.second);
  }
  std::vector<std::string> warnings = engine.warnings();
  const std::string& problem = engine.model->tokenizer->problem();
  if (a.has_prompt() && a.session.prompt.ids.empty() && !problem.empty())  // the text's error says it
    std::erase_if(warnings, [&](const std::string& warning) { return warning.starts_with(problem); });
  show_warnings(warnings, a.models.get(), streams.err);
  if (!a.mean_over.empty())
    engine.mean_over = read_mean_list(a.mean_over, *engine.model,
                                      has_start_token(*engine.model, a.session.prompt.start_token));
  engine.given_edits = edits_from(a, *engine.model);
  engine.edits = with_list_means(engine.given_edits, engine, streams);
  return engine;
}

PromptRun run_prompt(Engine& engine, const Arguments& a, Prompt prompt, const std::string& where,
                     ComparedWith compared_with, const std::optional<std::string>& second,
                     const model::Hooks* hooks) {
  prompt.edits = engine.edits;
  PromptToRun what{.model = engine.model,
                   .prompt = std::move(prompt),
                   .second_model = engine.second,
                   .compared_with = compared_with};
  what.alignment = a.session.alignment;
  if (second || (a.session.second && a.session.second_on && !engine.model->patterns))
    what.second = Prompt{.text = second ? *second : *a.session.second,
                         .ids = {},
                         .start_token = a.session.prompt.start_token,
                         .edits = {},
                         .plain = a.session.prompt.plain};
  return with_error_prefix(where, [&] {
    return run_prompt(what, {engine.workspace, {}, hooks, &engine.plan});
  });
}

std::shared_ptr<const PromptList> list_of_prompts(const std::filesystem::path& file) {
  return file.empty() ? nullptr : std::make_shared<const PromptList>(read_prompt_list(file));
}

void add_assets(CoreOptions& options) {
  options.fonts = viz::Fonts::load();
  options.examples = bundled_examples();
  options.guide = bundled_guide();
  options.examples_model = bundled_model();
  LoadedTours loaded = load_tours(tour_folders());
  const std::string& name = options.window.tour;
  if (!name.empty()) {
    options.tour = find_tour(loaded, name);
    const auto stops = std::ssize(loaded.tours[*options.tour].stops);
    if (options.window.stop > stops)
      throw std::runtime_error("the tour " + model::quote(name) + " has " + std::to_string(stops) +
                               " stops; --stop is " + std::to_string(options.window.stop));
  }
  options.tours = std::move(loaded.tours);
  options.problem = std::move(loaded.problem);
}

CoreOptions window_options(Arguments& a, const Streams& streams) {
  fetch_if_missing(a.model, streams);
  CoreOptions options;
  WindowOptions& window = options.window;
  window = {.model = model_folder(a.model),
            .prompt = PromptSource(a, streams.in).next(),
            .recipe = {a.session, {}},
            .second = a.second_model ? second_folder(*a.second_model) : a.second_attention,
            .prompts = list_of_prompts(a.over),
            .tour = a.tour,
            .stop = a.stop,
            .threads = a.threads};
  if (a.model.patterns) window.recipe.session.attention = system::text_of(window.model.filename());
  if (!a.session.edits.empty() || !a.edits_file.empty())
    window.edits = [given = a](const LoadedModel& model) { return edits_from(given, model); };
  add_assets(options);
  return options;
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

void require_selection(const Selection& at, const PromptRun& run, const std::string& where,
                       const std::function<std::string(const char* option)>& hint) {
  const auto require_below = [&](int count, int value, const char* what, const char* option) {
    if (value >= count)
      throw model::RunError(where + "there is no " + what + " " + std::to_string(value) +
                            ": the last one is " + std::to_string(count - 1) + hint(option));
  };
  require_below(run.run->config.n_layer, at.layer, "layer", "--layer");
  require_below(run.run->config.n_head, at.head, "head", "--head");
  require_below(run.run->length(), at.query, "token", "--query");
  const Selection inside = clamped(at, run);
  if (at.key < 0 || inside.key >= 0) return;
  const model::HeadIndex head{inside.layer, inside.head};
  require_below(sees_later(run, head) ? key_count(run) : inside.query + 1, at.key, "key", "--key");
  throw model::RunError(where + "query " + std::to_string(inside.query) + " does not see key " +
                        std::to_string(at.key) + " in " + head_name(at.layer, at.head) + hint("--key"));
}

void warn_about(const PromptRun& run, const std::string& where, std::ostream& err) {
  for (const PromptRun* of : {&run, run.baseline.get()})
    if (of != nullptr && of->model->patterns)
      for (const std::string& note : of->model->patterns->notes())
        err << "headscope: " << of->model->patterns->name() << " has " << note << '\n';
  if (run.model->patterns) return;
  if (const std::string note = not_finite_note(*run.run); !note.empty())
    err << "headscope: " << where << note << '\n';
  const int length = run.run->length();
  for (const model::Edit& edit : run.prompt.edits)
    if (is_beyond(edit, length))
      err << "headscope: " << where << "the edit " << edit_brief(edit)
          << " has no effect: it is at positions beyond the prompt, which has " << length
          << (length == 1 ? " token\n" : " tokens\n");
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
