#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headscope::viz {

/// A text stored in a picture's file: in PNG an iTXt chunk with that keyword, in SVG a <metadata> element
/// with that id, in PDF a comment that begins with the name.
struct Note {
  std::string name;  ///< 1 to 79 ASCII letters, digits and "-"
  std::string text;  ///< ASCII without control characters: every format and every tool can hold that
};

/// The first note with that name in a file; nothing if the file is none of these formats, or has none. Reads
/// what encode_png, to_svg and to_pdf write, even after another program has re-saved the SVG. Throws
/// std::runtime_error, the end of a sentence that begins with the file's name, if it is cut off, damaged or
/// compressed.
std::optional<std::string> find_note(std::string_view file, std::string_view name);

}  // namespace headscope::viz
