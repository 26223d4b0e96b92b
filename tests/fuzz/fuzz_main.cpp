// Runs a target under libFuzzer: headscope_fuzz TARGET [libFuzzer's arguments]. An exception from a check
// ends the process, and libFuzzer saves the input.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/targets.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using headscope::fuzz::Target;

/// Passed in the environment, so that processes started by libFuzzer get it too.
constexpr const char* kVariable = "HEADSCOPE_FUZZ_TARGET";

const Target& target() {
  static const Target& chosen = [&]() -> const Target& {
    const char* name = std::getenv(kVariable);
    const auto all = headscope::fuzz::targets();
    const auto found = std::ranges::find(all, name == nullptr ? "" : name, &Target::name);
    if (found != all.end()) return *found;
    std::fprintf(stderr, "the first argument is one of");
    for (const Target& one : all) std::fprintf(stderr, " %s", std::string(one.name).c_str());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }();
  return chosen;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc > 1 && (*argv)[1][0] != '-' && std::getenv(kVariable) == nullptr) {
    ::setenv(kVariable, (*argv)[1], 1);
    std::copy(*argv + 2, *argv + *argc + 1, *argv + 1);
    --*argc;
  }
  target();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target().check({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (seed % 2 == 0)
    return LLVMFuzzerMutate(data, std::min(size, target().most_bytes), std::min(most, target().most_bytes));
  headscope::testing::Mutator mutator(seed, target().words);
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string changed =
      target().mutate != nullptr ? target().mutate(mutator, input) : mutator.mutate(input);
  if (changed.size() > std::min(most, target().most_bytes)) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
