#pragma once
#include <bit>
#include <string>

namespace headscope::app {

struct LoadedModel;

/// What an open model supports. A GPT-2 has all capabilities, a file of attention patterns only the patterns.
enum class Capability : unsigned {
  patterns = 1U << 0U,         ///< patterns of every head
  weights = 1U << 1U,          ///< runs a prompt: everything computed from one
  positions_table = 1U << 2U,  ///< wpe: a learned vector for each position
  mlp = 1U << 3U,              ///< neurons between two matrices in each layer
  tokenizer = 1U << 4U,        ///< the merges that create tokens
};

/// A set of capabilities: what a model has (LoadedModel::capabilities), or what a view or a question needs.
class Capabilities {
 public:
  constexpr Capabilities() = default;
  constexpr Capabilities(Capability one)  // NOLINT(google-explicit-constructor): one is a set of one
      : bits_(static_cast<unsigned>(one)) {}
  constexpr Capabilities operator|(Capabilities other) const { return of(bits_ | other.bits_); }
  constexpr Capabilities without(Capabilities other) const { return of(bits_ & ~other.bits_); }
  constexpr bool has(Capabilities all) const { return all.without(*this).bits_ == 0; }
  /// The first one; `*this` must have one.
  constexpr Capability first() const {
    return Capability{1U << static_cast<unsigned>(std::countr_zero(bits_))};
  }
  bool operator==(const Capabilities&) const = default;

 private:
  static constexpr Capabilities of(unsigned bits) {
    Capabilities set;
    set.bits_ = bits;
    return set;
  }
  unsigned bits_ = 0;
};
constexpr Capabilities operator|(Capability a, Capability b) {
  return Capabilities(a) | b;
}

/// The error if `model` lacks needed capabilities, for pictures and messages: one sentence; empty: it has
/// them.
std::string missing(const LoadedModel& model, Capabilities needed);
/// The same for a model called `name` with these capabilities.
std::string missing(const std::string& name, Capabilities there, Capabilities needed);
/// Throws model::RunError with that sentence.
void require(const LoadedModel& model, Capabilities needed);

}  // namespace headscope::app
