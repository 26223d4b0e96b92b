#include "system/hash.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#ifdef _WIN32
#include <windows.h>

// These need it.
#include <bcrypt.h>
#else
#include <openssl/evp.h>
#endif

namespace headscope::system {
namespace {

void expect(bool fine) {
  if (!fine) throw std::runtime_error("the system could not compute a hash");
}

std::string hex_of(const std::vector<unsigned char>& bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) text += {kHex[byte >> 4], kHex[byte & 15]};
  return text;
}

}  // namespace

#ifdef _WIN32

namespace {

BCRYPT_ALG_HANDLE algorithm_named(const wchar_t* name) {
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  expect(::BCryptOpenAlgorithmProvider(&algorithm, name, nullptr, 0) >= 0);
  return algorithm;
}

}  // namespace

Hash::Hash(Kind kind)
    : state_(nullptr, [](void* state) { ::BCryptDestroyHash(state); }), size_(kind == Kind::sha1 ? 20 : 32) {
  // Which stay open.
  static const BCRYPT_ALG_HANDLE sha1 = algorithm_named(BCRYPT_SHA1_ALGORITHM),
                                 sha256 = algorithm_named(BCRYPT_SHA256_ALGORITHM);
  BCRYPT_HASH_HANDLE state = nullptr;
  expect(::BCryptCreateHash(kind == Kind::sha1 ? sha1 : sha256, &state, nullptr, 0, nullptr, 0, 0) >= 0);
  state_.reset(state);
}

void Hash::add(std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // it counts in 32 bits
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMost, bytes.size()))) {
    auto* const data = reinterpret_cast<UCHAR*>(const_cast<char*>(bytes.data()));
    expect(::BCryptHashData(state_.get(), data, static_cast<ULONG>(std::min(kMost, bytes.size())), 0) >= 0);
  }
}

std::string Hash::hex() {
  std::vector<unsigned char> bytes(size_);
  expect(::BCryptFinishHash(state_.get(), bytes.data(), static_cast<ULONG>(size_), 0) >= 0);
  return hex_of(bytes);
}

#else

Hash::Hash(Kind kind)
    : state_(::EVP_MD_CTX_new(), [](void* state) { ::EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(state)); }),
      size_(kind == Kind::sha1 ? 20 : 32) {
  const EVP_MD* const type = kind == Kind::sha1 ? ::EVP_sha1() : ::EVP_sha256();
  expect(state_ && ::EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(state_.get()), type, nullptr) == 1);
}

void Hash::add(std::string_view bytes) {
  expect(::EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(state_.get()), bytes.data(), bytes.size()) == 1);
}

std::string Hash::hex() {
  std::vector<unsigned char> bytes(size_);
  expect(::EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(state_.get()), bytes.data(), nullptr) == 1);
  return hex_of(bytes);
}

#endif

}  // namespace headscope::system
