#pragma once
#include <atomic>
#include <cstddef>
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
  std::string method;
  std::string target;                          ///< as in the request's line
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string header(const std::string& name) const;
};

/// What a server says, well or badly.
struct WebReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::optional<std::size_t> length = {};  ///< that is claimed, where it is not the body's
  std::optional<std::size_t> cut = {};     ///< the connection breaks after so many bytes, headers included
  std::optional<std::size_t> cut_content = {};  ///< the same, of the body alone
  std::optional<std::size_t> stall = {};  ///< nothing comes after so many of the body, until the client goes
  std::string raw = {};                   ///< in place of all of it
};

/// A web server on the loopback, on a port of its own, for a test to answer as it likes. Each connection has
/// a thread and stays open for more requests, unless it is cut. Gone with this.
class LoopbackServer {
 public:
  using Handler = std::function<WebReply(const WebRequest&)>;

  explicit LoopbackServer(Handler handler);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  int port() const { return port_; }
  std::vector<WebRequest> requests() const;  ///< so far
  void forget_requests();

 private:
  void accept_all();
  void serve(int connection);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<WebRequest> requests_;
  std::set<int> connections_;
  std::vector<std::thread> threads_;
  std::atomic<bool> ending_ = false;
  std::thread acceptor_;  // last: it uses the others
};

}  // namespace headscope::testing
