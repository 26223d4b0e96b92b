#include <string>
#include <utility>
#include <vector>

#include "app/cli/batch.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/recipes.h"
#include "app/cli/work_line.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/patterns.h"
#include "app/run/answers.h"
#include "app/run/sources/pattern_file.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace {

void check_range(const std::string& where, const char* what, const char* option, int value, int count) {
  if (value < count) return;
  throw model::RunError(where + "there is no " + what + " " + std::to_string(value) + ": they go from 0 to " +
                        std::to_string(count - 1) + " here; see " + option);
}

/// A key has to be one that the query may see in the head.
void check_key(const std::string& where, const Selection& wanted, const PromptRun& run) {
  const Selection chosen = clamped(wanted, run);
  if (chosen.key >= 0 || wanted.key < 0) return;
  const bool later = sees_later(run, {chosen.layer, chosen.head});
  check_range(where, "key", "--key", wanted.key, later ? key_count(run) : chosen.query + 1);
  throw model::RunError(where + "query " + std::to_string(chosen.query) + " does not see key " +
                        std::to_string(wanted.key) + " in " + head_name(chosen.layer, chosen.head) +
                        "; see --key");
}

void check_positions(const std::string& where, const Selection& wanted, const PromptRun& run) {
  check_range(where, "token", "--token", wanted.query, run.run->length());
  check_key(where, wanted, run);
}

/// Whether a view that can be of the second model, which there is, is not.
bool lacks_second(const PlotCommand& command, const View& view, const PromptRun& run) {
  if (!run.second_model || command.comparison.side != Side::run || view.on_baseline == nullptr) return false;
  ViewContext c;
  c.options = command.options;
  return !view.on_baseline(c) && !model::patches_from_second(run.prompt.edits);
}

/// The pattern with a view's name in it.
std::filesystem::path named(const std::filesystem::path& pattern, std::string_view view) {
  constexpr std::string_view kName = "{view}";
  std::string path = pattern.string();
  for (std::size_t at = path.find(kName); at != std::string::npos; at = path.find(kName, at + view.size()))
    path.replace(at, kName.size(), view);
  return path;
}

}  // namespace

void run_command(const PlotCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model, command.prompt.edits, Needs::patterns, Second::compared_with);
  const bool hashed = (command.recipe && command.out.format != FileFormat::csv) ||
                      !command.weights.model.empty() || !command.weights.second.empty();
  const MetricWeights weights = hashed ? weights_of(*engine.model, engine.second.get()) : MetricWeights{};
  require_weights(command.weights, weights, command.model, engine.model->name,
                  engine.second ? engine.second->name : "");
  const auto fonts = viz::Fonts::load();
  const std::shared_ptr<const PromptList> prompts =
      command.over.empty() ? command.prompts : list_of_prompts(command.over);
  check_range("", "layer", "--layer", command.selection.layer, engine.config().n_layer);
  check_range("", "head", "--head", command.selection.head, engine.config().n_head);
  using Files = std::vector<std::pair<const View*, Destination>>;
  const auto draw = [&](PromptRun made, const std::string& where, const Files& files) {
    const auto run = std::make_shared<const PromptRun>(std::move(made));
    if (!run->model->patterns) warn_about(*run, where, streams.err);
    check_positions(where, command.selection, *run);
    WorkLine line(streams, where);
    DirectAnswers answers(run, engine.workspace,
                          [&](std::string_view work, double done) { line.tell(work, done); });
    for (const auto& [view, out] : files) {
      if (lacks_second(command, *view, *run))
        streams.err << "headscope: " << where << "as its options are, the view " << view->id
                    << " has nothing of the second model\n";
      const std::string bytes = figure_bytes(command, *view, run, prompts, answers, *fonts, weights, where);
      line.clear();
      put(out, bytes, streams);
    }
  };
  if (engine.model->patterns) {
    Files files;
    for (const std::string& view : command.views)
      files.push_back({find_view(view), {named(command.out.file, view), command.out.format}});
    return draw(run_of_patterns(engine, command.prompt, command.comparison, streams.err), "", files);
  }
  const Counterpart counterpart = counterpart_of(engine, command.comparison, command.prompt.start_token);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    Files files;
    for (const std::string& view : command.views)
      if (const auto file = source.file(named(command.out.file, view)))
        files.push_back({find_view(view), {*file, command.out.format}});
    if (files.empty()) return;
    PromptRun made = run_prompt(engine, prompt, source.where());
    compare(engine, made, counterpart);
    draw(std::move(made), source.where(), files);
  });
}

}  // namespace headscope::app
