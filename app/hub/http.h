#pragma once
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::app {

struct HttpRequest {
  std::string url;
  bool head = false;  ///< HEAD, else GET
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// A server's response without its content.
struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case; the last value of a repeated name
  std::string url = {};                        ///< the requested URL
  const std::string* header(const std::string& name) const;
  bool is_redirect() const;
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

struct HttpLimits {
  std::string certificates = {};  ///< file or folder of trusted certificates; empty: the system's
  long connect_seconds = 30;
  long silent_seconds = 60;  ///< without receiving a byte, until the connection counts as broken
};

/// An HTTP client for one request at a time. Connections are reused. Certificates are checked, proxies are
/// taken from the environment, redirects are not followed, and content is not decompressed.
class HttpClient {
 public:
  explicit HttpClient(HttpLimits limits = {});
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  /// Calls `begin` with the response before its content, also if there is none, then `bytes` with each piece.
  /// Exceptions from them end the transfer and are rethrown. `cancelled` is polled at least once a second; if
  /// it returns true, throws model::Stopped. Throws ConnectionError.
  HttpResponse send(const HttpRequest& request, const std::function<void(const HttpResponse&)>& begin,
                    const std::function<void(std::string_view)>& bytes,
                    const std::function<bool()>& cancelled);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::app
