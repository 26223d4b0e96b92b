#include "model/files/tensor_file.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "model/files/error.h"
#include "model/files/pickle.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

using Kind = Pickle::Kind;
using Value = Pickle::Value;

constexpr std::uint64_t kLongestPickle = 16 << 20;
constexpr std::size_t kLongestName = 1024;
constexpr std::uint64_t kMostGaps = 64;  // what lies between a view's numbers is read, too, so not too much

/// The bytes of one file in an archive.
struct ZipEntry {
  std::uint64_t offset = 0;  ///< in the archive's file
  std::uint64_t bytes = 0;
};

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
  std::uint64_t number(std::size_t at, std::size_t size) const { return little_endian(text(at, size)); }
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
    count = end64.number(32, 8);
    bytes = end64.number(40, 8);
    offset = end64.number(48, 8);
  }
  if (count > kMostEntries || bytes > kMostDirectory) end.fail();
  return {Record(file, offset, bytes, ""), count};
}

/// The entries of a ZIP archive by name (PKWARE's APPNOTE 6.3, with its 64-bit records), as torch.save writes
/// one: stored, neither compressed nor encrypted. Every entry lies inside the file. Throws LoadError that
/// names the file for anything else.
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
      for (std::uint64_t* field : {&unpacked, &packed, &header}) {
        if (directory.number(extra, 2) != 1 || *field != kIn64Bits) continue;
        *field = directory.number(next, 8);
        next += 8;
      }
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

/// The tensors of a state dict, as torch._utils rebuilds them from views of storages.
class StateDict {
 public:
  explicit StateDict(const fs::path& path)
      : where_(system::text_of(path)), file_(std::make_shared<const OpenFile>(path)), entries_(entries()) {
    const auto pickle = std::ranges::find_if(
        entries_, [](const auto& entry) { return ("/" + entry.first).ends_with("/data.pkl"); });
    if (pickle == entries_.end()) reject(where_, "a state dict in the archive", "no data.pkl");
    folder_ = pickle->first.substr(0, pickle->first.size() - std::string_view("data.pkl").size());
    if (entries_.contains(folder_ + "constants.pkl"))
      reject(where_, "a state dict", "a TorchScript program; save model.state_dict() with torch.save");
    if (text_of("byteorder").value_or("little") != "little")
      reject(where_, "little-endian numbers", "big-endian ones; save the file again on a usual computer");
    text_ = *text_of("data.pkl");
    pickle_ = read_pickle(text_, where_);
  }

