#pragma once
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "system/folders.h"

namespace headscope::system {

/// The program that copies a PNG, its standard input, to the clipboard, because window toolkits copy only
/// text.
struct PictureClipboard {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  bool operator==(const PictureClipboard&) const = default;
};

/// wl-copy with a Wayland display, else xclip with an X display, if they are in $PATH; nothing if none is.
std::optional<PictureClipboard> picture_clipboard(const Environment& environment);

/// Why pictures cannot be copied if picture_clipboard found nothing: one sentence that says what to install.
std::string_view no_picture_clipboard();

/// Copies the bytes of a PNG file. Returns why it failed (one sentence); empty: success. Waits for the
/// program for at most `patience`, so do not call it on the window's thread (see Background).
std::string copy_picture(const PictureClipboard& clipboard, std::string_view png,
                         std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace headscope::system
