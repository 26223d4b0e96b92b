#include "app/cli/arguments/prompt_source.h"

#include <istream>
#include <iterator>
#include <utility>

#include "app/cli/arguments/standard_streams.h"
#include "app/text/shown.h"
#include "model/files/error.h"
#include "model/files/file_io.h"

namespace headscope::app {
namespace {

std::string bytes_of(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::filesystem::path with_name(const std::filesystem::path& pattern, std::string_view key,
                                std::string_view name) {
  std::string path = pattern.string();
  for (std::size_t at = path.find(key); at != std::string::npos; at = path.find(key, at + name.size()))
    path.replace(at, key.size(), name);
  return path;
}

PromptSource::PromptSource(const PromptArguments& arguments, std::istream& standard_input)
    : start_token_(arguments.start_token), shard_(arguments.shard), resume_(arguments.resume) {
  using From = PromptArguments::From;
  const bool standard = arguments.file == "-";
  name_ = standard ? "standard input" : shown(arguments.file.string());
  switch (arguments.from) {
    case From::nothing:
      break;
    case From::text:
    case From::ids:
      single_ = Prompt{.text = arguments.text, .ids = arguments.ids};
      break;
    case From::file:
      single_ =
          Prompt{.text = standard ? bytes_of(standard_input) : model::read_file(arguments.file), .ids = {}};
      break;
    case From::list:
      if (standard) {
        lines_ = &standard_input;
        break;
      }
      plain_ = has_plain_lines(arguments.file);
      file_ = std::make_unique<InputFile>(arguments.file);
      file_->peek();  // a folder opens, but cannot be read
      file_->clear();
      lines_ = file_.get();
      break;
  }
}

std::string PromptSource::where() const {
  return many() ? name_ + ":" + std::to_string(line_) + ": " : "";
}

std::optional<Prompt> PromptSource::next() {
  std::optional<Prompt> prompt;
  if (many()) {
    std::string read;
    while (!prompt && std::getline(*lines_, read)) {
      const std::string_view line = bare_prompt_line(read, line_++ == 0);
      if (!is_prompt_line(line) || number_++ % shard_.count != shard_.index) continue;
      prompt = plain_ ? Prompt{.text = std::string(line), .ids = {}}
                      : parse_prompt_line(line, name_ + ":" + std::to_string(line_));
    }
  } else {
    prompt = std::exchange(single_, std::nullopt);
  }
  if (!prompt) return prompt;
  prompt->start_token = start_token_;
  if (!many()) ++number_;
  return prompt;
}

bool PromptSource::can_go_on() const {
  return many() && !lines_->bad();
}

std::optional<std::filesystem::path> PromptSource::file(const std::filesystem::path& pattern) const {
  std::filesystem::path file = many() ? with_name(pattern, "{n}", std::to_string(number_)) : pattern;
  std::error_code error;
  // Files get their names when they are whole.
  if (resume_ && std::filesystem::exists(file, error)) return std::nullopt;
  return file;
}

}  // namespace headscope::app
