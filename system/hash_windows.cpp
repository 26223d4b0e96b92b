#include <windows.h>

// These need it.
#include <bcrypt.h>

#include <stdexcept>

#include "system/hash.h"

namespace headscope::system {
namespace {

void expect(NTSTATUS status) {
  if (status < 0) throw std::runtime_error("Windows could not compute the hash");
}

}  // namespace

struct Hash::State {
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  BCRYPT_HASH_HANDLE hash = nullptr;
  std::size_t size = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (hash) ::BCryptDestroyHash(hash);
    if (algorithm) ::BCryptCloseAlgorithmProvider(algorithm, 0);
  }
};

Hash::Hash(Kind kind) : state_(std::make_unique<State>()) {
  const bool sha1 = kind == Kind::sha1;
  state_->size = sha1 ? 20 : 32;
  expect(::BCryptOpenAlgorithmProvider(&state_->algorithm,
                                       sha1 ? BCRYPT_SHA1_ALGORITHM : BCRYPT_SHA256_ALGORITHM, nullptr, 0));
  expect(::BCryptCreateHash(state_->algorithm, &state_->hash, nullptr, 0, nullptr, 0, 0));
}

Hash::Hash(Hash&&) noexcept = default;
Hash& Hash::operator=(Hash&&) noexcept = default;
Hash::~Hash() = default;

void Hash::add(std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // it counts in 32 bits
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMost);
    auto* const data = reinterpret_cast<UCHAR*>(const_cast<char*>(part.data()));
    expect(::BCryptHashData(state_->hash, data, static_cast<ULONG>(part.size()), 0));
    bytes.remove_prefix(part.size());
  }
}

std::string Hash::finish() {
  std::string bytes(state_->size, '\0');
  expect(::BCryptFinishHash(state_->hash, reinterpret_cast<UCHAR*>(bytes.data()),
                            static_cast<ULONG>(bytes.size()), 0));
  return bytes;
}

}  // namespace headscope::system
