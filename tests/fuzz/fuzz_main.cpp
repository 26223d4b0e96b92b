// Runs the target HEADSCOPE_FUZZ_TARGET under libFuzzer. An exception from a check ends the process, and
// libFuzzer saves the input.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tests/fuzz/targets.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using headscope::fuzz::Target;

const Target& target() {
  static const Target& chosen = []() -> const Target& {
    const char* const name = std::getenv("HEADSCOPE_FUZZ_TARGET");
    const auto all = headscope::fuzz::targets();
    const auto found = std::ranges::find(all, name == nullptr ? "" : name, &Target::name);
    if (found == all.end()) throw std::invalid_argument("HEADSCOPE_FUZZ_TARGET names no target");
    return *found;
  }();
  return chosen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target().check({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (seed % 2 == 0)
    return LLVMFuzzerMutate(data, std::min(size, target().most_bytes), std::min(most, target().most_bytes));
  headscope::fuzz::Mutator mutator(seed, target().words);
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string changed =
      target().mutate != nullptr ? target().mutate(mutator, input) : mutator.mutate(input);
  if (changed.size() > std::min(most, target().most_bytes)) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
