#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/ascii.h"
#include "tests/support/safetensors_bytes.h"

namespace headscope::fuzz {

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> words)
    : random_(seed), words_(std::move(words)) {}

std::string Mutator::mutate(std::string text) {
  for (std::size_t left = 1 + below(4); left > 0; --left) difference(text);
  return text;
}

void Mutator::difference(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t count = std::min(text.size() - at, 1 + below(below(4) == 0 ? 200 : 8));
  switch (below(8)) {
    case 0:  // a bit
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
      break;
    case 1:
      text.resize(at);
      break;
    case 2:
      text.erase(at, count);
      break;
    case 3:  // duplicate a piece
      text.insert(at, text.substr(at, count));
      break;
    case 4:  // copy a piece from elsewhere
      text.replace(at, count, text.substr(below(text.size() + 1), 1 + below(16)));
      break;
    case 5:
      text.insert(at, word());
      break;
    case 6:
      text.replace(at, count, word());
      break;
    default: {  // another number
      std::size_t first = text.find_first_of("0123456789", at);
      if (first == std::string::npos) break;
      std::size_t last = first;
      while (last < text.size() && std::isdigit(static_cast<unsigned char>(text[last])) != 0) ++last;
      text.replace(first, last - first, word());
    }
  }
}

std::vector<std::string> words_in(std::string_view text, char separator) {
  const auto words = app::split(text, std::string_view(&separator, 1));
  return {words.begin(), words.end()};
}

std::vector<std::string> json_words() {
  std::vector<std::string> words = words_in(
      "{ } [ ] , : \" null true false {} [] \"\" 0 1 -1 1.5 1e400 2147483647 2147483648 4294967295 "
      "4294967296 9223372036854775807 9223372036854775808 18446744073709551615 99999999999999999999999 "
      "\\u0000 \\ud800 \x01 \xff");
  words.insert(words.end(), {std::string(1, '\0'), std::string(300, '['), std::string(1000, '9')});
  return words;
}

namespace {

using nlohmann::json;

void collect(json& value, std::vector<json*>& all) {
  all.push_back(&value);
  if (!value.is_structured()) return;
  for (json& part : value) collect(part, all);
}

json some_value(Mutator& mutator) {
  static const json kValues =
      json::parse(R"([null, true, false, 0, 1, -1, 2, 7, 255, 256, 1.5, -0.0, 1e30, 1e-40,
    2147483647, 2147483648, -2147483649, 9223372036854775807, -9223372036854775808, 18446744073709551615, [], {},
    "", "a", "../x", "/etc/passwd", "\u001b[31m", "\u009b", "\u0000", [1, 2, 3], [0, 300, -1],
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"])");
  if (mutator.below(3) == 0) return mutator.word();
  return kValues[mutator.below(kValues.size())];
}

void difference(json& root, Mutator& mutator) {
  std::vector<json*> all;
  collect(root, all);
  json& value = *all[mutator.below(all.size())];
  switch (mutator.below(5)) {
    case 0:
      value = some_value(mutator);
      break;
    case 1:  // a value of the same kind, so that it passes the type check
      if (value.is_string()) {
        const std::string text = mutator.mutate(value.get<std::string>());
        value = text;
      } else if (value.is_number_integer()) {
        value =
            static_cast<std::int64_t>(value.get<std::uint64_t>() + (mutator.below(2) == 0 ? 1 : UINT64_MAX));
      } else if (value.is_boolean()) {
        value = !value.get<bool>();
      } else if (value.is_number()) {
        value = value.get<double>() * (mutator.below(2) == 0 ? 10 : -0.1);
      }
      break;
    case 2:
      if (value.is_structured() && !value.empty()) {
        auto at = value.begin();
        std::advance(at, mutator.below(value.size()));
        value.erase(at);
      }
      break;
    case 3:
      if (value.is_array())
        value.push_back(value.empty() ? some_value(mutator) : json(value[mutator.below(value.size())]));
      if (value.is_object()) value[mutator.word()] = some_value(mutator);
      break;
    default: {  // a copy of a part elsewhere
      json copy = *all[mutator.below(all.size())];
      value = std::move(copy);
    }
  }
}

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "\n" : "") + lines[i];
  return text;
}

}  // namespace

std::string mutate_json(Mutator& mutator, const std::string& text) {
  json root = json::parse(text, nullptr, false);
  if (root.is_discarded() || mutator.below(8) == 0) return mutator.mutate(text);
  for (std::size_t left = 1 + mutator.below(3); left > 0; --left) difference(root, mutator);
  return dumped(root);
}

std::string mutate_safetensors(Mutator& mutator, const std::string& file) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;)
    length = length << 8 | (i < file.size() ? static_cast<unsigned char>(file[i]) : 0);
  if (file.size() < 8 || length > file.size() - 8 || mutator.below(8) == 0) return mutator.mutate(file);
  const std::string header = mutate_json(mutator, file.substr(8, length));
  std::string data = file.substr(8 + length);
  if (mutator.below(2) == 0) data.resize(mutator.below(64));
  return testing::safetensors_of_header(header, data);
}

std::string mutate_json_lines(Mutator& mutator, const std::string& text) {
  if (mutator.below(6) == 0) return mutate_lines(mutator, text);
  std::vector<std::string> lines = words_in(text, '\n');
  std::string& line = lines[mutator.below(lines.size())];
  line = mutate_json(mutator, line);
  return joined(lines);
}

std::string mutate_lines(Mutator& mutator, const std::string& text) {
  std::vector<std::string> lines = words_in(text, '\n');
  const auto at = static_cast<std::ptrdiff_t>(mutator.below(lines.size()));
  std::string& line = lines[at];
  switch (mutator.below(6)) {
    case 0:
      lines.erase(lines.begin() + at);
      break;
    case 1:
      lines.insert(lines.begin() + at, std::string(line));
      break;
    case 2:
      std::swap(line, lines[mutator.below(lines.size())]);
      break;
    case 3:
      lines.insert(lines.begin() + at, mutator.word());
      break;
    default:
      line = mutator.mutate(line);
  }
  return joined(lines);
}

}  // namespace headscope::fuzz
