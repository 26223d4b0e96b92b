#pragma once
#include <optional>
#include <string>
#include <string_view>

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

/// Resolves a Location header relative to `base`; nothing as in parse_url.
std::optional<Url> resolve(const Url& base, const std::string& location);

/// Whether scheme, host and port are equal, so that a secret for one may be sent to the other.
bool same_origin(const Url& a, const Url& b);

/// Percent-encodes everything except letters, digits and "-._~", including slashes.
std::string percent_encoded(std::string_view segment);

}  // namespace headscope::app
