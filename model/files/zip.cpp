#include "model/files/zip.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/files/error.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

constexpr std::uint64_t kMostEntries = 1 << 16, kMostDirectory = 8 << 20;
constexpr std::uint64_t kIn64Bits = 0xffffffff;  // in a field of 32 bits: see the one of 64

/// A part of the file, of which little-endian numbers are read.
class Record {
 public:
  /// Throws if it does not lie inside the file.
  Record(const OpenFile& file, std::uint64_t offset, std::uint64_t size, std::string_view signature)
      : file_(file) {
    if (offset > file.size() || size > file.size() - offset) fail();
    bytes_ = file.text(offset, size);
    if (!bytes_.starts_with(signature)) fail();
  }
  std::string_view text(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) fail();
    return std::string_view(bytes_).substr(at, size);
  }
  std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    const std::string_view digits = text(at, size);
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(digits[i]);
    return value;
  }
  [[noreturn]] void fail() const {
    reject(system::text_of(file_.path()), "a whole ZIP archive of PyTorch",
           "a damaged one; download the file again");
  }

 private:
  const OpenFile& file_;
  std::string bytes_;
};

/// The entries' descriptions, and how many there are. The last record of the file says where they are, and a
/// comment may follow it.
std::pair<Record, std::uint64_t> directory_of(const OpenFile& file) {
  constexpr std::uint64_t kEnd = 22, kLongestComment = 0xffff, kLocator = 20, kEnd64 = 56;
  const std::uint64_t tail = std::min(file.size(), kEnd + kLongestComment);
  const Record end(file, file.size() - tail, tail, "");
  const std::size_t at = end.text(0, tail).rfind("PK\x05\x06");
  if (at == std::string_view::npos) end.fail();
  std::uint64_t count = end.number(at + 10, 2), bytes = end.number(at + 12, 4),
                offset = end.number(at + 16, 4);
  if (at >= kLocator && end.text(at - kLocator, 4) == "PK\x06\x07") {
    const Record end64(file, end.number(at - kLocator + 8, 8), kEnd64, "PK\x06\x06");
    count = end64.number(32, 8), bytes = end64.number(40, 8), offset = end64.number(48, 8);
  }
  if (count > kMostEntries || bytes > kMostDirectory) end.fail();
  return {Record(file, offset, bytes, ""), count};
}

}  // namespace

std::map<std::string, ZipEntry> zip_entries(const OpenFile& file) {
  const auto [directory, count] = directory_of(file);
  std::map<std::string, ZipEntry> entries;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::size_t kFixed = 46, kHeader = 30;
    if (directory.text(at, 4) != "PK\x01\x02") directory.fail();
    const std::size_t name_size = directory.number(at + 28, 2), extra_size = directory.number(at + 30, 2);
    const std::string name(directory.text(at + kFixed, name_size));
    std::uint64_t unpacked = directory.number(at + 24, 4), packed = directory.number(at + 20, 4),
                  header = directory.number(at + 42, 4);
    // Numbers of 64 bits stand in the extra field with the tag 1.
    std::size_t extra = at + kFixed + name_size;
    for (const std::size_t end = extra + extra_size; extra + 4 <= end;
         extra += 4 + directory.number(extra + 2, 2)) {
      std::size_t next = extra + 4;
      for (std::uint64_t* field : {&unpacked, &packed, &header})
        if (directory.number(extra, 2) == 1 && *field == kIn64Bits)
          *field = directory.number(next, 8), next += 8;
    }
    const bool is_encrypted = directory.number(at + 8, 2) % 2 == 1;
    if (is_encrypted || directory.number(at + 10, 2) != 0 || packed != unpacked)
      reject(system::text_of(file.path()), "entries stored as torch.save stores them",
             quote(name) + (is_encrypted ? " encrypted" : " compressed"));
    // The bytes are behind a header of their own, with a name and an extra field.
    const Record local(file, header, kHeader, "PK\x03\x04");
    const ZipEntry entry{header + kHeader + local.number(26, 2) + local.number(28, 2), packed};
    if (entry.offset > file.size() || packed > file.size() - entry.offset) local.fail();
    if (!entries.emplace(name, entry).second) directory.fail();
    at += kFixed + name_size + extra_size + directory.number(at + 32, 2);
  }
  return entries;
}

}  // namespace headscope::model
