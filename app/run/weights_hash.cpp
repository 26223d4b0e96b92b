#include "app/run/weights_hash.h"

#include <fstream>
#include <set>
#include <vector>

#include "app/run/digest.h"
#include "model/error.h"
#include "model/file_io.h"
#include "model/tensor_source.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

/// A link to `blobs/<hash>`, as a cache of Hugging Face has it; else empty.
std::string hash_of_blob(const fs::path& file) {
  std::error_code error;
  if (!fs::is_symlink(file, error)) return "";
  const fs::path blob = fs::canonical(file, error);
  const std::string name = blob.filename().string();
  const bool named = name.size() == 64 && is_digest(name);
  return !error && named && blob.parent_path().filename() == "blobs" ? name : "";
}

std::string hash_of_file(const fs::path& file, const std::stop_token& stop) {
  if (std::string known = hash_of_blob(file); !known.empty()) return known;
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20);
  Digest hash = Digest::sha256();
  while (in) {
    if (stop.stop_requested()) throw model::Stopped();
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.add({piece.data(), static_cast<std::size_t>(in.gcount())});
  }
  if (!in.eof()) throw model::LoadError("cannot read " + file.string() + " to hash it");
  return hash.hex();
}

}  // namespace

std::string weights_hash(const fs::path& folder, const std::stop_token& stop) {
  const fs::path single = folder / "model.safetensors";
  std::error_code ignored;
  if (fs::exists(single, ignored)) return "sha256:" + hash_of_file(single, stop);
  const fs::path index = folder / "model.safetensors.index.json";
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : model::weight_map(model::read_file(index), index.string()))
    shards.insert(shard);
  Digest all = Digest::sha256();
  for (const std::string& shard : shards) all.add(hash_of_file(folder / shard, stop) + "  " + shard + "\n");
  return "sha256:" + all.hex();
}

WeightsHash HashOfWeights::compute(const PromptRun& run, const Work<WeightsHash>& work) const {
  return {weights_hash(run.model->folder, work.stop)};
}

}  // namespace headscope::app
