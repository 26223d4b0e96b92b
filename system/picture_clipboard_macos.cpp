#include "system/picture_clipboard.h"
#include "system/posix_calls.h"

namespace headscope::system {

// A script, since the clipboard's own calls are Objective-C. It gets the picture as a file: scripts cannot
// read bytes from standard input.
std::optional<PictureClipboard> picture_clipboard(const Environment& environment) {
  auto program = program_in_path(environment, "osascript");
  if (!program) return std::nullopt;
  return PictureClipboard{
      std::move(*program),
      {"-e", "on run {picture}", "-e", "set the clipboard to (read (POSIX file picture) as «class PNGf»)",
       "-e", "end run"},
      true};
}

std::string_view no_picture_clipboard() {
  return "Copying pictures requires osascript, a part of macOS; it is in no folder of PATH.";
}

}  // namespace headscope::system
