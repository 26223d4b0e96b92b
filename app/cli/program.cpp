#include "app/cli/program.h"

#include <cstdlib>
#include <exception>
#include <new>
#include <ostream>
#include <string_view>

#include "app/cli/command_line.h"
#include "app/cli/standard_streams.h"
#include "app/text/output_text.h"
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
      const auto parsed = parse_command_line(arguments, models);
      const auto* const reply = std::get_if<std::string>(&parsed);
      int status = 0;
      if (reply != nullptr)
        streams.out << *reply;
      else
        status = std::get<Task>(parsed).run(streams);
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
