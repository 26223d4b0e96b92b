#include "model/files/zip.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "model/files/error.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

constexpr std::uint64_t kMostEntries = 1 << 16, kMostDirectory = 8 << 20;
constexpr std::uint64_t kIn64Bits = 0xffffffff;  // in a field of 32 bits: see the 64-bit record

/// Reads little-endian numbers from a part of the file.
class Fields {
 public:
  Fields(const OpenFile& file, std::uint64_t offset, std::uint64_t size) : bytes_(size, '\0') {
    file.read(offset, std::as_writable_bytes(std::span(bytes_)));
  }
  std::size_t size() const { return bytes_.size(); }
  std::string_view text(std::size_t at, std::size_t size) const {
    return std::string_view(bytes_).substr(at, size);
  }
  /// The number of `size` bytes; 0 beyond the end.
  std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && at + i < bytes_.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[at + i])} << (8 * i);
    return value;
  }

 private:
  std::string bytes_;
};

class Archive {
 public:
  explicit Archive(const OpenFile& file) : file_(file) {}

  std::map<std::string, ZipEntry> entries() const {
    const Directory directory = find_directory();
    const Fields fields(file_, directory.offset, directory.bytes);
    std::map<std::string, ZipEntry> entries;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < directory.count; ++i) {
      constexpr std::size_t kFixed = 46;
      if (at + kFixed > fields.size() || fields.text(at, 4) != "PK\x01\x02") fail_damaged("its directory");
      const std::size_t name_size = fields.number(at + 28, 2), extra_size = fields.number(at + 30, 2);
      std::string name(fields.text(at + kFixed, name_size));
      const ZipEntry entry = entry_at(fields, at, at + kFixed + name_size, extra_size, name);
      if (!entries.emplace(std::move(name), entry).second) fail_damaged("two entries of one name");
      at += kFixed + name_size + extra_size + fields.number(at + 32, 2);
    }
    return entries;
  }

 private:
  struct Directory {
    std::uint64_t count, bytes, offset;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw LoadError(system::text_of(file_.path()) + ": " + what);
  }
  [[noreturn]] void fail_damaged(const std::string& what) const {
    fail("expected a whole ZIP archive of PyTorch, found " + what +
         " damaged or cut off; download the file again");
  }

  bool is_inside(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= file_.size() && bytes <= file_.size() - offset;
  }

  /// The last record of the file says where the directory is; a comment may follow it.
  Directory find_directory() const {
    constexpr std::uint64_t kEnd = 22, kLongestComment = 0xffff, kLocator = 20, kEnd64 = 56;
    const std::uint64_t tail = std::min(file_.size(), kEnd + kLongestComment);
    const Fields end(file_, file_.size() - tail, tail);
    std::size_t at = end.text(0, tail).rfind("PK\x05\x06");
    if (at == std::string_view::npos || at + kEnd > tail) fail_damaged("its end");
    Directory directory{end.number(at + 10, 2), end.number(at + 12, 4), end.number(at + 16, 4)};
    if (at >= kLocator && end.text(at - kLocator, 4) == "PK\x06\x07") {
      const std::uint64_t offset = end.number(at - kLocator + 8, 8);
      if (!is_inside(offset, kEnd64)) fail_damaged("its end");
      const Fields end64(file_, offset, kEnd64);
      if (end64.text(0, 4) != "PK\x06\x06") fail_damaged("its end");
      directory = {end64.number(32, 8), end64.number(40, 8), end64.number(48, 8)};
    }
    if (!is_inside(directory.offset, directory.bytes)) fail_damaged("its directory");
    if (directory.count > kMostEntries || directory.bytes > kMostDirectory)
      fail("expected at most " + std::to_string(kMostEntries) + " entries, found " +
           std::to_string(directory.count));
    return directory;
  }

  /// Sizes and offset of an entry of the directory at `at`, in 64 bits where its extra field has them, and
  /// the place of its bytes, which is behind a header of its own.
  ZipEntry entry_at(const Fields& fields, std::size_t at, std::size_t extra, std::size_t extra_size,
                    const std::string& name) const {
    std::uint64_t unpacked = fields.number(at + 24, 4), packed = fields.number(at + 20, 4),
                  header = fields.number(at + 42, 4);
    for (std::size_t end = extra + extra_size; extra + 4 <= end; extra += 4 + fields.number(extra + 2, 2)) {
      if (fields.number(extra, 2) != 1) continue;
      std::size_t value = extra + 4;
      for (std::uint64_t* field : {&unpacked, &packed, &header})
        if (*field == kIn64Bits) *field = fields.number(value, 8), value += 8;
    }
    constexpr std::uint64_t kHeader = 30;
    const bool is_encrypted = fields.number(at + 8, 2) & 1;
    if (is_encrypted || fields.number(at + 10, 2) != 0 || packed != unpacked)
      fail("expected entries stored as torch.save stores them, found " + quote(name) + " " +
           (is_encrypted ? "encrypted" : "compressed"));
    if (!is_inside(header, kHeader)) fail_damaged(quote(name));
    const Fields local(file_, header, kHeader);
    const std::uint64_t offset = header + kHeader + local.number(26, 2) + local.number(28, 2);
    if (local.text(0, 4) != "PK\x03\x04" || !is_inside(offset, packed)) fail_damaged(quote(name));
    return {offset, packed};
  }

  const OpenFile& file_;
};

}  // namespace

std::map<std::string, ZipEntry> zip_entries(const OpenFile& file) {
  return Archive(file).entries();
}

}  // namespace headscope::model
