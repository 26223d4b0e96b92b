#include "app/run/prompt_list.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/ascii.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "system/path_text.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

using nlohmann::json;

/// Nothing for what is no whole number, or out of range.
std::optional<int> int_of(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= std::numeric_limits<int>::max()
                                               : value.get<std::int64_t>() >= std::numeric_limits<int>::min();
  return fits ? std::optional(value.get<int>()) : std::nullopt;
}

std::vector<int> ids_of(const json& value, const std::string& where) {
  if (!value.is_array()) throw model::LoadError(where + ": \"ids\" must be an array of token ids");
  std::vector<int> ids;
  for (const json& id : value) {
    if (!id.is_number_integer())
      throw model::LoadError(where + ": \"ids\" must hold whole numbers, found " + model::quote(id.dump()));
    const auto number = int_of(id);
    if (!number) throw model::LoadError(where + ": the token id " + id.dump() + " is out of range");
    ids.push_back(*number);
  }
  return ids;
}

std::string string_of(const json& value, const std::string& where, const char* key, const char* hint = "") {
  if (!value.is_string())
    throw model::LoadError(where + ": \"" + key + "\" must be a string, found " + model::described(value) +
                           hint);
  return value.get<std::string>();
}

TokenRef token_at(const json& line, const std::string& where, const char* key) {
  const json& value = model::member(line, key);
  if (value.is_null()) return {};
  const std::string text =
      string_of(value, where, key, "; a token is given by its text, or as \"id:4\" or \"rank:2\"");
  try {
    return parse_token(text);
  } catch (const std::invalid_argument& error) {
    throw model::LoadError(where + ": \"" + key + "\"" + error.what());
  }
}

/// A key without the ways to join words and to write them: "otherToken" and "other-token" are "othertoken".
std::string letters_of(std::string_view key) {
  std::string letters = lowered(key);
  std::erase_if(letters, [](char c) { return c == '-' || c == '_' || c == ' '; });
  return letters;
}

/// Throws model::LoadError for a key that is one of these but for how it is written: the number that it asks
/// for would not be the one that is measured.
void reject_other_spellings(const json& line, const std::string& where) {
  for (const auto& [key, value] : line.items())
    for (const char* known : {"second", "token", "other_token", "position"})
      if (key != known && letters_of(key) == letters_of(known))
        throw model::LoadError(where + ": expected the key \"" + known + "\", found " + model::quote(key));
}

/// What an object says besides its prompt.
void read_measured(const json& line, const std::string& where, ListedPrompt& prompt) {
  reject_other_spellings(line, where);
  const json &second = model::member(line, "second"), &position = model::member(line, "position");
  if (!second.is_null()) prompt.second = string_of(second, where, "second");
  prompt.token = token_at(line, where, "token");
  prompt.other_token = token_at(line, where, "other_token");
  prompt.position = int_of(position);
  if (!position.is_null() && prompt.position.value_or(-2) < -1)
    throw model::LoadError(where + ": \"position\" must be a whole number from -1 up, found " +
                           model::described(position));
}

/// Calls `visit` with each line that has a prompt, and with its number, from 1.
template <class Visit>
void each_prompt_line(std::string_view bytes, const Visit& visit) {
  int number = 0;
  for (const std::string_view line : lines_of(without_byte_order_mark(bytes)))
    if (++number; is_prompt_line(line)) visit(line, number);
}

}  // namespace

ListedPrompt parse_prompt_line(std::string_view line, const std::string& where) {
  const json value = [&] {
    try {
      return model::parse_json(line, where);
    } catch (const model::LoadError& error) {
      throw model::LoadError(std::string(error.what()) +
                             "; a line is a JSON string, as in \"A robot must obey\", or an object");
    }
  }();
  if (value.is_string()) return {{.text = value.get<std::string>(), .ids = {}}};
  const bool has_text = value.is_object() && value.contains("prompt");
  const bool has_ids = value.is_object() && value.contains("ids");
  if (has_text == has_ids)
    throw model::LoadError(where +
                           ": expected a JSON string, or an object with either \"prompt\" or \"ids\"");
  ListedPrompt prompt;
  if (has_ids)
    prompt.ids = ids_of(value["ids"], where);
  else
    prompt.text = string_of(value["prompt"], where, "prompt");
  try {
    read_measured(value, where, prompt);
  } catch (const model::LoadError& error) {
    prompt.problem = error.what();
  }
  return prompt;
}

void require_measurable(const ListedPrompt& prompt) {
  if (!prompt.problem.empty()) throw model::LoadError(prompt.problem);
}

bool all_have_second(const PromptList& list) {
  return std::ranges::all_of(list.prompts, [](const ListedPrompt& line) { return line.second.has_value(); });
}

std::string_view without_byte_order_mark(std::string_view bytes) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  return bytes;
}

std::string_view bare_prompt_line(std::string_view line, bool first) {
  if (first) line = without_byte_order_mark(line);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool has_plain_lines(const std::filesystem::path& file) {
  return file.extension() == ".txt";
}

bool is_prompt_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") != std::string_view::npos;
}

bool may_hold_prompts(const std::filesystem::path& file) {
  const std::filesystem::path extension = file.extension();
  return extension == ".jsonl" || extension == ".ndjson" || has_plain_lines(file);
}

PromptList read_prompt_list(const std::filesystem::path& file) {
  return parse_prompt_list(model::read_file(file, PromptList::kMaxBytes), file);
}

PromptList parse_prompt_list(std::string_view bytes, const std::filesystem::path& file) {
  const std::string name = viz::visible(system::text_of(file));
  const bool plain = has_plain_lines(file);
  PromptList list{viz::visible(system::text_of(file.filename())), {}, std::string(bytes)};
  each_prompt_line(bytes, [&](std::string_view line, int number) {
    if (list.prompts.size() == PromptList::kMaxPrompts)
      throw model::LoadError(name + ": expected at most " + std::to_string(PromptList::kMaxPrompts) +
                             " prompts, found more; commands that run one prompt after the other, such as "
                             "metrics and search with --prompts, take any number");
    list.prompts.push_back(plain ? ListedPrompt{{.text = std::string(line), .ids = {}}}
                                 : parse_prompt_line(line, name + ":" + std::to_string(number)));
    // What sessions keep of a list names no folders.
    if (std::string& problem = list.prompts.back().problem; !problem.empty())
      problem.replace(0, name.size(), list.name);
  });
  if (list.prompts.empty()) throw model::LoadError(no_prompt_in(name));
  return list;
}

std::vector<int> lines_with_prompts(std::string_view bytes) {
  std::vector<int> numbers;
  each_prompt_line(bytes, [&](std::string_view, int number) { numbers.push_back(number); });
  return numbers;
}

}  // namespace headscope::app
