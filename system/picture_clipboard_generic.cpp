// Desktops with X11 or Wayland.
#include "system/picture_clipboard.h"
#include "system/posix_calls.h"

namespace headscope::system {

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

}  // namespace headscope::system
