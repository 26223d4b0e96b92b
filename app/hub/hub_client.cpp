#include "app/hub/hub_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <climits>
#include <exception>
#include <system_error>
#include <utility>

#include "app/ascii.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr const char* kEndpoint = "https://huggingface.co";
constexpr std::size_t kMaxHeaderBytes = 1 << 18;
// A connection that is slower than the limit in bytes per second for the time in seconds counts as broken.
constexpr std::pair<CURLoption, long> kOptions[] = {
    {CURLOPT_FOLLOWLOCATION, 1},  {CURLOPT_MAXREDIRS, 10},      {CURLOPT_DISALLOW_USERNAME_IN_URL, 1},
    {CURLOPT_NOSIGNAL, 1},        {CURLOPT_CONNECTTIMEOUT, 30}, {CURLOPT_LOW_SPEED_LIMIT, 1000},
    {CURLOPT_LOW_SPEED_TIME, 60}, {CURLOPT_NOPROGRESS, 0}};

/// Scheme, host and port of a URL, without a user name: "https://huggingface.co".
std::string origin(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return "";
  const std::string rest = url.substr(scheme + 3), from = rest.substr(0, rest.find_first_of("/?#\\"));
  return url.substr(0, scheme + 3) + from.substr(from.rfind('@') + 1);
}

std::string token_of(const Environment& environment) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const auto token = environment(name)) return *token;
  const auto path = environment("HF_TOKEN_PATH");
  const auto home = hugging_face_home(environment);
  const fs::path file = path ? system::path_of(*path) : home ? *home / "token" : fs::path();
  return system::is_file(file) ? model::read_file(file, 1 << 16) : "";
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

/// A transfer that was begun. Exceptions are stored, because they must not cross the C library.
struct Transfer {
  CURL* curl;
  const HubSettings& settings;
  const HubRequest& request;
  const std::function<void(std::string_view)>& take;
  const std::function<void()>& poll;
  std::size_t header_bytes = 0;
  std::exception_ptr error = {};

  template <class Value>
  Value fact(CURLINFO which, Value unknown) const {
    Value value = unknown;
    return curl_easy_getinfo(curl, which, &value) == CURLE_OK ? value : unknown;
  }
  long status() const { return fact(CURLINFO_RESPONSE_CODE, 0L); }
  long wanted() const { return request.from > 0 ? 206 : 200; }
  /// Whether a response is not the content, but a page that something between here and the hub sent.
  bool is_page() const {
    curl_header* length = nullptr;  // CURLINFO's is not set by libcurl 8 where a range was asked for
    curl_easy_header(curl, "content-length", 0, CURLH_HEADER, -1, &length);
    const char* type = fact<const char*>(CURLINFO_CONTENT_TYPE, nullptr);
    return status() == 200 &&
           ((type && lowered(type).starts_with("text/html")) ||
            (request.bytes > 0 && length && length->value != std::to_string(request.bytes)));
  }
  /// The server that was asked last, for messages.
  std::string server() const {
    const std::string own = origin(settings.endpoint);
    const std::string asked = origin(fact<const char*>(CURLINFO_EFFECTIVE_URL, ""));
    return asked == own ? own : model::quote(asked) + ", to which " + own + " redirects,";
  }

  /// Does some work. Returns whether the transfer goes on.
  template <class Work>
  bool guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    return !error;
  }
  static std::size_t on_header(char*, std::size_t, std::size_t size, void* self) {
    std::size_t& bytes = static_cast<Transfer*>(self)->header_bytes;
    return (bytes += size) <= kMaxHeaderBytes ? size : 0;
  }
  static std::size_t on_bytes(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const bool is_content = transfer.status() == transfer.wanted() && !transfer.is_page();
    return is_content && transfer.guarded([&] { transfer.take({data, size}); }) ? size : 0;
  }
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    return transfer.guarded(transfer.poll) ? 0 : 1;
  }
};

/// How long to wait before another attempt; nothing: the status is final.
std::optional<seconds> retry_after(const Transfer& transfer, long status) {
  if (status != 408 && status != 429 && status < 500) return std::nullopt;
  return seconds(transfer.fact<curl_off_t>(CURLINFO_RETRY_AFTER, 0));
}

/// The fault that an unexpected status means. Only the endpoint's own responses are taken for the hub's.
HubError refusal(const Transfer& transfer) {
  const long status = transfer.status();
  const std::string from = transfer.server();
  const bool is_hub = from == origin(transfer.settings.endpoint);
  curl_header* header = nullptr;
  if (is_hub) curl_easy_header(transfer.curl, "x-error-code", 0, CURLH_HEADER, -1, &header);
  const std::string reason = header ? header->value : "";
  const std::string what = from + " does not send " + transfer.request.what + " (" + std::to_string(status) +
                           (header ? ", " + model::quote(reason) : "") + ")";
  if (const auto time = retry_after(transfer, status)) return HubError(what, time);
  if (status == 407) return HubError(what + ": the proxy wants a user name and a password in https_proxy");
  const std::string token = transfer.settings.token.empty() ? "it needs a token in HF_TOKEN"
                                                            : "the token in HF_TOKEN gives no access to it";
  if (reason == "GatedRepo") return HubError(what + ": accept its terms on its page; " + token);
  if (is_hub && (status == 401 || status == 403 || status == 404))
    return HubError(what + ": there is no such model, revision or file, or it is private and " + token);
  return HubError(what + ": expected status 200");
}

