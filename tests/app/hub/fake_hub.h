#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "app/hub/hub_settings.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/loopback_server.h"

namespace headscope::testing {

/// The Hugging Face hub on the loopback, with one model: lists it, says hashes and sizes, sends files
/// itself, and redirects for weights to another host and port.
class FakeHub {
 public:
  static constexpr const char* kName = "some-org/tiny-gpt2";
  static constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

  /// A GPT-2 with weights in one file.
  FakeHub();
  /// The same weights in two shards with an index.
  void cut_into_shards();

  std::map<std::string, std::string> files;  ///< of the model, by name; change them before anything is asked
  std::string commit = kCommit;

  /// Asked before the hub, or the other host, answers; nothing: it answers itself.
  using Override = std::function<std::optional<WebReply>(const WebRequest&)>;
  void answer_first(Override hub, Override store = {});

  app::HubSettings settings(const std::filesystem::path& cache, const std::string& token = "hf_secret") const;
  std::string endpoint() const;  ///< by address
  std::string store() const;     ///< by name: another host

  const LoopbackServer& hub_server() const { return hub_; }
  const LoopbackServer& store_server() const { return store_; }
  void forget_requests();
  /// Requests of both for the content of a file, in order.
  int gets_of(const std::string& file) const;

  static std::string digest(const std::string& name, const std::string& bytes);
  /// The answer with a file, or the part of it that was asked for.
  static WebReply content(const WebRequest& request, const std::string& bytes);

 private:
  WebReply answer(const WebRequest& request);
  WebReply from_store(const WebRequest& request);

  std::mutex mutex_;
  Override hub_first_, store_first_;
  LoopbackServer store_, hub_;  // last: they answer from the others
};

}  // namespace headscope::testing
