#pragma once
#include <string>

#include "tests/fuzz/mutation.h"

namespace headscope::fuzz {

// Mutations that preserve the structure of a file, so that they reach the code after a header, checksum or
// bracket. Input without that structure is mutated byte by byte.

/// Mutates values, keys, members and elements of JSON.
std::string mutate_json(testing::Mutator& mutator, const std::string& json);

/// Mutates one line as JSON.
std::string mutate_json_lines(testing::Mutator& mutator, const std::string& text);

/// Mutates the header as JSON, with the right length and data of the size it declares.
std::string mutate_safetensors(testing::Mutator& mutator, const std::string& file);

/// Removes, duplicates, swaps or mutates lines.
std::string mutate_lines(testing::Mutator& mutator, const std::string& text);

}  // namespace headscope::fuzz
