#include "app/run/sources/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace headscope::app {

struct Digest::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};

  static void expect(bool fine) {
    if (!fine) throw std::runtime_error("OpenSSL could not compute the hash");
  }
};

Digest::Digest(bool git) : state_(std::make_unique<State>()) {
  State::expect(state_->context &&
                EVP_DigestInit_ex(state_->context.get(), git ? EVP_sha1() : EVP_sha256(), nullptr) == 1);
}

Digest::Digest(std::string_view expected, std::uint64_t bytes) : Digest(expected.size() == 40) {
  if (expected.size() == 40) add("blob " + std::to_string(bytes) + std::string(1, '\0'));
}

Digest Digest::sha256() {
  return Digest(false);
}

Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::add(std::string_view bytes) {
  State::expect(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Digest::hex() {
  constexpr char kHex[] = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  State::expect(EVP_DigestFinal_ex(state_->context.get(), bytes.data(), &size) == 1);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += {kHex[bytes[i] >> 4], kHex[bytes[i] & 15]};
  return text;
}

bool is_digest(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace headscope::app
