#include "app/hub/hub_settings.h"

#include <algorithm>

#include "app/ascii.h"
#include "app/hub/http.h"
#include "app/hub/hub_name.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEndpoint = "https://huggingface.co";

std::string token_of(const Environment& environment) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const auto token = environment(name)) return std::string(trimmed(*token, kBlanks));
  fs::path file;
  if (const auto path = environment("HF_TOKEN_PATH")) {
    file = system::path_of(*path);
  } else if (const auto home = hugging_face_home(environment)) {
    file = *home / "token";
  }
  if (!system::is_file(file)) return {};
  return std::string(trimmed(model::read_file(file, 1 << 16), kBlanks));
}

bool switched_on(const Environment& environment, const char* name) {
  const std::string value = lowered(environment(name).value_or(""));
  return value == "1" || value == "on" || value == "yes" || value == "true";
}

}  // namespace

HubSettings hub_settings(const Environment& environment) {
  HubSettings settings;
  std::string endpoint(trimmed(environment("HF_ENDPOINT").value_or(kEndpoint), kBlanks));
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const auto url = parse_url(endpoint);
  if (!url || url->text.find('?') != std::string::npos)
    throw HubError("HF_ENDPOINT: expected an address like " + std::string(kEndpoint) + ", found " +
                   (endpoint.find('@') == endpoint.npos ? model::quote(endpoint)
                                                        : "one with a user name or a password in it"));
  settings.endpoint = *url;
  settings.token = token_of(environment);
  if (std::ranges::any_of(settings.token, [](unsigned char c) { return c <= 0x20 || c >= 0x7f; }))
    throw HubError(
        "the token for the Hugging Face hub (HF_TOKEN or the token file) contains invalid characters");
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const auto file = environment(name); file && settings.certificates.empty())
      settings.certificates = system::path_of(*file);
  settings.offline =
      switched_on(environment, "HF_HUB_OFFLINE") || switched_on(environment, "TRANSFORMERS_OFFLINE");
  const auto cache = hugging_face_cache(environment);
  if (!cache) throw HubError("there is no folder for models: set HF_HOME, or HOME");
  std::error_code error;
  settings.cache = fs::absolute(*cache, error);
  if (error) settings.cache = *cache;
  return settings;
}

std::string endpoint_url(const Url& endpoint, const std::string& path) {
  std::string text = endpoint.text;
  while (text.ends_with('/')) text.pop_back();
  return text + path;
}

Url redirect_target(const Url& endpoint, const Url& from, const std::string& location) {
  const auto to = resolve(from, location);
  const std::string host = model::quote(from.host);  // a redirect may have led there
  if (!to) throw HubError(host + " redirects to " + model::quote(location) + ": expected a web address");
  if (to->scheme != "https" && endpoint.scheme == "https")
    throw HubError(host + " redirects to " + model::quote(to->text) + ": expected https, found " +
                   to->scheme);
  return *to;
}

}  // namespace headscope::app