/// Whether the process has no file descriptors left for a connection, which libcurl takes for another fault.
bool lacks_files() {
  try {
    std::array<system::File, 8> files;  // as many as libcurl, the resolver and TLS need
    for (system::File& file : files) file = system::File(".", system::Open::read);
    return false;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::too_many_files_open;
  }
}

/// The fault of a transfer that ended early. libcurl's own text may quote a proxy's password and is never
/// used.
HubError fault(const Transfer& transfer, CURLcode code) {
  constexpr const char* kLong = "its response has headers that are too long; it may not be the hub";
  constexpr std::pair<int, const char*> kFinal[] = {
      {CURLE_PEER_FAILED_VERIFICATION, "its certificate is not trusted; SSL_CERT_FILE names trusted ones"},
      {CURLE_SSL_CACERT_BADFILE, "the trusted certificates in SSL_CERT_FILE cannot be read"},
      {CURLE_TOO_MANY_REDIRECTS, "it redirects too often"},
      {CURLE_LOGIN_DENIED, "a redirect may not have a user name in its address"},
      {CURLE_UNSUPPORTED_PROTOCOL, "it is no web server, or is http where https is needed"},
      {CURLE_COULDNT_RESOLVE_PROXY, "the proxy in https_proxy or http_proxy is not found"},
      {CURLE_WRITE_ERROR, kLong},
      {CURLE_OUT_OF_MEMORY, kLong},  // of one header that is beyond libcurl's own limit
      {100, kLong}};                 // the same from libcurl 8.6 on: CURLE_TOO_LARGE
  if (lacks_files()) return HubError("too many files are open for another connection: raise ulimit -n");
  if (const long proxy = transfer.fact(CURLINFO_HTTP_CONNECTCODE, 0L); proxy >= 300)
    return HubError("the proxy in https_proxy refuses the connection (" + std::to_string(proxy) + ")",
                    retry_after(transfer, proxy));
  const std::string where = "asking " + transfer.server() + " failed: ";
  for (const auto& [final_code, why] : kFinal)
    if (code == final_code) return HubError(where + why);
  return HubError(where + curl_easy_strerror(code), seconds(0));
}

}  // namespace

HubSettings hub_settings(const Environment& environment) {
  HubSettings settings;
  std::string& endpoint = settings.endpoint;
  endpoint = trimmed(environment("HF_ENDPOINT").value_or(kEndpoint), kBlanks);
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (!(endpoint.starts_with("http://") || endpoint.starts_with("https://")) || !is_printable(endpoint) ||
      endpoint.find_first_of("@?#\\") != endpoint.npos)
    throw HubError("HF_ENDPOINT: expected an address like " + std::string(kEndpoint) + ", found " +
                   (endpoint.find('@') == endpoint.npos ? model::quote(endpoint)
                                                        : "one with a user name or a password in it"));
  settings.token = trimmed(token_of(environment), kBlanks);
  if (!is_printable(settings.token))
    throw HubError("the hub's token (HF_TOKEN or the token file) contains invalid characters");
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const auto file = environment(name); file && settings.certificates.empty())
      settings.certificates = system::path_of(*file);
  for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    const std::string value = lowered(environment(name).value_or(""));
    settings.offline = settings.offline || value == "1" || value == "on" || value == "yes" || value == "true";
  }
  const auto cache = hugging_face_cache(environment);
  if (!cache) throw HubError("there is no folder for models: set HF_HOME, or HOME");
  settings.cache = fs::absolute(*cache);
  return settings;
}

HubClient::HubClient(HubSettings settings, std::function<void()> poll)
    : settings_(std::move(settings)), poll_(std::move(poll)), curl_(curl_easy_init(), &curl_easy_cleanup) {
  if (!curl_) throw HubError("libcurl could not be initialized");
}

bool HubClient::get(const HubRequest& request, const std::function<void(std::string_view)>& take) {
  CURL* const curl = curl_.get();
  Transfer transfer{curl, settings_, request, take, poll_};
  const bool secure = settings_.endpoint.starts_with("https:");
  const std::string certificates = system::text_of(settings_.certificates);
  const auto limit = std::min<std::uint64_t>(settings_.patience.count() + request.bytes, INT_MAX);

  curl_easy_reset(curl);  // keeps connections open
  for (const auto& [option, number] : kOptions) curl_easy_setopt(curl, option, number);
  curl_easy_setopt(curl, CURLOPT_URL, (settings_.endpoint + request.path).c_str());
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "identity");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, ("headscope/" + version()).c_str());
  if (!settings_.token.empty()) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, settings_.token.c_str());
  }
  if (!certificates.empty())
    curl_easy_setopt(curl, system::is_folder(settings_.certificates) ? CURLOPT_CAPATH : CURLOPT_CAINFO,
                     certificates.c_str());
  curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(request.from));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(limit));
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);

  const CURLcode code = curl_easy_perform(curl);
  if (transfer.error) std::rethrow_exception(transfer.error);
  const long status = transfer.status();
  if (code == CURLE_OK && status == transfer.wanted()) return true;
  if (transfer.is_page())
    throw HubError("found a page in place of " + request.what + ", perhaps of a proxy or login", seconds(0));
  if (request.from > 0 && (status == 200 || status == 416 || code == CURLE_RANGE_ERROR)) return false;
  const bool was_refused = code == CURLE_WRITE_ERROR && transfer.header_bytes <= kMaxHeaderBytes;
  if (code == CURLE_OK || status >= 400 || was_refused) throw refusal(transfer);
  throw fault(transfer, code);
}

}  // namespace headscope::app
