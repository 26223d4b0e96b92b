#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "app/cli/serve/request.h"

namespace headscope::app {

class KeptModels;

/// The most that a command may print in answer to a request, in bytes: all of it is in memory.
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

/// Runs the command of a line's request with the models that are kept. Returns the answer, a line of JSON
/// without its end: `id`, `status` (the command's exit status), `error` (the sentence of a failure),
/// `messages` (its other sentences), and what it printed: `result` (the JSON of `--json`), `results` (a list
/// of them, with `prompts`), `format` and `base64` (of `--out -`) or `text` (anything else; with U+FFFD for
/// what is no UTF-8, and then also `base64`). Throws system::Interrupted; whatever else is wrong is in the
/// answer.
std::string answer_to(const RequestLine& line, const std::shared_ptr<KeptModels>& models);

}  // namespace headscope::app
