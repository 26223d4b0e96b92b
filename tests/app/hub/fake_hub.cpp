#include "tests/app/hub/fake_hub.h"
#include "app/run/sources/model_discovery.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/source_folders.h"

namespace headscope::testing {
namespace {

std::string bundled(const char* file) {
  return bytes_of_file(headscope::testing::source_dir() / "assets/models/tales" / file);
}

constexpr Gpt2Shape kShape{.positions = 64, .vocabulary = 4096};

bool is_large(const std::string& name) {
  return name.ends_with(".safetensors") || name.ends_with(".bin");
}

}  // namespace

FakeHub::FakeHub()
    : store_([this](const WebRequest& request) { return from_store(request); }),
      hub_([this](const WebRequest& request) { return answer(request); }) {
  files["config.json"] = gpt2_config(kShape);
  files["vocab.json"] = bundled("vocab.json");
  files["merges.txt"] = bundled("merges.txt");
  files["model.safetensors"] = safetensors_bytes(gpt2_tensors(kShape));
  files["README.md"] = "# A small one\n";
  files["pytorch_model.bin"] = "never asked for";
}

void FakeHub::cut_into_shards() {
  files.erase("model.safetensors");
  const std::vector<RawTensor> tensors = gpt2_tensors(kShape);
  std::string map;
  for (std::size_t shard = 0; shard < 2; ++shard) {
    const std::string name = "model-0000" + std::to_string(shard + 1) + "-of-00002.safetensors";
    std::vector<RawTensor> part;
    for (std::size_t i = shard; i < tensors.size(); i += 2) {
      part.push_back(tensors[i]);
      map += (map.empty() ? "" : ",") + ("\"" + tensors[i].name + "\":\"" + name + "\"");
    }
    files[name] = safetensors_bytes(part);
  }
  files["model.safetensors.index.json"] = "{\"metadata\":{},\"weight_map\":{" + map + "}}";
}

void FakeHub::answer_first(Override hub, Override store) {
  const std::lock_guard lock(mutex_);
  hub_first_ = std::move(hub);
  store_first_ = std::move(store);
}

app::HubSettings FakeHub::settings(const std::filesystem::path& cache, const std::string& token) const {
  app::HubSettings settings;
  settings.endpoint = endpoint();
  settings.token = token;
  settings.cache = cache;
  return settings;
}

std::string FakeHub::endpoint() const {
  return "http://127.0.0.1:" + std::to_string(hub_.port());
}

std::string FakeHub::store() const {
  return "http://localhost:" + std::to_string(store_.port());
}

void FakeHub::forget_requests() {
  hub_.forget_requests();
  store_.forget_requests();
}

int FakeHub::gets_of(const std::string& file) const {
  int count = 0;
  for (const WebRequest& request : hub_.requests()) count += request.target.ends_with("/" + file);
  return count;
}

std::string FakeHub::digest(const std::string& name, const std::string& bytes) {
  system::Hash hash = app::hash_like(std::string(is_large(name) ? 64 : 40, '0'), bytes.size());
  hash.add(bytes);
  return hash.hex();
}

WebReply FakeHub::content(const WebRequest& request, const std::string& bytes) {
  const std::string range = request.header("range");
  if (!range.starts_with("bytes=")) return {.body = bytes};
  const std::size_t from = std::stoul(range.substr(6));
  const std::string size = std::to_string(bytes.size());
  if (from >= bytes.size()) return {.status = 416, .headers = {{"Content-Range", "bytes */" + size}}};
  return {.status = 206,
          .headers = {{"Content-Range", "bytes " + std::to_string(from) + "-" +
                                            std::to_string(bytes.size() - 1) + "/" + size}},
          .body = bytes.substr(from)};
}

std::optional<WebReply> FakeHub::overridden(const Override& by, const WebRequest& request) {
  std::unique_lock lock(mutex_);
  const Override first = by;
  lock.unlock();
  return first ? first(request) : std::nullopt;
}

WebReply FakeHub::answer(const WebRequest& request) {
  if (auto reply = overridden(hub_first_, request)) return *reply;
  const std::string list = "/api/models/" + std::string(kName) + "/revision/", facts = "?blobs=true";
  if (request.target == list + "main" + facts || request.target == list + commit + facts ||
      request.target == list + "refs%2Fpr%2F1" + facts)
    return {.body = listing()};
  if (request.target.starts_with(list))
    return {.status = 404, .headers = {{"X-Error-Code", "RevisionNotFound"}}};
  const std::string resolve = "/" + std::string(kName) + "/resolve/" + commit + "/";
  if (!request.target.starts_with(resolve))  // the hub's own response for unknown paths
    return {.status = 401,
            .headers = {{"X-Error-Code", "RepoNotFound"}},
            .body = "Invalid username or password."};
  const auto file = files.find(request.target.substr(resolve.size()));
  if (file == files.end()) return {.status = 404, .headers = {{"X-Error-Code", "EntryNotFound"}}};
  const auto& [name, bytes] = *file;
  if (is_large(name))
    return {.status = 302,
            .headers = {{"ETag", "\"of-the-redirect\""},
                        {"Location", store() + "/content/" + name + "?signed=yes"}}};
  return content(request, bytes);
}

std::string FakeHub::listing() const {
  std::string siblings;
  for (const auto& [name, bytes] : files) {
    const std::string size = std::to_string(bytes.size()), hash = digest(name, bytes);
    siblings += (siblings.empty() ? "" : ",") + ("{\"rfilename\":\"" + name + "\",\"size\":" + size);
    siblings += is_large(name) ? ",\"blobId\":\"of-the-pointer\",\"lfs\":{\"sha256\":\"" + hash + "\"}}"
                               : ",\"blobId\":\"" + hash + "\"}";
  }
  return "{\"id\":\"" + std::string(kName) + "\",\"sha\":\"" + commit + "\",\"siblings\":[" + siblings + "]}";
}

WebReply FakeHub::from_store(const WebRequest& request) {
  if (auto reply = overridden(store_first_, request)) return *reply;
  const std::string prefix = "/content/", suffix = "?signed=yes";
  if (!request.target.starts_with(prefix) || !request.target.ends_with(suffix)) return {.status = 403};
  const auto file =
      files.find(request.target.substr(prefix.size(), request.target.size() - prefix.size() - suffix.size()));
  return file == files.end() ? WebReply{.status = 404} : content(request, file->second);
}

}  // namespace headscope::testing
