#pragma once
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

class KeptModels;

/// A command's input and output. Results go to `out`, messages to `err`. `out` throws StreamError if it
/// cannot be written, so that a full disk or a closed pipe ends the work.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;  ///< a person reads `out` in a terminal
  bool err_is_terminal = false;
  /// For a command that speaks a protocol by `in` and `out`: takes the system's names for them away from all
  /// else. Empty: they have none.
  std::function<void()> hide = {};
};

/// A sentence for `err`: on one line and safe for a terminal.
std::string one_line(std::string_view text);

/// How something ended: the exit status, and the sentence about a failure; empty: none.
struct Outcome {
  int status = 0;
  std::string error = {};
};

/// Calls `work`, which returns an exit status, and catches its exceptions: the only place in the command line
/// that catches all. Throws system::Interrupted.
Outcome outcome_of(const std::function<int()>& work);

/// Runs the program with the arguments after its name and returns the exit status: 0, 1 (failure: one line on
/// `err`) or 2 (wrong usage: one line on `err`). `models`: those that stay loaded for later commands of the
/// process; null: the command loads its own.
int run_program(const std::vector<std::string>& arguments, const Streams& streams,
                const std::shared_ptr<KeptModels>& models = nullptr);

/// Call at the start of main: if memory runs out where nothing can be thrown (the JSON library's destructors
/// allocate), the program ends with the same sentence and status as anywhere else.
void report_out_of_memory();

}  // namespace headscope::app
