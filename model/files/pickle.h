#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::model {

/// What a pickle builds, as values that refer to each other by number, so that shared and cyclic ones cost
/// nothing.
struct Pickle {
  enum class Kind { other, integer, text, sequence, dictionary, global, call, persistent };
  struct Value {
    Kind kind = Kind::other;
    std::int64_t integer = 0;
    std::string_view text = {};  ///< a text's; a global's name as "module.name"
    /// A sequence's items; a dictionary's keys and values in turn; of a call the global and the sequence of
    /// its arguments (nobody carries it out); the sequence that is a persistent id.
    std::vector<std::uint32_t> items = {};
  };
  std::vector<Value> values;
  std::uint32_t root = 0;

  const Value& operator[](std::uint32_t value) const { return values[value]; }
};

/// Reads the pickle of a PyTorch state dict (protocol 2, see Python's pickletools.py). Nothing is ever
/// executed: a global is a name and a call is a value. Other globals than a state dict's and other opcodes
/// than plain data's are refused. Texts point into `bytes`. Throws LoadError that names `where`, also for
/// more than 2^18 steps.
Pickle read_pickle(std::string_view bytes, const std::string& where);

}  // namespace headscope::model
