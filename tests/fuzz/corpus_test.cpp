// Runs every target on its corpus (seeds and earlier findings), then on thousands of mutated seeds,
// reproducibly. HEADSCOPE_FUZZ_ROUNDS multiplies the number of inputs.

#include "tests/fuzz/targets.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"

namespace headscope::fuzz::corpus_test {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = headscope::testing::source_dir() / "tests/fuzz/corpus";

std::vector<fs::path> files_of(std::string_view target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kCorpus / target)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

int rounds() {
  const char* text = std::getenv("HEADSCOPE_FUZZ_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// Bytes escaped for a message.
std::string escaped(std::string_view bytes) {
  return ::testing::PrintToString(std::string(bytes.substr(0, 2000)));
}

class EveryReader : public ::testing::TestWithParam<const Target*> {
 protected:
  void check(const std::string& input, const std::string& what) {
    try {
      GetParam()->check(input) == Outcome::read ? ++read_ : ++refused_;
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what() << "\n" << escaped(input);
    }
  }

  int read_ = 0, refused_ = 0;
};

TEST_P(EveryReader, KeepsItsPromisesOnItsCorpus) {
  for (const fs::path& file : files_of(GetParam()->name))
    check(testing::bytes_of_file(file), file.filename().string());
  EXPECT_GT(read_ + refused_, 0) << "no inputs in " << (kCorpus / GetParam()->name);
  EXPECT_GT(read_, 0) << "no input can be read";
}

TEST_P(EveryReader, KeepsItsPromisesOnChangedInputs) {
  const Target& target = *GetParam();
  std::vector<std::string> seeds;
  for (const fs::path& file : files_of(target.name)) seeds.push_back(testing::bytes_of_file(file));
  ASSERT_FALSE(seeds.empty());
  Mutator mutator(1, target.words);
  for (int i = 0; i < target.inputs * rounds() && !HasFailure(); ++i) {
    const std::string& seed = seeds[mutator.below(seeds.size())];
    const bool in_form = target.mutate != nullptr && i % 4 != 0;
    check(in_form ? target.mutate(mutator, seed) : mutator.mutate(seed), "input " + std::to_string(i));
  }
  // A test whose inputs all have the same outcome would test little.
  EXPECT_GT(read_, 20);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, EveryReader, ::testing::ValuesIn([] {
                           std::vector<const Target*> all;
                           for (const Target& target : targets()) all.push_back(&target);
                           return all;
                         }()),
                         [](const auto& target) {
                           std::string name(target.param->name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace headscope::fuzz::corpus_test
