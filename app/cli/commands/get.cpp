#include "app/cli/commands/get.h"

#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/interrupt.h"
#include "app/cli/status_line.h"
#include "app/hub/fetch.h"
#include "app/hub/model_cache.h"
#include "app/text/shown.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

/// Tells how a fetch goes: on a terminal in one line that changes, else in a line now and then.
class ProgressTeller {
 public:
  explicit ProgressTeller(const Streams& streams) : streams_(streams), line_(streams) {}

  void tell(const FetchProgress& progress) {
    const std::string text = progress_text(progress);
    if (line_.show(text)) return;
    constexpr std::uint64_t kParts = 10;
    const std::uint64_t part = progress.total == 0 ? 0 : progress.done * kParts / progress.total;
    const bool goes_on = progress.came > 0 && part != part_;
    if (!goes_on && (progress.waiting.empty() || progress.waiting == waiting_)) return;
    part_ = part;
    waiting_ = progress.waiting;
    streams_.err << "headscope: " << one_line(text) << '\n' << std::flush;
  }

  void clear() { line_.clear(); }

 private:
  const Streams& streams_;
  StatusLine line_;
  std::uint64_t part_ = static_cast<std::uint64_t>(-1);
  std::string waiting_;
};

std::filesystem::path fetch(const HubModel& model, const HubSettings& settings, const Streams& streams) {
  const InterruptGuard guard;
  ProgressTeller teller(streams);
  FetchOptions options;
  options.progress = [&](const FetchProgress& progress) { teller.tell(progress); };
  options.cancelled = [&] {
    try {
      guard.check();
      return false;
    } catch (const Interrupted&) {
      return true;
    }
  };
  try {
    return fetch_model(model, settings, options);
  } catch (const model::Stopped&) {
    teller.clear();
    streams.err << "headscope: cancelled; what has come is kept, and the same command goes on from there\n";
    guard.check();
    throw;
  }
}

}  // namespace

void run_command(const GetCommand& command, const Streams& streams) {
  const std::string folder = fetch(command.wanted, hub_settings(process_environment()), streams).string();
  streams.out << (streams.out_is_terminal ? shown(folder) : folder) << '\n';
}

void bring_model(ModelArguments& model, const Streams& streams) {
  if (!model.get || !model.model) return;
  // A cache may hold a stub, as libraries leave it that were asked for the configuration alone.
  std::error_code ignored;
  const auto found = find_model(*model.model);
  if (found && (std::filesystem::exists(*model.model, ignored) || is_whole_model(*found))) return;
  model.model = fetch(parse_hub_model(*model.model), hub_settings(process_environment()), streams).string();
}

}  // namespace headscope::app
