#include <utility>

#include "app/views/parts/names.h"
#include "app/views/view.h"

namespace headscope::app {
namespace {

std::string joined(std::string words, const std::string& more) {
  if (!words.empty() && !more.empty()) words += " ";
  return words + more;
}

std::string line_of(const Fact& fact) {
  return joined(joined(fact.label, fact.value), fact.unit);
}

}  // namespace

void Facts::say(std::string words, Fact::Location location) {
  if (!words.empty()) said.push_back({.label = std::move(words), .location = location});
}

void Facts::say(std::vector<std::string> lines, std::size_t in_status) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    say(std::move(lines[i]), i < in_status ? Fact::Location::both : Fact::Location::tooltip);
}

void Facts::value(std::string label, std::string value, Fact::Location location) {
  said.push_back({.label = std::move(label), .value = value, .copied = value, .location = location});
}

void Facts::copy(std::string label, std::string copied) {
  said.push_back({.label = std::move(label), .copied = std::move(copied), .location = Fact::Location::menu});
}

void Facts::number(std::string label, float value, Fact::Location location) {
  said.push_back(
      {.label = std::move(label), .value = exact(value), .copied = plain(value), .location = location});
}

void Facts::number(std::string label, double value, Fact::Location location) {
  said.push_back(
      {.label = std::move(label), .value = exact(value), .copied = plain(value), .location = location});
}

std::vector<std::string> Facts::tooltip() const {
  std::vector<std::string> lines;
  for (const Fact& fact : said)
    if (fact.location == Fact::Location::both || fact.location == Fact::Location::tooltip)
      lines.push_back(line_of(fact));
  return lines;
}

std::string Facts::status() const {
  std::string words;
  for (const Fact& fact : said)
    if (fact.location == Fact::Location::both || fact.location == Fact::Location::status)
      words += (words.empty() ? "" : "   ") + line_of(fact);
  return words;
}

std::vector<MenuLine> Facts::menu() const {
  std::vector<MenuLine> lines = commands;
  for (const Fact& fact : said)
    if (!fact.copied.empty())
      lines.push_back({"Copy " + joined(fact.label, fact.value), {CopyText{fact.copied}}});
  return lines;
}

}  // namespace headscope::app
