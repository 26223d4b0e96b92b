#include "system/hash.h"

#include "tests/support/matchers.h"

namespace headscope::system::hash_test {
namespace {

// The examples of FIPS 180.
TEST(Hash, IsThatOfTheStandard) {
  Hash sha1(Hash::Kind::sha1), sha256(Hash::Kind::sha256);
  for (const char* const part : {"a", "", "bc"}) sha1.add(part), sha256.add(part);
  EXPECT_EQ(sha1.hex(), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha256.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace headscope::system::hash_test
