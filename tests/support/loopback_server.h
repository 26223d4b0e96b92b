#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace headscope::testing {

struct WebRequest {
  std::string target;                          ///< as in the request line
  std::map<std::string, std::string> headers;  ///< with names in lower case
  std::string header(const std::string& name) const;
};

/// A server's response, valid or not.
struct WebReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::optional<std::size_t> cut_content = {};  ///< disconnects after that many bytes of the body
  std::optional<std::size_t> stall =
      {};                ///< stops sending after that many bytes of the body, until the client disconnects
  std::string raw = {};  ///< sent instead of everything else
};

/// A web server on the loopback, with its own port and a test's responses. Each connection has a thread and
/// one request. The destructor stops it.
class LoopbackServer {
 public:
#if defined(_WIN32)
  using Socket = std::intptr_t;
#else
  using Socket = int;
#endif
  using Handler = std::function<WebReply(const WebRequest&)>;

  explicit LoopbackServer(Handler handler);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  int port() const {
    return port_;
  }
  std::vector<WebRequest> requests() const;  ///< all received so far
  void forget_requests();

 private:
  void accept_all();
  void serve(Socket connection);

  Handler handler_;
  Socket listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<WebRequest> requests_;
  std::set<Socket> connections_;
  std::vector<std::thread> threads_;
  std::atomic<bool> ending_ = false;
  std::thread acceptor_;  // last: it uses the members above
};

}  // namespace headscope::testing
