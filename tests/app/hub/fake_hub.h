#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "app/hub/fetch.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/loopback_server.h"

namespace headscope::testing {

/// A Hugging Face hub on the loopback, with one model: lists its files with hashes and sizes, sends small
/// files itself, and redirects requests for weights to another host and port.
class FakeHub {
 public:
  static constexpr const char* kName = "some-org/tiny-gpt2";
  static constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

  /// A GPT-2 with weights in one file.
  FakeHub();
  /// The same weights in two shards with an index.
  void cut_into_shards();

  std::map<std::string, std::string>
      files;  ///< the model's files by name; change them before the first request
  std::string commit = kCommit;

  /// Called before the hub or the other host responds; nothing: the default response.
  using Override = std::function<std::optional<WebReply>(const WebRequest&)>;
  void answer_first(Override hub, Override store = {});

  app::HubSettings settings(const std::filesystem::path& cache, const std::string& token = "hf_secret") const;
  std::string endpoint() const;  ///< by address
  std::string store() const;     ///< by name: another host

  const LoopbackServer& hub_server() const { return hub_; }
  const LoopbackServer& store_server() const { return store_; }
  void forget_requests();
  /// The number of the hub's requests for the content of a file.
  int gets_of(const std::string& file) const;

  std::string listing() const;
  static std::string digest(const std::string& name, const std::string& bytes);
  /// The response with a file or the requested part of it.
  static WebReply content(const WebRequest& request, const std::string& bytes);

 private:
  std::optional<WebReply> overridden(const Override& by, const WebRequest& request);
  WebReply answer(const WebRequest& request);
  WebReply from_store(const WebRequest& request);

  std::mutex mutex_;
  Override hub_first_, store_first_;
  LoopbackServer store_, hub_;  // last members: they use the others
};

}  // namespace headscope::testing
