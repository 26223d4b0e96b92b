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

/// What a server said before the content.
struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case; of several of a name the last
  std::string url = {};                        ///< that was asked for it
  const std::string* header(const std::string& name) const;
  bool is_redirect() const;
};

/// ASCII letters in lower case, all else as it is.
std::string lower_case(std::string_view text);
/// Without spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// Puts a line of an answer's head into it; "HTTP/..." starts a new head; lines without a colon are ignored.
void read_header(std::string_view line, HttpResponse& response);

/// No whole answer came. `what()` is why, in the library's words ("Could not resolve host: example.org"),
/// with "?" for all but printable ASCII: it may repeat what a server said.
class ConnectionError : public std::runtime_error {
 public:
  ConnectionError(const std::string& why, bool is_retryable)
      : std::runtime_error(why), is_retryable_(is_retryable) {}
  bool is_retryable() const { return is_retryable_; }  ///< another try may do; not so with a certificate

 private:
  bool is_retryable_;
};

struct HttpLimits {
  std::string certificates = {};  ///< file or folder of those that are trusted; empty: the system's
  long connect_seconds = 30;
  long silent_seconds = 60;  ///< without a byte; then the connection counts as broken
};

/// A client for one request at a time; what it says and what it hears is not interpreted. Connections are
/// kept for the next request. Certificates are checked, proxies are those of the environment, redirects are
/// not followed, nothing is decompressed.
class HttpClient {
 public:
  explicit HttpClient(HttpLimits limits = {});
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  /// `begin` is called with the answer before the first byte of its content, also when there is none; then
  /// `bytes` with each piece. What they throw ends the transfer and comes out here. `cancelled` is polled, at
  /// least once a second; then model::Stopped is thrown. Throws ConnectionError.
  HttpResponse send(const HttpRequest& request, const std::function<void(const HttpResponse&)>& begin,
                    const std::function<void(std::string_view)>& bytes,
                    const std::function<bool()>& cancelled);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::app
