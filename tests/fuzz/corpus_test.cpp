// Runs every target on its corpus (seeds and earlier findings), then on thousands of mutated seeds,
// reproducibly; and parses random JSON. HEADSCOPE_FUZZ_ROUNDS multiplies the number of inputs.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/files/json.h"
#include "tests/fuzz/targets.h"
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
  testing::Mutator mutator(1, target.words);
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

/// A random text, wide and deep, and the number of values in it.
std::pair<std::string, std::size_t> random_json(testing::Mutator& random, std::size_t bytes) {
  std::string text, closing;  // closing: the brackets still open
  std::size_t values = 0;
  do {
    if (!closing.empty() && text.back() != '[' && text.back() != '{') text += ',';
    if (closing.ends_with('}')) text += "\"k" + std::to_string(values) + "\":";
    ++values;
    const std::size_t kind = closing.empty() ? 0 : random.below(8);
    if (closing.size() < 31 && kind < 3) {
      text += kind == 0 ? '{' : '[';
      closing += kind == 0 ? '}' : ']';
    } else {
      text += std::array{"null", "1", "-2.5e3", "\"text\"", "[]", "{}"}[random.below(6)];
    }
    if (closing.size() > 1 && random.below(4) == 0) {
      text += closing.back();
      closing.pop_back();
    }
  } while (text.size() < bytes);
  return {text + std::string(closing.rbegin(), closing.rend()), values};
}

TEST(FuzzJson, IsParsedInOneStepForEachValue) {
  testing::Mutator random(1, {});
  for (int i = 0; i < 10 * rounds(); ++i) {
    const auto [text, values] = random_json(random, 1'000'000);
    EXPECT_EQ(model::parse_json(text, "f", {.values = values}), nlohmann::json::parse(text));
    EXPECT_THROW(model::parse_json(text, "f", {.values = values - 1}), model::LoadError);
  }
}

TEST(FuzzCorpus, EveryFolderIsOfATarget) {
  std::size_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kCorpus)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
    if (!entry.is_directory()) continue;
    EXPECT_EQ(std::ranges::count(targets(), entry.path().filename().string(), &Target::name), 1)
        << entry.path();
  }
  EXPECT_LT(bytes, 1'000'000U) << "a corpus holds what is small";
}

}  // namespace
}  // namespace headscope::fuzz::corpus_test
