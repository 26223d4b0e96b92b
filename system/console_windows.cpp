#include "system/console.h"

#include <windows.h>

#include <cstdlib>
#include <stdexcept>

#include "system/windows_calls.h"

// The C library's own start of programs calls it. CommandLineToArgvW, which does the same, is of the
// desktop's library, which takes longer to start than the program does.
extern "C" int __wgetmainargs(int* count, wchar_t*** words, wchar_t*** environment, int expand,  // NOLINT
                              int* new_mode);

namespace headscope::system {
namespace {

File standard_file(DWORD number) {
  return File::borrowed(reinterpret_cast<File::Handle>(::GetStdHandle(number)));
}

/// Control sequences (colours, "clear to the end of the line") are obeyed instead of shown.
void obey_control_sequences(HANDLE output) {
  DWORD mode = 0;
  if (::GetConsoleMode(output, &mode)) ::SetConsoleMode(output, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

}  // namespace

void prepare_standard_streams() {
  ::SetConsoleOutputCP(CP_UTF8);
  for (const DWORD number : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE})
    obey_control_sequences(::GetStdHandle(number));
}

File standard_input() {
  return standard_file(STD_INPUT_HANDLE);
}

File standard_output() {
  return standard_file(STD_OUTPUT_HANDLE);
}

File standard_error() {
  return standard_file(STD_ERROR_HANDLE);
}

File without_name(const File& stream) {
  return File::borrowed(stream.handle());
}

void hide_standard_streams() {}

bool is_terminal(const File& file) {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(file), &mode) != 0;
}

std::size_t terminal_columns() {
  CONSOLE_SCREEN_BUFFER_INFO screen{};
  if (!::GetConsoleScreenBufferInfo(::GetStdHandle(STD_ERROR_HANDLE), &screen)) return 80;
  const int columns = screen.srWindow.Right - screen.srWindow.Left + 1;
  return columns > 1 ? static_cast<std::size_t>(columns) : 80;
}

std::vector<std::string> program_arguments(int /*argc*/, char** /*argv*/) {
  int count = 0, new_mode = 0;
  wchar_t **words = nullptr, **environment = nullptr;
  constexpr int kNoWildcards = 0;
  if (::__wgetmainargs(&count, &words, &environment, kNoWildcards, &new_mode) < 0)
    throw std::runtime_error("cannot read the command line");
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(utf8(words[i]));
  return arguments;
}

void leave_own_console() {
  DWORD processes[2];
  if (::GetConsoleProcessList(processes, 2) == 1) ::FreeConsole();
}

void end_with_message(int status, std::initializer_list<std::string_view> parts) noexcept {
  for (const std::string_view part : parts) {
    DWORD written = 0;
    if (!::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), part.data(), static_cast<DWORD>(part.size()), &written,
                     nullptr))
      break;
  }
  std::_Exit(status);
}

}  // namespace headscope::system
