#include "app/hub/http.h"
#include "app/ascii.h"
#include "app/run/version.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <system_error>

#include "model/files/error.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr std::size_t kMaxHeaderBytes = 1 << 18;

/// The state of a transfer. Exceptions are stored, because they must not cross the C library.
struct Transfer {
  const std::function<void(const HttpResponse&)>& begin;
  const std::function<void(std::string_view)>& bytes;
  const std::function<bool()>& cancelled;
  const std::string& url;
  CURL* curl;
  HttpResponse response = {};
  std::size_t header_bytes = 0;
  bool headers_done = false;
  std::exception_ptr error = {};

  /// Runs `work` and stores an exception. Returns whether it succeeded.
  template <class Work>
  bool guarded(const Work& work) {
    try {
      work();
      return true;
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }

  void header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMaxHeaderBytes) throw ConnectionError("the response headers are too long", false);
    if (!headers_done) read_header(line, response);
  }

  void begin_once() {
    if (headers_done) return;
    headers_done = true;
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    response.status = static_cast<int>(status);
    response.url = url;
    if (begin) begin(response);
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    return transfer.guarded([&] { transfer.header({data, size}); }) ? size : 0;
  }
  static std::size_t on_bytes(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto take = [&] {
      transfer.begin_once();
      if (transfer.bytes) transfer.bytes({data, size});
    };
    return transfer.guarded(take) ? size : 0;
  }
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto look = [&] {
      if (transfer.cancelled && transfer.cancelled()) throw model::Stopped();
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
         code == CURLE_OUT_OF_MEMORY || code == CURLE_COULDNT_RESOLVE_PROXY;
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

bool HttpResponse::is_redirect() const {
  return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
         header("location");
}

struct HttpClient::State {
  HttpLimits limits;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl{curl_easy_init(), &curl_easy_cleanup};
};

HttpClient::HttpClient(HttpLimits limits) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  state_ = std::make_unique<State>();
  state_->limits = limits;
  if (ready != CURLE_OK || !state_->curl) throw ConnectionError("libcurl could not be initialized", false);
}

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::send(const HttpRequest& request,
                              const std::function<void(const HttpResponse&)>& begin,
                              const std::function<void(std::string_view)>& bytes,
                              const std::function<bool()>& cancelled) {
  CURL* const curl = state_->curl.get();
  Transfer transfer{begin, bytes, cancelled, request.url, curl};
  std::array<char, CURL_ERROR_SIZE> why{};

  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(nullptr, &curl_slist_free_all);
  for (const auto& [name, value] : request.headers) {
    curl_slist* longer = curl_slist_append(headers.get(), (name + ": " + value).c_str());
    if (!longer) throw std::bad_alloc();
    static_cast<void>(headers.release());
    headers.reset(longer);
  }

  curl_easy_reset(curl);  // keeps connections open
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOBODY, request.head ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, ("headscope/" + version()).c_str());
  if (const std::string& trusted = state_->limits.certificates; !trusted.empty()) {
    const bool folder = system::is_folder(system::path_of(trusted));
    curl_easy_setopt(curl, folder ? CURLOPT_CAPATH : CURLOPT_CAINFO, trusted.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, state_->limits.connect_seconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, state_->limits.silent_seconds);
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
  if (code != CURLE_OK)
    throw ConnectionError(printable(why[0] ? why.data() : curl_easy_strerror(code)), !is_final(code));
  transfer.begin_once();
  return transfer.response;
}

}  // namespace headscope::app
