#include "app/cli/command_options.h"

#include <limits>

#include "app/cli/argument_values.h"
#include "app/run/logit_lens.h"
#include "model/quote.h"

namespace headscope::app {

void add_lens_options(const AddOption& add, LensCommand& command) {
  const std::string most = std::to_string(LogitLens::kGuesses);
  add("top", "K", "guesses of each place, at most " + most + " (default: " + most + ")",
      [&command](const std::string& text) {
        command.top = whole_number("--top", text, 1, LogitLens::kGuesses);
      });
}

void add_attribute_options(const AddOption& add, AttributeCommand& command) {
  const auto token = [](const char* option, std::string& value) {
    return [option, &value](const std::string& text) {
      if (text.empty()) throw WrongUse(std::string(option) + " takes a token's text or its id, not nothing");
      value = text;
    };
  };
  add("token", "TEXT|ID",
      "whose logit: one token's text, as in \" it\", or its id (default: the\nmost probable)",
      token("--token", command.token));
  add("against", "TEXT|ID", "the token whose logit is subtracted (default: none)",
      token("--against", command.against));
  add("position", "I", "after which position, from 0 (default -1: the last)",
      [&command](const std::string& text) {
        command.position = whole_number("--position", text, -1, std::numeric_limits<int>::max());
      });
  add("sources", "L.H", "the part of layer L's head H by source token, too; all: of every head",
      [&command](const std::string& text) {
        command.all_sources = text == "all";
        if (command.all_sources) return;
        const std::size_t dot = text.find('.');
        if (dot == std::string::npos)
          throw WrongUse("--sources takes a layer and a head as in 5.1, or all, not " + model::quote(text));
        constexpr int kMost = std::numeric_limits<int>::max();
        command.sources = model::HeadIndex{whole_number("--sources", text.substr(0, dot), 0, kMost),
                                           whole_number("--sources", text.substr(dot + 1), 0, kMost)};
      });
}

void add_comparison_options(const AddOption& add, ComparisonArguments& comparison) {
  add("second", "TEXT", "a second prompt to compare with",
      [&comparison](const std::string& text) { comparison.second = text; });
  add("align", "position|token",
      "compare the tokens at the same positions, or those of the longest\ncommon subsequence (default: position)",
      [&comparison](const std::string& text) {
        if (text != "position" && text != "token")
          throw WrongUse("--align takes position or token, not " + model::quote(text));
        comparison.alignment = text == "token" ? Alignment::subsequence : Alignment::position;
      });
  add("show", "run|other|difference",
      "the run as it is asked for, what it is compared with (the same without\nedits, or the second prompt), or the "
      "first minus the second\n(default: run)",
      [&comparison](const std::string& text) {
        if (text != "run" && text != "other" && text != "difference")
          throw WrongUse("--show takes run, other or difference, not " + model::quote(text));
        comparison.side = text == "run" ? Side::run : text == "other" ? Side::other : Side::change;
      });
}

void add_generate_options(const AddOption& add, GenerateCommand& command) {
  constexpr int kMost = std::numeric_limits<int>::max();
  add("tokens", "N", "at most so many new tokens (default: 40)",
      [&command](const std::string& text) { command.tokens = whole_number("--tokens", text, 0, kMost); });
  add("temperature", "X", "0: always the most probable token (default: 1)",
      [&command](const std::string& text) {
        command.sampling.temperature = number("--temperature", text, 0, 1e6, "from 0 up");
      });
  add("top-k", "K", "draw from the K most probable tokens (default 0: from all)",
      [&command](const std::string& text) {
        command.sampling.top_k = whole_number("--top-k", text, 0, kMost);
      });
  add("top-p", "P", "draw from the fewest tokens whose probability reaches P (default: 1)",
      [&command](const std::string& text) {
        command.sampling.top_p = number("--top-p", text, 0, 1, "from 0 to 1");
      });
  add("seed", "S", "the same seed gives the same text (default: 0)",
      [&command](const std::string& text) { command.seed = seed_number("--seed", text); });
}

}  // namespace headscope::app
