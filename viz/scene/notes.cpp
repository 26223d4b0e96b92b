#include "viz/scene/notes.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace headscope::viz {
namespace {

constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

/// Reads four bytes, big-endian; there must be at least four.
std::uint32_t u32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// The bytes after the next 0; nothing if there is none.
std::optional<std::string_view> after_zero(std::string_view bytes) {
  const std::size_t zero = bytes.find('\0');
  if (zero == std::string_view::npos) return std::nullopt;
  return bytes.substr(zero + 1);
}

/// The text of an iTXt chunk, from the end of its keyword.
std::string international_text(std::string_view data) {
  if (data.size() < 2) throw std::runtime_error("its recipe is truncated");
  if (data[0] != '\0') throw std::runtime_error("its recipe is compressed, which headscope does not support");
  auto rest = after_zero(data.substr(2));  // after the language
  if (rest) rest = after_zero(*rest);      // after the keyword in that language
  if (!rest) throw std::runtime_error("its recipe is truncated");
  return std::string(*rest);
}

/// Reads chunk by chunk, up to the note.
std::optional<std::string> note_of_png(std::string_view rest, std::string_view name) {
  constexpr std::size_t kFrame = 12;  // length, type, checksum
  rest.remove_prefix(kPngSignature.size());
  while (rest.size() >= kFrame) {
    const std::size_t length = u32(rest);
    const std::string_view type = rest.substr(4, 4);
    const bool whole = length <= rest.size() - kFrame;
    const std::string_view data = rest.substr(8, length);
    const bool of_text = type == "iTXt" || type == "zTXt" || type == "tEXt";
    if (of_text && data.starts_with(name) && data.size() > name.size() && data[name.size()] == '\0') {
      if (!whole) throw std::runtime_error("its recipe is truncated");
      if (crc32(rest.substr(4, 4 + length)) != u32(rest.substr(8 + length)))
        throw std::runtime_error("its recipe is damaged: wrong checksum");
      if (type == "zTXt")
        throw std::runtime_error("its recipe is compressed, which headscope does not support");
      const std::string_view text = data.substr(name.size() + 1);
      return type == "tEXt" ? std::string(text) : international_text(text);
    }
    if (!whole || type == "IEND") break;
    rest.remove_prefix(kFrame + length);
  }
  return std::nullopt;
}

/// Replaces the five predefined entities of XML.
std::string without_entities(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string plain;
  while (!text.empty()) {
    if (text.front() != '&') {
      const std::size_t end = std::min(text.find('&'), text.size());
      plain += text.substr(0, end);
      text.remove_prefix(end);
      continue;
    }
    const auto* const known =
        std::ranges::find_if(kEntities, [&](const auto& entity) { return text.starts_with(entity.first); });
    if (known == std::end(kEntities)) throw std::runtime_error("its recipe has an unknown XML entity");
    plain += known->second;
    text.remove_prefix(known->first.size());
  }
  return plain;
}

/// The text of the <metadata> element with that id, before which an editor may have put other attributes and
/// a namespace.
std::optional<std::string> note_of_svg(std::string_view file, std::string_view name) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::string id = "id=\"" + std::string(name) + "\"";
  for (std::size_t at = file.find(id); at != std::string_view::npos; at = file.find(id, at + 1)) {
    const std::size_t open = file.rfind('<', at), end = file.find('>', at);
    if (open == std::string_view::npos || end == std::string_view::npos) continue;
    const std::string_view tag = file.substr(open + 1, at - open - 1);
    const std::string_view element = tag.substr(0, tag.find_first_of(kSpaces));
    const bool separate = !tag.empty() && kSpaces.find(tag.back()) != std::string_view::npos;
    if (!separate || (element != "metadata" && !element.ends_with(":metadata"))) continue;
    const std::string_view text = file.substr(end + 1);
    const std::string_view close = text.substr(std::min(text.find('<'), text.size()));
    if (close.size() < 2) throw std::runtime_error("its recipe is truncated");
    if (close[1] != '/')
      throw std::runtime_error("its recipe contains XML elements, which headscope does not support");
    return without_entities(text.substr(0, text.size() - close.size()));
  }
  return std::nullopt;
}

/// A comment on its own line, after everything listed in the file's cross-reference table.
std::optional<std::string> note_of_pdf(std::string_view file, std::string_view name) {
  const std::string begin = "\n%" + std::string(name) + " ";
  const std::size_t at = file.rfind(begin);
  if (at == std::string_view::npos) return std::nullopt;
  file.remove_prefix(at + begin.size());
  const std::size_t end = file.find('\n');
  if (end == std::string_view::npos) throw std::runtime_error("its recipe is truncated");
  return std::string(file.substr(0, end));
}

bool is_xml(std::string_view file) {
  if (file.starts_with("\xEF\xBB\xBF")) file.remove_prefix(3);
  const std::size_t start = file.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && file[start] == '<';
}

}  // namespace

std::optional<std::string> find_note(std::string_view file, std::string_view name) {
  if (file.starts_with(kPngSignature)) return note_of_png(file, name);
  if (file.starts_with("%PDF-")) return note_of_pdf(file, name);
  if (is_xml(file)) return note_of_svg(file, name);
  return std::nullopt;
}

std::uint32_t crc32(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace headscope::viz
