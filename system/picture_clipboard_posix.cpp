#include "system/picture_clipboard.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <system_error>
#include <thread>

#include "system/calls.h"
#include "system/path_text.h"

extern char** environ;  // POSIX does not declare it

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// A program in one of the folders of $PATH; nothing if none has it. Never one in the current folder.
std::optional<fs::path> program_in_path(const Environment& environment, std::string_view name) {
  for (const fs::path& folder : folders_in(environment("PATH").value_or("")))
    if (is_file(folder / name) && ::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  return std::nullopt;
}

/// Starts the program with the picture as standard input, a file, since a pipe would block the writer as long
/// as the program likes and raise SIGPIPE if the program ends early, and without output: it keeps running to
/// serve the picture and must not hold this program's terminal or pipe open. Returns 0 or errno.
int start(const PictureClipboard& clipboard, int input, pid_t& process) {
  std::vector<std::string> words{text_of(clipboard.program)};
  words.insert(words.end(), clipboard.arguments.begin(), clipboard.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  if (const int error = ::posix_spawn_file_actions_init(&files)) return error;
  int error = ::posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    if (error == 0) error = ::posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
  if (error == 0) error = ::posix_spawn(&process, argv[0], &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  return error;
}

/// The status of the process if it ends in time; otherwise kills it and returns nothing.
std::optional<int> wait_for(pid_t process, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    int status = 0;
    const pid_t found = ::waitpid(process, &status, WNOHANG);
    if (found == process) return status;
    if (found < 0 && errno != EINTR) return std::nullopt;
    if (std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  return std::nullopt;
}

}  // namespace

// Of desktops with X11 or Wayland.
std::optional<PictureClipboard> picture_clipboard(const Environment& environment) {
  if (environment("WAYLAND_DISPLAY"))
    if (auto program = program_in_path(environment, "wl-copy"))
      return PictureClipboard{std::move(*program), {"--type", "image/png"}};
  if (environment("DISPLAY"))
    if (auto program = program_in_path(environment, "xclip"))
      return PictureClipboard{std::move(*program), {"-selection", "clipboard", "-t", "image/png", "-i"}};
  return std::nullopt;
}

std::string_view no_picture_clipboard() {
  return "Copying pictures requires wl-copy (package wl-clipboard) on Wayland, or xclip on X11; neither was "
         "found.";
}

std::string copy_picture(const PictureClipboard& clipboard, std::string_view png,
                         std::chrono::milliseconds patience) {
  const std::string name = text_of(clipboard.program.filename());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> picture(std::tmpfile(), &std::fclose);
  try {
    if (!picture) fail(errno);
    ::fcntl(::fileno(picture.get()), F_SETFD, FD_CLOEXEC);
    // Leaves the place to read from at the start.
    File::borrowed(::fileno(picture.get())).write_at(0, std::as_bytes(std::span(png)));
  } catch (const std::system_error& error) {
    return "The picture was not copied: a temporary file cannot be written (" + error.code().message() + ").";
  }
  pid_t process = 0;
  if (const int error = start(clipboard, ::fileno(picture.get()), process))
    return "The picture was not copied: " + text_of(clipboard.program) + " cannot be started (" +
           std::generic_category().message(error) + ").";
  const auto status = wait_for(process, patience);
  if (!status) return "The picture was not copied: " + name + " did not finish and was stopped.";
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return "The picture was not copied: " + name + " failed; check that the display is still available.";
  return {};
}

}  // namespace headscope::system
