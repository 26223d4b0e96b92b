#pragma once
#include <bit>
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

/// A number as bytes of a dtype, "F32", "F16" or "BF16". It must be exact.
inline std::string bytes_of(float value, std::string_view dtype) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string bytes;
  const auto put = [&](std::uint32_t number, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i) & 255);
  };
  if (dtype == "F32") {
    put(bits, 4);
  } else if (dtype == "BF16") {
    put(bits >> 16, 2);
  } else {
    const std::uint32_t exponent = bits >> 23 & 255, mantissa = bits >> 13 & 0x3FF,
                        sign = bits >> 16 & 0x8000;
    put(exponent < 113 ? sign : sign | (exponent - 112) << 10 | mantissa, 2);
  }
  return bytes;
}

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
