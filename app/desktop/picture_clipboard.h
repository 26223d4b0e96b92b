#pragma once
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/sources/paths.h"

namespace headscope::app {

/// The program of the desktop that takes a PNG from its standard input into the clipboard. Windows toolkits
/// hand over text alone.
struct PictureClipboard {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  bool operator==(const PictureClipboard&) const = default;
};

/// wl-copy where there is a Wayland display, else xclip where there is an X one, in $PATH; nothing where
/// neither is there.
std::optional<PictureClipboard> picture_clipboard(const Environment& environment);

/// Why pictures cannot be copied where picture_clipboard found nothing: one sentence that names what to
/// install.
std::string_view no_picture_clipboard();

/// Copies a picture: the bytes of a PNG file. Empty when it is in the clipboard, else one sentence. Waits for
/// the program, at most for `patience`, so not on the window's thread (see Background).
std::string copy_picture(const PictureClipboard& clipboard, std::string_view png,
                         std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace headscope::app
