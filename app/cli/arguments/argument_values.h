#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/command.h"

namespace headscope::app {

/// "I/N", 0 <= I < N. Throws WrongUse.
Shard shard(const std::string& text);

// Values out of the text of the command line. `option` is named in messages, e.g. "--top".

/// The program was used wrongly: exit status 2.
struct WrongUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Well said, but nothing could fulfil it: exit status 1.
struct Unfulfillable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// In [low, high]. Throws WrongUse.
int whole_number(const std::string& option, std::string_view text, int low, int high);

/// Throws WrongUse.
std::uint64_t seed_number(const std::string& option, std::string_view text);

/// Finite and in [low, high], which `range` says in words. Throws WrongUse.
double number(const std::string& option, std::string_view text, double low, double high, const char* range);

/// "16,64" with blanks around the numbers, each at least 1. Throws WrongUse.
std::vector<int> lengths(const std::string& option, std::string_view text);

/// "464,3290"; none for blank text. Throws WrongUse, for an id that is no 32-bit number Unfulfillable.
std::vector<int> token_ids(std::string_view text);

/// "f32", "f16", "bf16". Throws WrongUse.
model::Precision precision(std::string_view text);

/// "1000x700" into width and height; "fit" into the default width and height 0. Throws WrongUse.
void set_size(PictureArguments& picture, std::string_view text);

/// Throws WrongUse for a picture whose file would have too many pixels.
void check_pixels(const PictureArguments& picture);

}  // namespace headscope::app
