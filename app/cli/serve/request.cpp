#include "app/cli/serve/request.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/arguments/argument_values.h"
#include "app/text/json_text.h"
#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "viz/players/base64.h"

namespace headscope::app {
namespace {

using RequestJson = nlohmann::json;
using model::quote;

constexpr int kMaxDepth = 8;

/// A text that can be an argument.
std::string argument(const RequestJson& value, const std::string& where) {
  const auto& text = value.get_ref<const std::string&>();
  if (text.find('\0') != text.npos)
    throw UsageError(where +
                     " has a null character, which no argument can have; give such a prompt as \"input\", "
                     "with prompt-file \"-\"");
  return text;
}

std::string id_of(const RequestJson& id) {
  if (id.is_null() || id.is_number_integer() || id.is_string()) return json_line(id);
  throw UsageError("\"id\" of a request is a text or a whole number, found " + std::string(id.type_name()));
}

std::vector<std::string> words_of_command(const RequestJson& command) {
  if (command.is_string()) return {argument(command, "\"command\"")};
  const char* const expected =
      "\"command\" of a request is a command's name, or a list of texts: the command and the words after it";
  if (!command.is_array() || command.empty()) throw UsageError(expected);
  std::vector<std::string> words;
  for (const RequestJson& word : command) {
    if (!word.is_string()) throw UsageError(expected);
    words.push_back(argument(word, "\"command\""));
  }
  return words;
}

/// A text as it is, or a number as JSON writes it.
std::string text_or_number(const RequestJson& value, const std::string& where) {
  if (value.is_string()) return argument(value, where);
  if (value.is_number()) return value.dump();
  throw UsageError(where + " is a text, a number, true or false, or a list of texts and numbers, found " +
                   (value.is_array()     ? "a list in a list"
                    : value.is_boolean() ? "true or false in a list"
                                         : value.type_name()));
}

NamedOption option_of(const std::string& name, const RequestJson& value) {
  const std::string where = "the option " + quote(name);
  if (value.is_boolean()) return {name, value.get<bool>()};
  if (!value.is_array()) return {name, text_or_number(value, where)};
  std::vector<std::string> items;
  for (const RequestJson& item : value) items.push_back(text_or_number(item, where));
  return {name, std::move(items)};
}

std::vector<NamedOption> options_of(const RequestJson& object) {
  if (!object.is_object())
    throw UsageError("\"options\" of a request is an object: each option's value by its name");
  std::vector<NamedOption> options;
  for (const auto& [name, value] : object.items())
    if (!value.is_null()) options.push_back(option_of(name, value));
  return options;
}

RequestJson json_of_request(std::string_view line) {
  try {
    return model::parse_json(line, "the request", {.depth = kMaxDepth});
  } catch (const model::LoadError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

void read_request(std::string_view line, Request& request) {
  const RequestJson object = json_of_request(line);
  if (!object.is_object())
    throw UsageError("a request is a JSON object, found " + std::string(object.type_name()));
  if (const auto id = object.find("id"); id != object.end()) request.id = id_of(*id);
  for (const auto& [key, value] : object.items()) {
    if (key == "id") continue;
    if (key == "command") {
      request.words = words_of_command(value);
    } else if (key == "options") {
      request.options = options_of(value);
    } else if (key == "input" || key == "input_base64") {
      if (request.input) throw UsageError("a request has \"input\" or \"input_base64\", not both");
      const auto* text = value.get_ptr<const std::string*>();
      if (text != nullptr) request.input = key == "input" ? *text : viz::bytes_from_base64(*text);
      if (!request.input)
        throw UsageError("\"input\" of a request is a text, \"input_base64\" any bytes in base64");
    } else {
      throw UsageError(
          "a request has \"command\" and perhaps \"id\", \"options\" and \"input\" or \"input_base64\", "
          "found " +
          quote(key));
    }
  }
  if (request.words.empty()) throw UsageError("the request has no \"command\"");
}

}  // namespace headscope::app
