#pragma once
#include <stdexcept>
#include <string>

namespace headscope::model {

/// A file or a model that cannot be used. `what()` is one whole sentence for the user: which file and tensor
/// or key, what was expected, what was found, and where it helps, how to mend it.
class LoadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A request that the model cannot fulfil (too many tokens, an id outside the vocabulary). One sentence.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Work that was given up because its stop token asked for it. Never shown to the user.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

}  // namespace headscope::model
