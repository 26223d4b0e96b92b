#include "app/desktop/example_prompts.h"

#include <charconv>
#include <exception>

#include "app/ascii.h"
#include "app/run/sources/paths.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

/// The text after the first character of a line, without surrounding blanks.
std::string_view after_mark(std::string_view line) {
  return trimmed(line.substr(1), " \t");
}

/// "L5 H1".
std::optional<ExamplePrompt::Head> parse_head(std::string_view text) {
  ExamplePrompt::Head head;
  const char* const end = text.data() + text.size();
  const auto number_after = [&](char letter, const char* at, int& value) -> const char* {
    while (at != end && *at == ' ') ++at;
    if (at == end || *at != letter) return nullptr;
    const auto [stop, error] = std::from_chars(at + 1, end, value);
    return error == std::errc{} && value >= 0 ? stop : nullptr;
  };
  const char* at = number_after('L', text.data(), head.layer);
  if (at) at = number_after('H', at, head.head);
  if (!at || at != end) return std::nullopt;
  return head;
}

/// Parses the lines in order.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lines_(lines_of(text)), file_(file) {}

  std::vector<ExamplePrompt> parse() {
    std::vector<ExamplePrompt> prompts;
    skip_between_prompts();
    while (at_ < lines_.size()) {
      prompts.push_back(prompt());
      skip_between_prompts();
    }
    return prompts;
  }

 private:
  std::vector<std::string_view> lines_;
  const std::string& file_;
  std::size_t at_ = 0;

  bool starts_with(char mark) const { return at_ < lines_.size() && lines_[at_].starts_with(mark); }

  [[noreturn]] void fail(const std::string& what) const {
    const std::string found = at_ < lines_.size() ? model::quote(lines_[at_]) : "the end of the file";
    throw model::LoadError(file_ + ":" + std::to_string(at_ + 1) + ": expected " + what + ", found " + found);
  }

  void skip_between_prompts() {
    while (at_ < lines_.size() && (blank(lines_[at_]) || lines_[at_].starts_with('%'))) ++at_;
  }

  bool text_ends_here() const {
    if (!blank(lines_[at_])) return false;
    std::size_t next = at_;
    while (next < lines_.size() && blank(lines_[next])) ++next;
    return next == lines_.size() || lines_[next].starts_with('#');
  }

  ExamplePrompt prompt() {
    ExamplePrompt prompt;
    if (!starts_with('#') || after_mark(lines_[at_]).empty()) fail("\"# title\"");
    prompt.title = after_mark(lines_[at_++]);
    for (; starts_with('>'); ++at_) {
      if (!prompt.look_for.empty()) prompt.look_for += ' ';
      prompt.look_for += after_mark(lines_[at_]);
    }
    if (prompt.look_for.empty()) fail("\"> what to look for\"");
    if (starts_with('@')) {
      prompt.head = parse_head(after_mark(lines_[at_]));
      if (!prompt.head) fail("\"@ L5 H1\" with the numbers of a layer and a head");
      ++at_;
    }
    if (at_ == lines_.size() || text_ends_here()) fail("the prompt's text");
    prompt.text = lines_[at_++];
    for (; at_ < lines_.size() && !text_ends_here(); ++at_) prompt.text.append("\n").append(lines_[at_]);
    return prompt;
  }
};

}  // namespace

std::vector<ExamplePrompt> parse_example_prompts(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

std::vector<ExamplePrompt> load_example_prompts(const std::filesystem::path& file) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  return parse_example_prompts(model::read_file(file, kMaxBytes), system::text_of(file));
}

std::vector<ExamplePrompt> bundled_examples() {
  try {
    return load_example_prompts(assets_folder() / "prompts.txt");
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace headscope::app
