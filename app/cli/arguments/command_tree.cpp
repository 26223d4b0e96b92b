#include "app/cli/arguments/command_tree.h"

#include <CLI/App.hpp>
#include <algorithm>

namespace headscope::app {
namespace {

OptionDescription description_of(const CLI::Option& option) {
  OptionDescription description;
  description.name = option.get_positional() ? option.get_name() : "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) description.letter = "-" + option.get_snames().front();
  if (option.get_items_expected_max() > 0) description.values = option.get_type_name();
  description.help = option.get_description();
  description.heading = option.get_group();
  description.repeated = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return description;
}

/// Whether it is a literal word.
bool is_word(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

CommandTree tree_of(const CLI::App& app) {
  CommandTree tree{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())  // an old name has no group
      (option->get_positional() ? tree.words : tree.options).push_back(description_of(*option));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    tree.commands.push_back(tree_of(*below));
  return tree;
}

std::string unwrapped(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Offer offer_of(std::string_view values) {
  if (values.find("FILE") != std::string_view::npos) return {Offer::Kind::files};
  if (values == "DIR") return {Offer::Kind::folders};
  Offer offer;
  for (std::size_t at = 0; at <= values.size();) {
    const std::size_t end = std::min(values.find('|', at), values.size());
    if (const std::string_view part = values.substr(at, end - at); is_word(part))
      offer.words.emplace_back(part);
    at = end + 1;
  }
  if (!offer.words.empty()) offer.kind = Offer::Kind::words;
  return offer;
}

}  // namespace headscope::app
