#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/hub/hub_model.h"
#include "app/run/sources/paths.h"

namespace headscope::app {

/// Source and destination of fetches, from the same environment variables as Hugging Face's own tools.
struct HubSettings {
  std::string endpoint;  ///< $HF_ENDPOINT without a slash at its end, else https://huggingface.co
  std::string token;     ///< $HF_TOKEN, else the content of $HF_TOKEN_PATH or $HF_HOME/token; empty: none
  /// $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE; empty: the system's
  std::filesystem::path certificates;
  bool offline = false;                        ///< $HF_HUB_OFFLINE or $TRANSFORMERS_OFFLINE
  std::filesystem::path cache;                 ///< see hugging_face_cache
  std::chrono::milliseconds patience{60'000};  ///< a response may take so long, and 1 ms for each byte
};

/// Throws HubError for an endpoint that is not a plain http or https address, for a token that is not valid
/// in a header, and if there is no home folder for the cache; model::LoadError if the token cannot be read.
HubSettings hub_settings(const Environment& environment);

struct HubRequest {
  std::string path;         ///< below the endpoint; begins with a slash
  std::string what;         ///< for messages: "config.json of openai-community/gpt2"
  std::uint64_t bytes = 0;  ///< size of the whole content; 0: unknown
  std::uint64_t from = 0;   ///< first byte wanted
};

/// Transfers from the hub, over libcurl, which takes proxies from the environment. Certificates are checked.
/// Redirects are followed, but from https only to https, and the token goes to the endpoint's scheme, host
/// and port alone.
class HubClient {
 public:
  /// Calls `poll` at least once a second during a transfer. Throws HubError if libcurl cannot be used.
  HubClient(HubSettings settings, std::function<void()> poll);

  /// Calls `take` with each piece of the content. Exceptions of `take` and `poll` end the transfer and are
  /// rethrown. Returns false, without a piece, if the server does not send from `from` on. Throws HubError:
  /// one sentence, without the token, a password, or a byte that disturbs a terminal.
  bool get(const HubRequest& request, const std::function<void(std::string_view)>& take);

 private:
  HubSettings settings_;
  std::function<void()> poll_;
  std::unique_ptr<void, void (*)(void*)> curl_;
};

}  // namespace headscope::app
