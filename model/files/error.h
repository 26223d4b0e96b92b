#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::model {

/// A file or a model that cannot be used. `what()` is one sentence for the user: the file and the tensor or
/// key, what was expected, what was found and, where it helps, how to fix it.
class LoadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that the system does not let be read, or that changes meanwhile.
class ReadError : public LoadError {
 public:
  using LoadError::LoadError;
};

/// Throws LoadError: "where: expected X, found Y".
[[noreturn]] inline void reject(const std::string& where, const std::string& expected,
                                const std::string& found) {
  throw LoadError(where + ": expected " + expected + ", found " + found);
}

/// A request that the model cannot fulfil (too many tokens, an id outside the vocabulary). One sentence.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown by work that was cancelled through its stop token. Never shown to the user.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

/// A name from a file, quoted for a message: in double quotes, at most 64 bytes of it (then "..."), with
/// everything that is not printable ASCII as `\xNN`, so that a hostile name cannot disturb a terminal.
std::string quote(std::string_view name);

/// How many letters must change, come or go to make one name of another (Levenshtein).
std::size_t spelling_distance(std::string_view a, std::string_view b);

/// The first names, quoted, with commas between; ", ..." stands for the others.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace headscope::model
