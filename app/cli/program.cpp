#include "app/cli/program.h"

#include <cstdlib>
#include <exception>
#include <new>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/command.h"
#include "app/cli/arguments/standard_streams.h"
#include "app/text/terminal_text.h"
#include "system/console.h"
#include "system/interrupt.h"

namespace headscope::app {
namespace {

constexpr std::string_view kNoMemory =
    "not enough memory; use a shorter prompt, a smaller picture or a smaller model";

}  // namespace

std::string one_line(std::string_view text) {
  std::string line = terminal_safe(text);
  if (line.ends_with('.') && !line.ends_with("..")) line.pop_back();
  return line;
}

int run(const ParsedCommand& command, const Streams& streams) {
  if (const auto* task = std::get_if<Task>(&command)) return task->run(streams);
  const CommandReply& reply = std::get<CommandReply>(command);
  if (reply.status == 2) throw UsageError(reply.text);
  if (reply.status != 0) throw UnusableValue(reply.text);
  streams.out << reply.text;
  return 0;
}

Outcome outcome_of(const std::function<int()>& work) {
  try {
    return {work()};
  } catch (const StreamError& error) {
    return {1, error.quiet() ? "" : error.what()};
  } catch (const UsageError& error) {
    return {2, error.what()};
  } catch (const std::bad_alloc&) {
    return {1, std::string(kNoMemory)};
  } catch (const std::exception& error) {
    return {1, error.what()};
  }
}

int run_program(const std::vector<std::string>& arguments, const Streams& streams,
                const std::shared_ptr<KeptModels>& models) {
  try {
    const Outcome outcome = outcome_of([&] {
      Arguments start;
      start.model.kept = {models};
      const int status = run(parse_command_line(arguments, start), streams);
      streams.out.flush();
      return status;
    });
    if (!outcome.error.empty()) streams.err << "headscope: " << one_line(outcome.error) << '\n';
    return outcome.status;
  } catch (const system::Interrupted& interrupted) {
    return system::end_by_signal(interrupted);
  }
}

void report_out_of_memory() {
  std::set_terminate([] {
    // A noexcept function of the C++ library, for example of its directory iterators, gets here with an
    // uncaught exception that is not current. Such functions throw only if memory runs out.
    bool no_memory = !std::current_exception() && std::uncaught_exceptions() > 0;
    try {
      if (std::current_exception()) throw;
    } catch (const std::bad_alloc&) {
      no_memory = true;
    } catch (...) {
    }
    if (no_memory) system::end_with_message(1, {"headscope: ", kNoMemory, "\n"});
    std::abort();
  });
}

}  // namespace headscope::app
