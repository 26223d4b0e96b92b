#include "app/hub/url.h"

#include <curl/curl.h>

#include <memory>
#include <new>

#include "app/ascii.h"
#include "app/hub/http.h"

namespace headscope::app {
namespace {

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

Handle make_handle() {
  Handle handle(curl_url(), &curl_url_cleanup);
  if (!handle) throw std::bad_alloc();
  return handle;
}

bool set(const Handle& handle, const std::string& text) {
  return text.find('\0') == text.npos &&
         curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
}

/// A part of the URL; empty if missing.
std::string part(const Handle& handle, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(handle.get(), which, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

/// Whether the URL has a part, even an empty one.
bool has(const Handle& handle, CURLUPart which) {
  char* text = nullptr;
  const CURLUcode code = curl_url_get(handle.get(), which, &text, 0);
  curl_free(text);
  return code == CURLUE_OK;
}

std::optional<Url> url_of(const Handle& handle) {
  if (has(handle, CURLUPART_USER) || has(handle, CURLUPART_PASSWORD)) return std::nullopt;
  curl_url_set(handle.get(), CURLUPART_FRAGMENT, nullptr, 0);
  Url url{part(handle, CURLUPART_URL), part(handle, CURLUPART_SCHEME), part(handle, CURLUPART_HOST),
          part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  url.host = lowered(url.host);
  if ((url.scheme != "http" && url.scheme != "https") || url.host.empty()) return std::nullopt;
  return url;
}

}  // namespace

std::optional<Url> parse_url(const std::string& text) {
  const Handle handle = make_handle();
  if (!set(handle, text)) return std::nullopt;
  return url_of(handle);
}

std::optional<Url> resolve(const Url& base, const std::string& location) {
  const Handle handle = make_handle();
  if (!set(handle, base.text) || !set(handle, location)) return std::nullopt;
  return url_of(handle);
}

bool same_origin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

std::string percent_encoded(std::string_view segment) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : segment) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain) {
      text += c;
    } else {
      text += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return text;
}

}  // namespace headscope::app
