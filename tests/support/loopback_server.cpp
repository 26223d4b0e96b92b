#include "tests/support/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace headscope::testing {
namespace {

/// Reads a request with its "name: value" lines; false if the connection ended too early.
bool read_request(int connection, std::string& pending, WebRequest& request) {
  std::size_t end = 0;
  while ((end = pending.find("\r\n\r\n")) == std::string::npos) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    pending.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const std::string head = pending.substr(0, end + 2);
  pending.erase(0, end + 4);
  std::size_t at = head.find("\r\n");
  const std::string line = head.substr(0, at);
  const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return false;
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, second - first - 1);
  for (at += 2; at < head.size();) {
    const std::size_t stop = head.find("\r\n", at);
    const std::string field = head.substr(at, stop - at);
    const std::size_t colon = field.find(": ");
    std::string name = field.substr(0, colon);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (colon != std::string::npos) request.headers[name] = field.substr(colon + 2);
    at = stop + 2;
  }
  return true;
}

std::string wire(const WebReply& reply, bool head) {
  if (!reply.raw.empty()) return reply.raw;
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " Said\r\n";
  text += "Content-Length: " + std::to_string(reply.length.value_or(reply.body.size())) + "\r\n";
  for (const auto& [name, value] : reply.headers) text += name + ": " + value + "\r\n";
  text += "\r\n";
  return head ? text : text + reply.body;
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(sent);
  }
  return true;
}

}  // namespace

std::string WebRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no server can be had on the loopback");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

LoopbackServer::~LoopbackServer() {
  ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

std::vector<WebRequest> LoopbackServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void LoopbackServer::forget_requests() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

void LoopbackServer::accept_all() {
  while (!ending_) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const std::lock_guard lock(mutex_);
    connections_.insert(connection);
    threads_.emplace_back([this, connection] { serve(connection); });
  }
}

void LoopbackServer::serve(int connection) {
  std::string pending;
  for (WebRequest request; !ending_ && read_request(connection, pending, request); request = {}) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const WebReply reply = handler_(request);
    const std::string bytes = wire(reply, request.method == "HEAD");
    const std::size_t before = bytes.size() - std::min(reply.body.size(), bytes.size());
    std::size_t most = std::min(bytes.size(), reply.cut.value_or(bytes.size()));
    for (const auto& content : {reply.cut_content, reply.stall})
      if (content) most = std::min(most, before + *content);
    if (!send_all(connection, std::string_view(bytes).substr(0, most))) break;
    if (reply.stall && most < bytes.size()) {
      char byte = 0;
      static_cast<void>(::recv(connection, &byte, 1, 0));
    }
    if (most < bytes.size() || !reply.raw.empty()) break;
  }
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  ::close(connection);
}

}  // namespace headscope::testing
