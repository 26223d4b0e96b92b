#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// An http or https URL.
struct Url {
  std::string text;    ///< the whole URL without its fragment
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< in lower case
  std::string port;    ///< also if it is the default
};

/// Parses an absolute http or https URL with the library that will open it; nothing for anything else, or if
/// it contains a user name or password.
std::optional<Url> parse_url(const std::string& text);

/// Whether scheme, host and port are equal.
bool same_origin(const Url& a, const Url& b);

/// Percent-encodes everything except letters, digits and "-._~", including slashes.
std::string percent_encoded(const std::string& segment);

struct HttpRequest {
  std::string url;
  bool head = false;  ///< HEAD, else GET
  std::vector<std::string> headers = {};
};

/// A server's response without its content.
struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case; the last value of a repeated name
  std::string url = {};                        ///< the URL that responded, after redirects
  std::chrono::seconds retry_after{0};         ///< how long the server asks to wait; 0: it does not
  const std::string* header(const std::string& name) const;
  /// Whether it has both X-Linked-Etag and X-Linked-Size, which describe a file of the hub wherever its
  /// content is stored.
  bool has_linked_headers() const { return header("x-linked-etag") && header("x-linked-size"); }
};

/// What surrounds the values of headers and settings.
constexpr std::string_view kBlanks = " \t\r\n";

/// Adds a header line to a response; "HTTP/..." starts a new header; lines without a colon are ignored.
void read_header(std::string_view line, HttpResponse& response);

/// No complete response was received. `what()` is the library's reason ("Could not resolve host:
/// example.org"), with "?" for everything but printable ASCII, because it may quote the server.
class ConnectionError : public std::runtime_error {
 public:
  ConnectionError(const std::string& why, bool is_retryable)
      : std::runtime_error(why), is_retryable_(is_retryable) {}
  /// Whether another attempt may succeed; false for example for a bad certificate.
  bool is_retryable() const { return is_retryable_; }

 private:
  bool is_retryable_;
};

/// An HTTP client for one request at a time. Connections are reused. Certificates are checked, proxies are
/// taken from the environment, and content is not decompressed. Redirects are followed, but from https only
/// to https, and a header Authorization goes to the first scheme, host and port alone. A redirected HEAD
/// request ends at the first response with has_linked_headers, because the content's host need not answer it.
class HttpClient {
 public:
  /// `certificates`: file or folder of trusted certificates; empty: the system's.
  explicit HttpClient(std::string certificates);

  /// Calls `begin` with the response before its content, also if there is none, then `bytes` with each piece.
  /// Exceptions from them end the transfer and are rethrown. `cancelled` is polled at least once a second; if
  /// it returns true, throws model::Stopped. Throws ConnectionError.
  HttpResponse send(const HttpRequest& request, const std::function<void(const HttpResponse&)>& begin,
                    const std::function<void(std::string_view)>& bytes,
                    const std::function<bool()>& cancelled);

 private:
  std::string certificates_;
  std::unique_ptr<void, void (*)(void*)> curl_;
};

}  // namespace headscope::app