  std::map<std::string, TensorView> tensors() const {
    std::map<std::string, TensorView> tensors;
    const Value& dictionary = state_dict();
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < dictionary.items.size(); i += 2) {
      const Value& key = pickle_[dictionary.items[i]];
      if (key.kind != Kind::text || key.text.size() > kLongestName)
        reject(where_, "names of tensors as keys", "something else");
      const Value* arguments = rebuilt(pickle_[dictionary.items[i + 1]]);
      if (arguments == nullptr) continue;
      TensorView view = tensor(*arguments, key.text);
      // What is shared is the embedding and the head.
      if ((total += view.bytes) > 2 * file_->size())
        reject(where_, "storages of one tensor or two", "the same numbers in many");
      tensors.insert_or_assign(std::string(key.text), std::move(view));
    }
    return tensors;
  }

 private:
  std::map<std::string, ZipEntry> entries() const {
    const std::string start = file_->text(0, std::min<std::uint64_t>(file_->size(), 64));
    if (start.starts_with("PK")) return zip_entries(*file_);
    // Before version 1.6 a number of PyTorch's own came first, as a pickle.
    if (start.starts_with(std::string_view("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.")))
      reject(where_, "the form of PyTorch 1.6 and later",
             "an older one; write it anew in Python: torch.save(torch.load(\"pytorch_model.bin\"), "
             "\"pytorch_model.bin\")");
    const std::string other = start.empty() ? "an empty file; download it again" : foreign_content(start);
    reject(where_, "a state dict as torch.save writes it", other.empty() ? "something else" : other);
  }

  std::optional<std::string> text_of(const std::string& name) const {
    const auto entry = entries_.find(folder_ + name);
    if (entry == entries_.end()) return std::nullopt;
    if (entry->second.bytes > kLongestPickle)
      reject(where_, "at most " + std::to_string(kLongestPickle) + " bytes as " + quote(name),
             std::to_string(entry->second.bytes));
    return file_->text(entry->second.offset, entry->second.bytes);
  }

  /// The arguments of a call of that global; null: the value is no such call.
  const Value* arguments_of(const Value& value, std::string_view callee) const {
    const bool is_call = value.kind == Kind::call && pickle_[value.items[0]].text == callee;
    return is_call ? &pickle_[value.items[1]] : nullptr;
  }

  /// The arguments of the call that rebuilds a tensor, which a parameter may be around; null: the value is
  /// none.
  const Value* rebuilt(const Value& value) const {
    const Value* parameter = arguments_of(value, "torch._utils._rebuild_parameter");
    const bool is_around = parameter != nullptr && !parameter->items.empty();
    return arguments_of(is_around ? pickle_[parameter->items[0]] : value, "torch._utils._rebuild_tensor_v2");
  }

  bool has_tensors(const Value& value) const {
    for (std::size_t i = 1; value.kind == Kind::dictionary && i < value.items.size(); i += 2)
      if (rebuilt(pickle_[value.items[i]])) return true;
    return false;
  }

  const Value& state_dict() const {
    const Value& root = pickle_[pickle_.root];
    if (root.kind != Kind::dictionary) reject(where_, "a state dict", "another object");
    if (has_tensors(root)) return root;
    for (const std::string_view name : {"model", "state_dict", "model_state_dict"}) {
      const Value* last = nullptr;  // of several values of a key, as in Python
      for (std::size_t i = 0; i < root.items.size(); i += 2)
        if (pickle_[root.items[i]].text == name) last = &pickle_[root.items[i + 1]];
      if (last != nullptr && has_tensors(*last)) return *last;
    }
    reject(where_, "a state dict", "a dictionary without tensors");
  }

  std::vector<std::int64_t> whole_numbers(const Value& value, const std::string& where) const {
    constexpr std::size_t kMostAxes = 8;
    if (value.items.size() > kMostAxes) reject(where, "a vector or a matrix", "more axes");
    std::vector<std::int64_t> numbers;
    for (const std::uint32_t item : value.items) {
      if (pickle_[item].kind != Kind::integer || pickle_[item].integer < 0)
        reject(where, "whole numbers as its sizes and strides", "something else");
      numbers.push_back(pickle_[item].integer);
    }
    return numbers;
  }

  /// From (storage, offset, sizes, strides, ...), counted in elements.
  TensorView tensor(const Value& arguments, std::string_view name) const {
    const std::string where = where_ + ": tensor " + quote(name);
    if (arguments.items.size() < 4) reject(where, "a storage with sizes and strides", "less");
    const Value& persistent = pickle_[arguments.items[0]];
    const Value* storage = persistent.kind == Kind::persistent ? &pickle_[persistent.items[0]] : nullptr;
    if (storage == nullptr || storage->items.size() < 5 || pickle_[storage->items[0]].text != "storage")
      reject(where, "a storage in the archive", "none");
    const StoredType* type = stored_type(pickle_[storage->items[1]].text, &StoredType::storage);
    if (type == nullptr) reject(where, "a storage of numbers", "another");
    const std::string_view key = pickle_[storage->items[2]].text;
    const auto entry = entries_.find(folder_ + "data/" + std::string(key.substr(0, kLongestName)));
    if (entry == entries_.end()) reject(where, "its storage in the archive", "none");

    TensorView view{.file = file_,
                    .dtype = std::string(type->dtype),
                    .shape = whole_numbers(pickle_[arguments.items[2]], where),
                    .strides = whole_numbers(pickle_[arguments.items[3]], where)};
    const Value& offset = pickle_[arguments.items[1]];
    const std::uint64_t held = entry->second.bytes / type->bytes;
    const std::optional<std::uint64_t> count = count_of_elements(view.shape), reach = extent_of(view);
    if (offset.kind != Kind::integer || offset.integer < 0 || !count || !reach ||
        static_cast<std::uint64_t>(offset.integer) > held || *reach > held - offset.integer)
      reject(where, "it within its storage of " + std::to_string(held) + " numbers",
             "it beyond (the file is damaged; download it again)");
    if (*count > *reach) reject(where, "each number to be stored once", "an expanded view");
    if (*reach / kMostGaps > *count)
      reject(where, "numbers close together in their storage", "a sparse view");
    view.offset = entry->second.offset + static_cast<std::uint64_t>(offset.integer) * type->bytes;
    view.bytes = *count * type->bytes;
    if (is_contiguous(view)) view.strides.clear();
    return view;
  }

  std::string where_;
  std::shared_ptr<const OpenFile> file_;
  std::map<std::string, ZipEntry> entries_;
  std::string folder_, text_;
  Pickle pickle_;
};

}  // namespace

TensorFile open_torch_file(const fs::path& path) {
  return {StateDict(path).tensors(), {}};
}

}  // namespace headscope::model
