#include "tests/support/loopback_server.h"

#if defined(_WIN32)
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace headscope::testing {
namespace {

using Socket = LoopbackServer::Socket;

// What sockets of Windows call otherwise.
#if defined(_WIN32)
constexpr int kStream = SOCK_STREAM, kNoSignal = 0, kBoth = SD_BOTH;
constexpr Socket kNone = static_cast<Socket>(INVALID_SOCKET);

void use_sockets() {
  WSADATA facts{};
  if (::WSAStartup(MAKEWORD(2, 2), &facts) != 0) throw std::runtime_error("there are no sockets");
}
void give_up_sockets() {
  ::WSACleanup();
}
void close_socket(Socket socket) {
  ::closesocket(socket);
}
#else
constexpr int kStream = SOCK_STREAM | SOCK_CLOEXEC, kNoSignal = MSG_NOSIGNAL, kBoth = SHUT_RDWR;
constexpr Socket kNone = -1;

void use_sockets() {}
void give_up_sockets() {}
void close_socket(Socket socket) {
  ::close(socket);
}
#endif

int as_length(std::size_t bytes) {
  return static_cast<int>(std::min<std::size_t>(bytes, 1 << 30));
}

/// Reads a request with its "name: value" lines; false if the connection ended too early.
bool read_request(Socket connection, WebRequest& request) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    std::array<char, 4096> buffer{};
    const auto got = ::recv(connection, buffer.data(), as_length(buffer.size()), 0);
    if (got <= 0) return false;
    head.append(buffer.data(), static_cast<std::size_t>(got));
  }
  std::istringstream lines(head);
  std::string method, line;
  lines >> method >> request.target;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);  // without the carriage return
  }
  return true;
}

std::string wire(const WebReply& reply) {
  if (!reply.raw.empty()) return reply.raw;
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " Said\r\nConnection: close\r\n";
  text += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
  for (const auto& [name, value] : reply.headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + reply.body;
}

void send_all(Socket connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(connection, bytes.data(), as_length(bytes.size()), kNoSignal);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

std::string WebRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
  use_sockets();
  listener_ = static_cast<Socket>(::socket(AF_INET, kStream, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listener_ == kNone || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no server can be had on the loopback");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

LoopbackServer::~LoopbackServer() {
  ending_ = true;
#if defined(_WIN32)
  close_socket(listener_);  // accept() returns only then
  acceptor_.join();
#else
  ::shutdown(listener_, kBoth);
  acceptor_.join();
  close_socket(listener_);
#endif
  {
    const std::lock_guard lock(mutex_);
    for (const Socket connection : connections_) ::shutdown(connection, kBoth);
  }
  for (std::thread& thread : threads_) thread.join();
  give_up_sockets();
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
#if defined(_WIN32)
    const auto connection = static_cast<Socket>(::accept(listener_, nullptr, nullptr));
#else
    const Socket connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
#endif
    if (connection == kNone) continue;
    const std::lock_guard lock(mutex_);
    connections_.insert(connection);
    threads_.emplace_back([this, connection] { serve(connection); });
  }
}

void LoopbackServer::serve(Socket connection) {
  WebRequest request;
  if (read_request(connection, request)) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const WebReply reply = handler_(request);
    const std::string bytes = wire(reply);
    const std::size_t before = bytes.size() - std::min(reply.body.size(), bytes.size());
    std::size_t most = bytes.size();
    for (const auto& content : {reply.cut_content, reply.stall})
      if (content) most = std::min(most, before + *content);
    send_all(connection, std::string_view(bytes).substr(0, most));
    if (reply.stall && most < bytes.size()) {
      char byte = 0;
      static_cast<void>(::recv(connection, &byte, 1, 0));
    }
  }
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  close_socket(connection);
}

}  // namespace headscope::testing
