#include <limits>
#include <ostream>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/serve/answering.h"
#include "app/run/kept_models.h"
#include "system/machine.h"

namespace headscope::app {
namespace {

/// Answers requests until their end.
struct ServeCommand : Arguments {
  bool stdio = false;
  int memory = 0;  ///< MiB of models that stay loaded; 0: half of the machine's
};

/// The memory for models that stay loaded, in bytes.
std::size_t memory_limit(int mebibytes) {
  constexpr std::size_t kMebibyte = 1 << 20, kUnknownMachine = 2048 * kMebibyte;
  if (mebibytes > 0) return static_cast<std::size_t>(mebibytes) * kMebibyte;
  const std::uint64_t all = system::memory_here().all;
  return all == 0 ? kUnknownMachine : static_cast<std::size_t>(all / 2);
}

void run_serve(const ServeCommand& command, const Streams& streams) {
  if (streams.hide) streams.hide();
  const auto models = std::make_shared<KeptModels>(memory_limit(command.memory));
  while (const auto line = next_request_line(streams.in)) {
    if (line->text.find_first_not_of(" \t\r") == std::string::npos && !line->too_long) continue;
    streams.out << answer_to(*line, models) << '\n' << std::flush;
  }
}

void check_serve(const ServeCommand& serve) {
  if (!serve.stdio)
    throw UsageError(
        "serve needs --stdio: it answers requests that come on standard input, and opens no port");
}

}  // namespace

Finish describe_serve(CommandSyntax& command) {
  const auto own = std::make_shared<ServeCommand>();
  command.flag(
      "stdio",
      "read requests from standard input, one line of JSON each, and write one line\nof JSON each to "
      "standard output",
      own->stdio);
  command.option("memory", "MB",
                 "memory for models that stay loaded, in MiB; the one used longest ago is\ndropped first "
                 "(default 0: half of the machine's)",
                 own->memory, whole(0, 1 << 30));
  command.footer(
      "A request: {\"id\": 1, \"command\": \"predict\", \"options\": {\"prompt\": \"Once upon a time\", "
      "\"top\": "
      "5}}\n"
      "Options are named as in the help, without dashes. The answer has the same id, the exit status, and\n"
      "result (the JSON of --json), text, or format and base64 (with --out -); after a failure it has "
      "error,\n"
      "one sentence. serve ends with status 0 at the end of its input.");
  return command.finish(own, check_serve, run_serve);
}

}  // namespace headscope::app
