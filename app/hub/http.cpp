#include "app/hub/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "app/ascii.h"
#include "app/run/version.h"
#include "model/files/error.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr std::size_t kMaxHeaderBytes = 1 << 18;
constexpr long kConnectSeconds = 30;
constexpr long kSilentSeconds = 60;  // without receiving a byte, until the connection counts as broken

using CurlText = std::unique_ptr<char, decltype(&curl_free)>;

/// The state of a transfer. Exceptions are stored, because they must not cross the C library.
struct Transfer {
  const std::function<void(const HttpResponse&)>& begin;
  const std::function<void(std::string_view)>& bytes;
  const std::function<bool()>& cancelled;
  CURL* curl;
  bool head;
  HttpResponse response = {};
  std::size_t header_bytes = 0;
  bool headers_done = false;
  bool ends_early = false;  // the headers of a redirect suffice
  std::exception_ptr error = {};

  /// Runs `work` and stores an exception. Returns whether the transfer goes on.
  template <class Work>
  bool guarded(const Work& work) {
    try {
      return work();
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }

  /// Returns whether the transfer goes on.
  bool header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMaxHeaderBytes) throw ConnectionError("the response headers are too long", false);
    if (headers_done) return true;
    read_header(line, response);
    const char* url = nullptr;
    if (curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK && url) response.url = url;
    ends_early =
        head && trimmed(line, kBlanks).empty() && status() / 100 == 3 && response.has_linked_headers();
    return !ends_early;
  }

  int status() const {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }

  void begin_once() {
    if (headers_done) return;
    headers_done = true;
    response.status = status();
    curl_off_t seconds = 0;
    if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK)
      response.retry_after = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, 1 << 30));
    if (begin) begin(response);
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    return transfer.guarded([&] { return transfer.header({data, size}); }) ? size : 0;
  }
  static std::size_t on_bytes(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto take = [&] {
      transfer.begin_once();
      if (transfer.bytes) transfer.bytes({data, size});
      return true;
    };
    return transfer.guarded(take) ? size : 0;
  }
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto look = [&] {
      if (transfer.cancelled && transfer.cancelled()) throw model::Stopped();
      return true;
    };
    return transfer.guarded(look) ? 0 : 1;
  }
};

std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text;
}

/// Errors that another attempt would not fix.
bool is_final(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_SSL_CERTPROBLEM || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT ||
         code == CURLE_OUT_OF_MEMORY || code == CURLE_COULDNT_RESOLVE_PROXY ||
         code == CURLE_TOO_MANY_REDIRECTS || code == CURLE_LOGIN_DENIED;
}

/// A part of a URL; nothing if it is missing.
std::optional<std::string> part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return std::nullopt;
  return CurlText(text, &curl_free).get();
}

/// Why a redirect was not followed; empty: another failure. Names no more of a URL: the rest may be secret.
std::string redirect_error(CURLcode code, const HttpResponse& last) {
  const bool often = code == CURLE_TOO_MANY_REDIRECTS, login = code == CURLE_LOGIN_DENIED;
  const auto from = parse_url(last.url);
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> to(curl_url(), &curl_url_cleanup);
  if ((!often && !login && code != CURLE_UNSUPPORTED_PROTOCOL) || !from || !last.header("location"))
    return "";
  for (const std::string& url : {last.url, *last.header("location")})
    curl_url_set(to.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
  return from->host + " redirects to " + part(to.get(), CURLUPART_SCHEME).value_or("") + "://" +
         part(to.get(), CURLUPART_HOST).value_or("") +
         (often   ? " after too many redirects"
          : login ? " with a user name"
                  : ", which is not allowed");
}

}  // namespace

void read_header(std::string_view line, HttpResponse& response) {
  if (line.starts_with("HTTP/")) response = {};  // keep only the final header, not that of a 100 Continue
  const std::size_t colon = line.find(':');
  if (colon != line.npos)
    response.headers.insert_or_assign(lowered(trimmed(line.substr(0, colon), kBlanks)),
                                      std::string(trimmed(line.substr(colon + 1), kBlanks)));
}

const std::string* HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? nullptr : &found->second;
}

std::optional<Url> parse_url(const std::string& text) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  if (!url) throw std::bad_alloc();
  if (text.find('\0') != text.npos || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK ||
      part(url.get(), CURLUPART_USER) || part(url.get(), CURLUPART_PASSWORD))
    return std::nullopt;
  curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  const auto piece = [&](CURLUPart which) { return part(url.get(), which, CURLU_DEFAULT_PORT).value_or(""); };
  Url parsed{part(url.get(), CURLUPART_URL).value_or(""), piece(CURLUPART_SCHEME),
             lowered(piece(CURLUPART_HOST)), piece(CURLUPART_PORT)};
  if ((parsed.scheme != "http" && parsed.scheme != "https") || parsed.host.empty()) return std::nullopt;
  return parsed;
}

bool same_origin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

std::string percent_encoded(const std::string& segment) {
  const CurlText text(curl_easy_escape(nullptr, segment.c_str(), static_cast<int>(segment.size())),
                      &curl_free);
  if (!text) throw std::bad_alloc();
  return text.get();
}

HttpClient::HttpClient(std::string certificates)
    : certificates_(std::move(certificates)), curl_(nullptr, &curl_easy_cleanup) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  curl_.reset(curl_easy_init());
  if (ready != CURLE_OK || !curl_) throw ConnectionError("libcurl could not be initialized", false);
}

HttpResponse HttpClient::send(const HttpRequest& request,
                              const std::function<void(const HttpResponse&)>& begin,
                              const std::function<void(std::string_view)>& bytes,
                              const std::function<bool()>& cancelled) {
  CURL* const curl = curl_.get();
  Transfer transfer{begin, bytes, cancelled, curl, request.head};
  std::array<char, CURL_ERROR_SIZE> why{};

  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(nullptr, &curl_slist_free_all);
  for (const std::string& header : request.headers) {
    curl_slist* longer = curl_slist_append(headers.get(), header.c_str());
    if (!longer) throw std::bad_alloc();
    static_cast<void>(headers.release());
    headers.reset(longer);
  }

  curl_easy_reset(curl);  // keeps connections open
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                   request.url.starts_with("https:") ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOBODY, request.head ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, ("headscope/" + version()).c_str());
  if (!certificates_.empty()) {
    const bool folder = system::is_folder(system::path_of(certificates_));
    curl_easy_setopt(curl, folder ? CURLOPT_CAPATH : CURLOPT_CAINFO, certificates_.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 1L << 18);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why.data());
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);

  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  if (transfer.error) std::rethrow_exception(transfer.error);
  if (code != CURLE_OK && !transfer.ends_early) {
    std::string text = redirect_error(code, transfer.response);
    if (text.empty()) text = why[0] ? why.data() : curl_easy_strerror(code);
    throw ConnectionError(printable(text), !is_final(code));
  }
  transfer.begin_once();
  return transfer.response;
}

}  // namespace headscope::app
