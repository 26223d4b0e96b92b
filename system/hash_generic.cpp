#include <openssl/evp.h>

#include <stdexcept>

#include "system/hash.h"

namespace headscope::system {

struct Hash::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};

  static void expect(bool fine) {
    if (!fine) throw std::runtime_error("OpenSSL could not compute the hash");
  }
};

Hash::Hash(Kind kind) : state_(std::make_unique<State>()) {
  const EVP_MD* const type = kind == Kind::sha1 ? EVP_sha1() : EVP_sha256();
  State::expect(state_->context && EVP_DigestInit_ex(state_->context.get(), type, nullptr) == 1);
}

Hash::Hash(Hash&&) noexcept = default;
Hash& Hash::operator=(Hash&&) noexcept = default;
Hash::~Hash() = default;

void Hash::add(std::string_view bytes) {
  State::expect(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Hash::finish() {
  std::string bytes(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  State::expect(
      EVP_DigestFinal_ex(state_->context.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size) == 1);
  bytes.resize(size);
  return bytes;
}

}  // namespace headscope::system
