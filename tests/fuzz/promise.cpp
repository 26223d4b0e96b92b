#include "tests/fuzz/promise.h"

#include <cstdlib>

#include "viz/text/utf8.h"

namespace headscope::fuzz {

void promise(bool kept, std::string_view what) {
  if (!kept) throw Broken("not kept: " + std::string(what));
}

std::filesystem::path memory_folder() {
  const std::filesystem::path memory = "/dev/shm";
  const bool chosen = std::getenv("TMPDIR") != nullptr;
  return !chosen && std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
}

bool is_printable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const viz::Decoded c = viz::decode_utf8(text, at);
    if (!c.valid || viz::is_control(c.code)) return false;
    at += c.length;
  }
  return true;
}

void promise_sentence(const std::string& message) {
  constexpr std::size_t kShortest = 10, kLongest = 1200;
  promise(message.size() >= kShortest, "an error says what is wrong");
  promise(message.size() <= kLongest, "an error is of sensible length");
  promise(is_printable(message), "an error can be shown: " + viz::drawable(message));
}

}  // namespace headscope::fuzz
