#pragma once
#include <string>

#include "tests/fuzz/mutation.h"

namespace headscope::fuzz {

// Mutations of files that keep their form, so that what lies behind a header, a checksum or a bracket is
// reached. What is not of the form is changed byte by byte.

/// Values, keys, members and elements of JSON.
std::string mutate_json(testing::Mutator& mutator, const std::string& json);

/// One of the lines as JSON.
std::string mutate_json_lines(testing::Mutator& mutator, const std::string& text);

/// The header as JSON, its length right, data as long as it says.
std::string mutate_safetensors(testing::Mutator& mutator, const std::string& file);

/// The recipe of a figure as JSON in its note, or the parts around it, checksums right: PNG, SVG and PDF.
std::string mutate_figure(testing::Mutator& mutator, const std::string& file);

/// Lines taken out, doubled, swapped, changed.
std::string mutate_lines(testing::Mutator& mutator, const std::string& text);

}  // namespace headscope::fuzz
