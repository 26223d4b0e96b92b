#include <string>

#include "app/cli/command_line.h"
#include "app/cli/engine.h"
#include "app/cli/status_line.h"
#include "app/hub/fetch.h"
#include "app/run/sources/paths.h"
#include "app/text/output_text.h"
#include "system/file.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

std::filesystem::path fetch(const HubModel& model, const HubSettings& settings, const Streams& streams) {
  const system::InterruptGuard guard;
  StatusLine line(streams);
  FetchOptions options;
  options.progress = [&](const FetchProgress& progress) {
    if (line.is_due()) line.tell("headscope: " + one_line(progress_text(progress)));
  };
  options.cancelled = [&] { return guard.interrupted(); };
  try {
    return fetch_model(model, settings, options);
  } catch (const model::Stopped&) {
    line.clear();
    streams.err << "headscope: cancelled; the partial download is kept, and the same command resumes it\n";
    guard.check();
    throw;
  }
}

int run_get(const std::string& name, const Streams& streams) {
  if (name.empty()) throw UsageError("a model's name is missing, e.g. headscope get gpt2");
  const HubModel wanted = [&] {
    try {
      return parse_hub_model(name);
    } catch (const HubError& error) {
      throw UsageError(error.what());
    }
  }();
  const std::string folder = system::text_of(fetch(wanted, hub_settings(process_environment()), streams));
  streams.out << (streams.out_is_terminal ? terminal_safe(folder) : folder) << '\n';
  return 0;
}

}  // namespace

Run describe_get(CLI::App& app, const std::shared_ptr<Arguments>&) {
  std::string names;
  for (const KnownModel& known : kKnownModels)
    names += (names.empty() ? "" : ", ") + std::string(known.short_name);
  const auto name = std::make_shared<std::string>();
  app.add_option(
      "NAME", *name,
      names +
          ",\nor any other GPT-2 on the hub, e.g. org/name; org/name@REVISION:\na branch, a tag or a "
          "commit of it");
  add_footer(
      app,
      "Files in the cache are checked by hash, and only damaged ones are fetched again; an interrupted\n"
      "fetch resumes. A commit that is complete in the cache is neither checked nor asked for. The folder\n"
      "is written to standard output. HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE\n"
      "work as in Hugging Face's own tools, which share this cache.");
  return [name](const Streams& streams) { return run_get(*name, streams); };
}

void fetch_if_missing(ModelArguments& model, const Streams& streams) {
  if (!model.get || !model.name) return;
  // The cache may hold an incomplete model, for example if a library fetched only its configuration.
  const auto found = find_model(*model.name);
  if (found && (system::is_there(system::path_of(*model.name)) || is_complete_model(*found))) return;
  model.name =
      system::text_of(fetch(parse_hub_model(*model.name), hub_settings(process_environment()), streams));
}

}  // namespace headscope::app
