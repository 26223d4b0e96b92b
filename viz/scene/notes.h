#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::viz {

/// A text stored in a picture's file: in PNG an iTXt chunk with the name as its keyword, in SVG a <metadata>
/// element with the name as its id, in PDF a comment that begins with the name.
struct Note {
  std::string name;  ///< 1 to 79 ASCII letters, digits and "-"
  std::string text;  ///< ASCII without control characters, which every format and tool supports
  bool operator==(const Note&) const = default;
};

/// The first note with that name in a file; nothing if the file has none of these formats, or no such note.
/// Reads files written by encode_png, to_svg and to_pdf, and SVG files saved by another program. Throws
/// std::runtime_error, with the end of a sentence that begins with the file's name, if the file is truncated,
/// damaged or compressed.
std::optional<std::string> find_note(std::string_view file, std::string_view name);

/// The CRC-32 used in PNG, annex D of its specification.
std::uint32_t crc32(std::string_view bytes);

}  // namespace headscope::viz
