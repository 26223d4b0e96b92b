#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// What a command reads and writes. Results go to `out`, messages to `err`. `out` throws when it cannot be
/// written (StreamError), so that a full disk or a closed pipe ends the work.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;  ///< a person reads `out`, on lines
  bool err_is_terminal = false;
};

/// A sentence as `err` gets it: in one line, with nothing in it that a terminal would take for more than
/// text.
std::string one_line(std::string_view text);

/// Runs the program with the arguments after its name and returns the exit status: 0, 1 (it failed: one line
/// on `err`) or 2 (wrong usage: one line on `err`). The one place of the command line where exceptions end.
int run_program(const std::vector<std::string>& arguments, const Streams& streams);

/// For the start of main: where memory ends in a place that cannot throw (the JSON library's destructors
/// allocate), the program ends with the same sentence and status as anywhere else.
void report_out_of_memory();

}  // namespace headscope::app
