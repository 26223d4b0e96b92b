#include "app/cli/prompt_source.h"

#include <istream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/standard_streams.h"
#include "app/text/shown.h"
#include "model/error.h"
#include "model/file_io.h"
#include "model/json.h"
#include "model/quote.h"

namespace headscope::app {
namespace {

using nlohmann::json;

std::vector<int> ids_of(const json& value, const std::string& where) {
  if (!value.is_array()) throw model::LoadError(where + ": \"ids\" must be an array of token ids");
  std::vector<int> ids;
  for (const json& id : value) {
    if (!id.is_number_integer())
      throw model::LoadError(where + ": \"ids\" must hold whole numbers, found " + model::quote(id.dump()));
    const bool fits = id.is_number_unsigned() ? id.get<std::uint64_t>() <= std::numeric_limits<int>::max()
                                              : id.get<std::int64_t>() >= std::numeric_limits<int>::min();
    if (!fits) throw model::LoadError(where + ": the id " + id.dump() + " is outside every vocabulary");
    ids.push_back(id.get<int>());
  }
  return ids;
}

std::filesystem::path numbered(const std::filesystem::path& pattern, int number, bool many) {
  if (!many) return pattern;
  std::string path = pattern.string();
  const std::string digits = std::to_string(number);
  for (std::size_t at = path.find("{n}"); at != std::string::npos;
       at = path.find("{n}", at + digits.size())) {
    path.replace(at, 3, digits);
  }
  return path;
}

std::string bytes_of(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Prompt parse_prompt_line(std::string_view line, const std::string& where) {
  const json value = [&] {
    try {
      return model::parse_json(line, where);
    } catch (const model::LoadError& error) {
      throw model::LoadError(std::string(error.what()) +
                             "; a line is a JSON string, as in \"A robot must obey\", or an object");
    }
  }();
  if (value.is_string()) return {.text = value.get<std::string>(), .ids = {}};
  const bool has_text = value.is_object() && value.contains("prompt");
  const bool has_ids = value.is_object() && value.contains("ids");
  if (has_text == has_ids) {
    throw model::LoadError(where +
                           ": expected a JSON string, or an object with either \"prompt\" or \"ids\"");
  }
  if (has_ids) return {.text = "", .ids = ids_of(value["ids"], where)};
  if (!value["prompt"].is_string()) throw model::LoadError(where + ": \"prompt\" must be a string");
  return {.text = value["prompt"].get<std::string>(), .ids = {}};
}

bool is_prompt_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") != std::string_view::npos;
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
      single_ = Prompt{.text = arguments.text, .ids = {}};
      break;
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
    std::string line;
    while (!prompt && std::getline(*lines_, line)) {
      ++line_;
      if (!is_prompt_line(line) || number_++ % shard_.count != shard_.index) continue;
      prompt = parse_prompt_line(line, name_ + ":" + std::to_string(line_));
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
  std::filesystem::path file = numbered(pattern, number_, many());
  std::error_code error;
  // Files get their names when they are whole.
  if (resume_ && std::filesystem::exists(file, error)) return std::nullopt;
  return file;
}

}  // namespace headscope::app
