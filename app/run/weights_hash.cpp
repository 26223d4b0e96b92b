#include "app/run/weights_hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "model/error.h"
#include "model/file_io.h"
#include "model/json.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

/// SHA-256, fed piece by piece.
class Sha256 {
 public:
  Sha256() { expect(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1); }
  void add(std::string_view bytes) { expect(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1); }
  std::string digits() {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned count = 0;
    expect(EVP_DigestFinal_ex(context_.get(), bytes.data(), &count) == 1);
    std::string text;
    for (unsigned i = 0; i < count; ++i) text += {kHex[bytes[i] >> 4], kHex[bytes[i] & 15]};
    return text;
  }

 private:
  static void expect(bool fine) {
    if (!fine) throw model::LoadError("the weights cannot be hashed: OpenSSL has no SHA-256 here");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

/// A link to `blobs/<hash>`, as a cache of Hugging Face has it; else empty.
std::string hash_of_blob(const fs::path& file) {
  std::error_code error;
  if (!fs::is_symlink(file, error)) return "";
  const fs::path blob = fs::canonical(file, error);
  const std::string name = blob.filename().string();
  const bool digits = std::ranges::all_of(
      name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return !error && digits && name.size() == 64 && blob.parent_path().filename() == "blobs" ? name : "";
}

std::string hash_of_file(const fs::path& file, const std::stop_token& stop) {
  if (std::string known = hash_of_blob(file); !known.empty()) return known;
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20);
  Sha256 hash;
  while (in) {
    if (stop.stop_requested()) throw model::Stopped();
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.add({piece.data(), static_cast<std::size_t>(in.gcount())});
  }
  if (!in.eof()) throw model::LoadError("cannot read " + file.string() + " to hash it");
  return hash.digits();
}

/// The names of the files that an index speaks of, each once, in order.
std::set<std::string> shards_of(const fs::path& index) {
  std::set<std::string> shards;
  const nlohmann::json content = model::parse_json(model::read_file(index), index.string());
  for (const auto& [tensor, shard] : content.at("weight_map").items()) shards.insert(shard.get<std::string>());
  return shards;
}

}  // namespace

std::string weights_hash(const fs::path& folder, const std::stop_token& stop) {
  const fs::path single = folder / "model.safetensors";
  std::error_code ignored;
  if (fs::exists(single, ignored)) return "sha256:" + hash_of_file(single, stop);
  const fs::path index = folder / "model.safetensors.index.json";
  try {
    Sha256 all;
    for (const std::string& shard : shards_of(index)) all.add(hash_of_file(folder / shard, stop) + "  " + shard + "\n");
    return "sha256:" + all.digits();
  } catch (const nlohmann::json::exception&) {  // another file than the one that was loaded
    throw model::LoadError(index.string() + ": expected an object weight_map of files' names, found none");
  }
}

WeightsHash HashOfWeights::compute(const PromptRun& run, const Work<WeightsHash>& work) const {
  return {weights_hash(run.model->folder, work.stop)};
}

}  // namespace headscope::app
