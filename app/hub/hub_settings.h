#pragma once
#include <filesystem>
#include <string>

#include "app/hub/url.h"
#include "app/run/sources/paths.h"

namespace headscope::app {

/// Source and destination of fetches, from the same environment variables as Hugging Face's own tools.
struct HubSettings {
  Url endpoint;       ///< $HF_ENDPOINT, else https://huggingface.co
  std::string token;  ///< $HF_TOKEN, else the content of $HF_TOKEN_PATH or $HF_HOME/token; empty: none
  std::filesystem::path
      certificates;      ///< $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE; empty: the system's
  bool offline = false;  ///< $HF_HUB_OFFLINE or $TRANSFORMERS_OFFLINE
  std::filesystem::path cache;  ///< see hugging_face_cache
};

/// Throws HubError for an endpoint that is not an http or https URL, for a token that is not valid in a
/// header, and if there is no home folder for the cache.
HubSettings hub_settings(const Environment& environment);

/// The URL of a path at the endpoint; `path` begins with a slash.
std::string endpoint_url(const Url& endpoint, const std::string& path);

/// The target of a redirect. Throws HubError if it leads from an https endpoint to anything else, or is not
/// http or https.
Url redirect_target(const Url& endpoint, const Url& from, const std::string& location);

}  // namespace headscope::app
