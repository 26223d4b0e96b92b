#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "system/file.h"

namespace headscope::system {

/// Call at the start of main. A standard stream that is closed is occupied, so that no file opened later
/// becomes standard output by accident; writing to it still fails. Writing to a closed pipe, or more than a
/// file may have (ulimit -f), becomes an error of the write instead of a signal. A console of Windows shows
/// UTF-8 and obeys control sequences.
void prepare_standard_streams();

File standard_input();
File standard_output();
File standard_error();

/// The same stream apart from its name: hide_standard_streams leaves it as it is.
File without_name(const File& stream);

/// Points the names that the system has for standard input and output, such as /dev/stdin, elsewhere: nothing
/// is read there, and what is written goes to standard error. For a program that speaks a protocol there,
/// which files by these names would disturb. Nothing happens on systems that have no such names.
void hide_standard_streams();

/// Whether a person reads or types there.
bool is_terminal(const File& file);

/// The columns of the terminal that shows standard error; 80 if unknown.
std::size_t terminal_columns();

/// The arguments after the program's name: on Windows in UTF-8, wherever `argv` comes from.
std::vector<std::string> program_arguments(int argc, char** argv);

/// Closes a console that the system has opened for this program alone, as Windows does where no terminal
/// started it. Nothing happens on other systems.
void leave_own_console();

/// Writes a message to standard error and ends the program at once, without allocating.
[[noreturn]] void end_with_message(int status, std::initializer_list<std::string_view> parts) noexcept;

}  // namespace headscope::system
