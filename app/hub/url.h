#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headscope::app {

/// An address of the web.
struct Url {
  std::string text;    ///< the whole of it, without a fragment
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< in lower case
  std::string port;    ///< also when it is the default
};

/// An absolute http or https URL, read by the library that will open it; nothing for anything else, and for
/// one with a user's name or password in it.
std::optional<Url> parse_url(const std::string& text);

/// Where a Location leads from `base`; nothing as parse_url.
std::optional<Url> resolve(const Url& base, const std::string& location);

/// The same scheme, host and port: what a secret for the one may be told to.
bool same_origin(const Url& a, const Url& b);

/// Letters, digits and "-._~" as they are, all else as %XX, slashes too.
std::string percent_encoded(std::string_view segment);

}  // namespace headscope::app
