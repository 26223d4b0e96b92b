#include "tests/support/torch_bytes.h"

#include <algorithm>
#include <map>

namespace headscope::testing {
namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
  return out;
}

std::string text(std::string_view value) {
  return "X" + little_endian(value.size(), 4) + std::string(value);
}

std::string number(std::int64_t value) {
  return "J" + little_endian(static_cast<std::uint64_t>(value), 4);
}

std::string tuple(const std::vector<std::int64_t>& values) {
  std::string out = "(";
  for (const std::int64_t value : values) out += number(value);
  return out + "t";
}

std::string storage_of(const std::string& dtype) {
  static const std::map<std::string, std::string> kNames = {
      {"F32", "Float"}, {"F16", "Half"},  {"BF16", "BFloat16"}, {"F64", "Double"}, {"I64", "Long"},
      {"I32", "Int"},   {"I16", "Short"}, {"I8", "Char"},       {"U8", "Byte"},    {"BOOL", "Bool"}};
  const auto found = kNames.find(dtype);
  return found == kNames.end() ? dtype : found->second;
}

std::int64_t count_of(const RawTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  return count;
}

std::size_t element_bytes(const RawTensor& tensor) {
  const std::int64_t count = count_of(tensor);
  return count == 0 ? 1 : tensor.bytes.size() / static_cast<std::size_t>(count);
}

bool is_turned(const RawTensor& tensor, const TorchLayout& layout) {
  return layout.transposed_views && tensor.shape.size() == 2;
}

/// The storages' keys and bytes, and where each tensor lies: key and offset in elements.
struct Storages {
  std::vector<std::pair<std::string, std::string>> contents;
  std::vector<std::pair<std::string, std::int64_t>> places;
};
Storages storages_of(const std::vector<RawTensor>& tensors, const TorchLayout& layout) {
  Storages all;
  std::map<std::string, std::size_t> shared;
  for (const RawTensor& tensor : tensors) {
    std::size_t index = all.contents.size();
    if (layout.one_storage) index = shared.try_emplace(tensor.dtype, index).first->second;
    if (index == all.contents.size()) all.contents.emplace_back(std::to_string(index), "");
    std::string& bytes = all.contents[index].second;
    all.places.emplace_back(std::to_string(index),
                            bytes.size() / std::max<std::size_t>(1, element_bytes(tensor)));
    bytes += is_turned(tensor, layout) ? transposed(tensor) : tensor.bytes;
  }
  return all;
}

}  // namespace

std::string transposed(const RawTensor& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.shape[0]),
             cols = static_cast<std::size_t>(matrix.shape[1]);
  const std::size_t element = element_bytes(matrix);
  std::string turned;
  for (std::size_t col = 0; col < cols; ++col)
    for (std::size_t row = 0; row < rows; ++row)
      turned += matrix.bytes.substr((row * cols + col) * element, element);
  return turned;
}

std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& entries, bool zip64) {
  std::string file, directory;
  for (const auto& [name, content] : entries) {
    // Sizes of 64 bits stand in an extra field, of which the header has only a mark.
    const std::uint64_t size = zip64 ? 0xffffffff : content.size(), offset = zip64 ? 0xffffffff : file.size();
    const std::string extra = zip64 ? little_endian(1, 2) + little_endian(24, 2) +
                                          little_endian(content.size(), 8) +
                                          little_endian(content.size(), 8) + little_endian(file.size(), 8)
                                    : "";
    const std::string padding = "FB" + little_endian(3, 2) + "...";  // PyTorch aligns storages so
    const std::string common =
        little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 4) + little_endian(0, 4);
    directory += "PK\x01\x02" + little_endian(45, 2) + little_endian(45, 2) + common +
                 little_endian(size, 4) + little_endian(size, 4) + little_endian(name.size(), 2) +
                 little_endian(extra.size(), 2) + little_endian(0, 2) + little_endian(0, 2) +
                 little_endian(0, 2) + little_endian(0, 4) + little_endian(offset, 4) + name + extra;
    file += "PK\x03\x04" + little_endian(45, 2) + common + little_endian(content.size(), 4) +
            little_endian(content.size(), 4) + little_endian(name.size(), 2) +
            little_endian(padding.size(), 2) + name + padding + content;
  }
  const std::uint64_t start = file.size(), count = entries.size();
  file += directory;
  if (zip64) {
    const std::uint64_t record = file.size();
    file += "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
            little_endian(0, 4) + little_endian(0, 4) + little_endian(count, 8) + little_endian(count, 8) +
            little_endian(directory.size(), 8) + little_endian(start, 8);
    file += "PK\x06\x07" + little_endian(0, 4) + little_endian(record, 8) + little_endian(1, 4);
  }
  const auto held = [&](std::uint64_t value, int bytes) {
    return little_endian(zip64 ? ~0ULL : value, bytes);
  };
  return file + "PK\x05\x06" + little_endian(0, 2) + little_endian(0, 2) + held(count, 2) + held(count, 2) +
         held(directory.size(), 4) + held(start, 4) + little_endian(0, 2);
}

std::string state_dict_pickle(const std::vector<RawTensor>& tensors, const TorchLayout& layout) {
  const Storages storages = storages_of(tensors, layout);
  const std::string ordered = "ccollections\nOrderedDict\n)R";
  std::string pickle = "\x80\x02";
  if (!layout.inside.empty()) pickle += "}q\x01(" + text("epoch") + number(3) + text(layout.inside);
  pickle += ordered + "q\x02(";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const RawTensor& tensor = tensors[i];
    std::vector<std::int64_t> strides(tensor.shape.size(), 1);
    for (std::size_t axis = strides.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * tensor.shape[axis];
    if (is_turned(tensor, layout)) strides = {1, tensor.shape[0]};
    const auto& [key, offset] = storages.places[i];
    pickle += text(tensor.name);
    if (layout.parameters) pickle += "ctorch._utils\n_rebuild_parameter\n(";
    pickle += "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" +
              storage_of(tensor.dtype) + "Storage\n" + text(key) + text("cpu") + number(count_of(tensor)) +
              "tQ" + number(offset) + tuple(tensor.shape) + tuple(strides) + "\x89" + ordered + "tR";
    if (layout.parameters) pickle += "\x88" + ordered + "tR";
  }
  pickle += "u";
  if (layout.parameters)
    pickle += "}(" + text("_metadata") + ordered + "ub";  // attributes of the OrderedDict
  return pickle + (layout.inside.empty() ? "." : "u.");
}

std::string torch_bytes(const std::vector<RawTensor>& tensors, const TorchLayout& layout) {
  std::vector<std::pair<std::string, std::string>> entries = {
      {"pytorch_model/data.pkl", state_dict_pickle(tensors, layout)}, {"pytorch_model/byteorder", "little"}};
  for (const auto& [key, bytes] : storages_of(tensors, layout).contents)
    entries.emplace_back("pytorch_model/data/" + key, bytes);
  entries.emplace_back("pytorch_model/version", "3\n");
  return zip_bytes(entries);
}

}  // namespace headscope::testing
