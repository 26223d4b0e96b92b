#pragma once
#include <filesystem>
#include <string>

#include "app/hub/url.h"
#include "app/run/sources/paths.h"

namespace headscope::app {

/// Where models are fetched from and to, as Hugging Face's own tools read it from the environment.
struct HubSettings {
  Url endpoint;       ///< $HF_ENDPOINT, else https://huggingface.co
  std::string token;  ///< $HF_TOKEN, else what lies in $HF_TOKEN_PATH or $HF_HOME/token; empty: none
  std::filesystem::path
      certificates;      ///< $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE; empty: the system's
  bool offline = false;  ///< $HF_HUB_OFFLINE or $TRANSFORMERS_OFFLINE
  std::filesystem::path cache;  ///< see hugging_face_cache
};

/// Throws HubError for an endpoint that is no http or https URL, for a token that no header can carry, and
/// where there is no home for a cache.
HubSettings hub_settings(const Environment& environment);

/// The address of something of the endpoint: `path` begins with a slash.
std::string endpoint_url(const Url& endpoint, const std::string& path);

/// Where a redirect leads. Throws HubError: from an endpoint of https to anything else, to no http at all.
Url redirect_target(const Url& endpoint, const Url& from, const std::string& location);

}  // namespace headscope::app
