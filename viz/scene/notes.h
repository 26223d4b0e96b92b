#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headscope::viz {

/// A text that a picture's file carries with the picture: in PNG an iTXt chunk of that keyword, in SVG a
/// <metadata> element of that id, in PDF a comment that begins with the name.
struct Note {
  std::string name;  ///< 1 to 79 ASCII letters, digits and "-"
  std::string text;  ///< ASCII without control characters: every format and every tool can hold that
};

/// The first note of that name that a file has; nothing where the file is none of these, or has none. Reads
/// what encode_png, to_svg and to_pdf write, also once another program has saved the SVG again. Throws
/// std::runtime_error, the end of a sentence that begins with the file's name, for one that cannot be read:
/// cut off, damaged, compressed.
std::optional<std::string> find_note(std::string_view file, std::string_view name);

}  // namespace headscope::viz
