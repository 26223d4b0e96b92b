#include "app/cli/arguments/command_options.h"

#include <limits>

#include "app/cli/arguments/argument_values.h"
#include "app/recipe/names.h"
#include "app/run/analyses/logit_lens.h"
#include "model/files/quote.h"

namespace headscope::app {

void add_lens_options(const AddOption& add, LensCommand& command) {
  const std::string most = std::to_string(LogitLens::kGuesses);
  add("top", "K", "guesses of each place, at most " + most + " (default: " + most + ")",
      [&command](const std::string& text) {
        command.top = whole_number("--top", text, 1, LogitLens::kGuesses);
      });
}

namespace {

/// Takes a token's text or its id.
std::function<void(const std::string&)> into_token(const char* option, std::string& value) {
  return [option, &value](const std::string& text) {
    if (text.empty()) throw WrongUse(std::string(option) + " takes a token's text or its id, not nothing");
    value = text;
  };
}

template <class Value>
using Named = std::pair<std::string_view, Value>;

/// "logit|difference|probability": what one of them is by its name. Throws WrongUse.
template <class Value, std::size_t kCount>
Value one_of(const char* option, const Named<Value> (&all)[kCount], const std::string& text) {
  std::string names;
  for (const auto& [name, value] : all) {
    if (text == name) return value;
    names += (names.empty() ? "" : value == all[kCount - 1].second ? " or " : ", ") + std::string(name);
  }
  throw WrongUse(std::string(option) + " takes " + names + ", not " + model::quote(text));
}

constexpr Named<SweepMetric> kMetrics[] = {{"logit", SweepMetric::logit},
                                           {"difference", SweepMetric::difference},
                                           {"probability", SweepMetric::probability},
                                           {"kl", SweepMetric::divergence}};

}  // namespace

void add_attribute_options(const AddOption& add, AttributeCommand& command) {
  add("token", "TEXT|ID",
      "whose logit: one token's text, as in \" it\", or its id (default: the\nmost probable)",
      into_token("--token", command.token));
  add("against", "TEXT|ID", "the token whose logit is subtracted (default: none)",
      into_token("--against", command.against));
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

void add_sweep_options(const AddOption& add, SweepArguments& arguments) {
  SweepCommand& command = arguments.command;
  static constexpr Named<SweepOver> kOver[] = {{"heads", SweepOver::heads},
                                               {"layer-position", SweepOver::positions}};
  static constexpr Named<SweepChange> kAblations[] = {{"zero", SweepChange::zero},
                                                      {"mean", SweepChange::mean}};
  static constexpr Named<model::Site> kSites[] = {{"resid_pre", model::Site::resid_pre},
                                                  {"attn_out", model::Site::attn_out},
                                                  {"mlp_out", model::Site::mlp_out},
                                                  {"z", model::Site::z}};
  add("metric", "logit|difference|probability|kl",
      "what is compared: a token's logit, the difference of two tokens' logits,\na token's probability, or "
      "KL(run || changed) (default: difference)",
      [&command](const std::string& text) { command.metric = one_of("--metric", kMetrics, text); });
  add("over", "heads|layer-position", "what is changed in turn (default: heads)",
      [&command](const std::string& text) { command.over = one_of("--over", kOver, text); });
  add("ablate", "zero|mean",
      "set each to zero, or to its mean over the prompt (default: zero; with\n--from or --second-model each "
      "is patched)",
      [&arguments](const std::string& text) { arguments.ablation = one_of("--ablate", kAblations, text); });
  add("site", "resid_pre|attn_out|mlp_out|z",
      "what of each layer is changed (default: resid_pre; of heads it is z)",
      [&arguments](const std::string& text) { arguments.site = one_of("--site", kSites, text); });
  add("token", "TEXT|ID", "the token, as in \" it\", or its id (default: the most probable)",
      into_token("--token", command.token));
  add("other-token", "TEXT|ID",
      "the token of a difference that is subtracted (default: the second most\nprobable)",
      into_token("--other-token", command.other_token));
  add("position", "I", "the guess after which position, from 0 (default -1: the last)",
      [&command](const std::string& text) {
        command.position = whole_number("--position", text, -1, std::numeric_limits<int>::max());
      });
  add("from", "TEXT",
      "patch each from this prompt in place of ablating; it has as many tokens,\nunless --align says which "
      "stand "
      "for which",
      [&command](const std::string& text) { command.from = text; });
  add("align", "position|token",
      "the tokens at the same positions, as far as both prompts go, or those of\nthe longest common "
      "subsequence",
      [&command](const std::string& text) { command.alignment = one_of("--align", kAlignmentNames, text); });
}

std::string name_of(SweepMetric metric) {
  return name_of(kMetrics, metric);
}

SweepCommand sweep_command(const SweepArguments& arguments, bool second_model) {
  SweepCommand command = arguments.command;
  if (command.alignment && !command.from) throw WrongUse("--align is for --from");
  if (arguments.ablation && command.from)
    throw WrongUse("one change at a time: both --ablate and --from were given");
  if (arguments.site && *arguments.site != model::Site::z && command.over == SweepOver::heads)
    throw WrongUse("heads have the site z only; --site is for --over layer-position");
  const SweepChange usual = second_model ? SweepChange::patch : SweepChange::zero;
  command.change = command.from ? SweepChange::patch : arguments.ablation.value_or(usual);
  command.site =
      arguments.site.value_or(command.over == SweepOver::heads ? model::Site::z : model::Site::resid_pre);
  return command;
}

void add_comparison_options(const AddOption& add, ComparisonArguments& comparison) {
  add("second", "TEXT", "a second prompt to compare with",
      [&comparison](const std::string& text) { comparison.second = text; });
  add("align", "position|token",
      "compare the tokens at the same positions, or those of the longest\ncommon subsequence (default: "
      "position)",
      [&comparison](const std::string& text) {
        comparison.alignment = one_of("--align", kAlignmentNames, text);
      });
  add("show", "run|other|difference",
      "the run as it is asked for, what it is compared with (the same without\nedits, the second prompt, or "
      "either in the second model), or the\nfirst minus the second (default: run)",
      [&comparison](const std::string& text) { comparison.side = one_of("--show", kSideNames, text); });
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
