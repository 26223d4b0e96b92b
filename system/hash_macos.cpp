#include <CommonCrypto/CommonDigest.h>

#include <variant>

#include "system/hash.h"

namespace headscope::system {

struct Hash::State {
  std::variant<CC_SHA1_CTX, CC_SHA256_CTX> context;
};

Hash::Hash(Kind kind) : state_(std::make_unique<State>()) {
  if (kind == Kind::sha1) {
    CC_SHA1_Init(&state_->context.emplace<CC_SHA1_CTX>());
  } else {
    CC_SHA256_Init(&state_->context.emplace<CC_SHA256_CTX>());
  }
}

Hash::Hash(Hash&&) noexcept = default;
Hash& Hash::operator=(Hash&&) noexcept = default;
Hash::~Hash() = default;

void Hash::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, std::size_t{1} << 30);  // its sizes have 32 bits
    const auto size = static_cast<CC_LONG>(part.size());
    if (auto* const sha1 = std::get_if<CC_SHA1_CTX>(&state_->context)) {
      CC_SHA1_Update(sha1, part.data(), size);
    } else {
      CC_SHA256_Update(std::get_if<CC_SHA256_CTX>(&state_->context), part.data(), size);
    }
    bytes.remove_prefix(part.size());
  }
}

std::string Hash::finish() {
  auto* const sha1 = std::get_if<CC_SHA1_CTX>(&state_->context);
  std::string bytes(sha1 ? CC_SHA1_DIGEST_LENGTH : CC_SHA256_DIGEST_LENGTH, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
  if (sha1) {
    CC_SHA1_Final(out, sha1);
  } else {
    CC_SHA256_Final(out, std::get_if<CC_SHA256_CTX>(&state_->context));
  }
  return bytes;
}

}  // namespace headscope::system
