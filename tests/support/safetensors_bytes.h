#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::testing {

/// A tensor for a file. Nothing is checked, so that invalid files can be created, too.
struct RawTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

/// A safetensors file with the given header.
inline std::string safetensors_of_header(std::string_view header, std::string_view data = "") {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>(header.size() >> shift & 255);
  file += header;
  file += data;
  return file;
}

/// All files published by Hugging Face contain `{"format":"pt"}`.
inline std::string safetensors_bytes(const std::vector<RawTensor>& tensors,
                                     std::string_view metadata = R"({"format":"pt"})") {
  std::string header = "{";
  if (!metadata.empty()) header += "\"__metadata__\":" + std::string(metadata) + ",";
  std::string data;
  for (const RawTensor& tensor : tensors) {
    header += "\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      header += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
    }
    header += "],\"data_offsets\":[" + std::to_string(data.size()) + ",";
    data += tensor.bytes;
    header += std::to_string(data.size()) + "]},";
  }
  if (header.back() == ',') header.pop_back();
  return safetensors_of_header(header + "}", data);
}

}  // namespace headscope::testing
