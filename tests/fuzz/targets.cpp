#include "tests/fuzz/targets.h"

#include <cstdlib>

#include "viz/text/utf8.h"

namespace headscope::fuzz {

using namespace std::string_view_literals;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words json_and(std::string_view words) {
  return words_in(words) + json_words();
}

Words characters() {
  return words_in(
      " ~\n~\r\n~\t~'s~'ll~<|endoftext|>~\xc2\xa0~\xe3\x80\x80~\xed\xa0\x80~\xf0\x9f\x91\x8d~\xcc\x81~\xff~1~"
      "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80~\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa~\xe2\x80\x8d~"
      "\xe6\xbc\xa2~"
      "\0~\x1b[31m~\xc2\x9b~\x7f~\xe2\x80\xae~\xef\xbf\xbe~\xf4\x8f\xbf\xbf~a-b~-~\xea\xb0\x81~\xef\xb8\x8f~"
      "\xe1\x84\x80\xe1\x85\xa1~\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7~\xf3\xa0\x81\xa5"sv,
      '~');
}

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

std::span<const Target> targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> targets = model_targets();
    for (Target& target : app_targets()) targets.push_back(std::move(target));
    return targets;
  }();
  return all;
}

}  // namespace headscope::fuzz
