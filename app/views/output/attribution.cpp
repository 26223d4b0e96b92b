#include "app/views/output/attribution_picture.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app {

const Option<AttributionList> kAttributionList = choice_option<AttributionList>(
    "attribution-list", "List", "cC", "what is listed next to the grid",
    {{"parts", "Parts", "All parts of the model, strongest first"},
     {"layers", "Layers", "Each layer's heads, bias and MLP together", "by layer"},
     {"sources", "Sources", "The source tokens of the chosen head's part, strongest first",
      "the head's source tokens"},
     {"neurons", "Neurons", "The neurons of the MLP's part in the chosen layer, strongest first",
      "the layer's neurons"}});
const Option<int> kFirstContribution = first_row_option("first-contribution", true);

namespace attribution {

using Numbers = AttributionNumbers;

/// Nullopt until it is known which token's logit is attributed.
std::optional<AttributionOf> question_of(const ViewContext& c) {
  const auto tokens = logit_tokens(c);
  if (!tokens) return std::nullopt;
  return AttributionOf{std::max(0, c.selection.query), tokens->token, tokens->against};
}

std::string target_of(const ViewContext& c, const Attribution& a) {
  return logit_words(c, a.token, a.against);
}

std::optional<Numbers> numbers_of(const ViewContext& c) {
  const auto question = question_of(c);
  auto of = c.run && question ? c.ask(*question) : nullptr;
  if (!of) return std::nullopt;
  const Selection& at = c.selection;
  const AttributionList list = c.options[kAttributionList];
  AttributionSplit split;
  if (list == AttributionList::sources)
    split.sources = c.ask(SourcesOf{at.layer, at.head, at.query, of->token, of->against});
  if (list == AttributionList::neurons)
    split.neurons = c.ask(NeuronsOf{at.layer, at.query, of->token, of->against});
  return attribution_numbers(std::move(of), list, std::move(split), c.run->tokens);
}

/// The picture if there is nothing to ask.
std::optional<Picture> unasked(const ViewContext& c) {
  const auto question = question_of(c);
  if (auto words = waiting_for_run(c, question)) return words;
  if (c.side == Side::difference && compared_query(c) < 0) return no_counterpart(c);
  return question ? std::nullopt : std::optional(message(c, kComputing));
}

AttributionWords words_of(const ViewContext& c, const Attribution& of, const Numbers& n) {
  const std::string title = "Logit of " + target_of(c, of), sum = sum_words(n),
                    after = "after " + token_name(c.run->tokens, c.selection.query) + ": ";
  if (c.side != Side::difference)
    return {
        title,
        after + "what each part of the model adds, with the ln_f scale fixed at " + viz::number(of.scale, 4),
        sum};
  const bool of_one_logit = of.against < 0;
  return {
      title + difference_suffix(c), after + query_difference_words(c) + ", each with its own ln_f scale",
      sum + (of_one_logit ? "; the probability depends on all logits, so it may move the other way" : "")};
}

Picture build(const ViewContext& c) {
  if (auto words = unasked(c)) return *words;
  const auto n = numbers_of(c);
  if (!n) return *waiting(c, *question_of(c), false);
  return attribution_picture(c, *n, words_of(c, *n->of, *n));
}

using Target = AttributionTarget;

std::string percent_of_sum(const Attribution& a, double value) {
  return a.sum() != 0 ? viz::fixed_number(100 * value / a.sum(), 1) + " % of the sum" : "";
}

/// "L5 H1" and its contribution.
std::pair<std::string, double> name_and_value(const ViewContext& c, const Numbers& n, const Target& at) {
  if (at.part >= 0) return {n.parts[at.part].name, n.parts[at.part].value};
  if (at.layer >= 0) return {"layer " + std::to_string(at.layer), n.of->layer(at.layer)};
  if (at.neuron >= 0) return {neuron_name(c.selection.layer, at.neuron), n.split.neurons->parts[at.neuron]};
  return {token_name(c.run->tokens, at.source) + " through " + head_name(c.selection.layer, c.selection.head),
          n.split.sources->parts[at.source]};
}

/// Lists the neurons of a part that is an MLP; nothing for other parts.
ViewActions neurons_shown(const ViewContext& c, const Numbers& n, int index) {
  if (index < 0) return {};
  const Contribution& part = n.parts[index];
  if (part.layer < 0 || part.col != n.of->n_head() + 1) return {};
  return {SelectHead{part.layer, c.selection.head},
          SetOption{&kAttributionList, static_cast<int>(AttributionList::neurons)}};
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto n = numbers_of(c);
  if (!n) return {};
  const Target at = attribution_target(c, *n, picture, hit);
  if (at.source >= 0) return {clicked_key(c, at.source)};
  const auto head = head_of_part(*n, at.part);
  if (!head) return neurons_shown(c, *n, at.part);
  ViewActions actions{*head};
  // The list keeps to what was clicked: a head has no neurons.
  if (c.options[kAttributionList] == AttributionList::neurons)
    actions.emplace_back(SetOption{&kAttributionList, static_cast<int>(AttributionList::sources)});
  return actions;
}

/// Whether edits of the output of a head or an MLP come after what is listed of it.
bool is_before_edits(const Numbers& n, const Target& at) {
  return at.source >= 0 ? n.split.sources->edited : at.neuron >= 0 && n.split.neurons->edited;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  const Target at = n ? attribution_target(c, *n, picture, hit) : Target{};
  if (at == Target{}) return facts;
  frame_target(facts.overlay, c, *n, picture, at);
  const auto [name, value] = name_and_value(c, *n, at);
  const std::string what = n->of->against < 0 ? "logit" : "difference";
  const bool is_difference = c.side == Side::difference;
  facts.say(name);
  facts.say(is_difference ? difference_prefix(c) + what + " through it " + exact(value)
                          : "adds " + exact(value) + " to the " + what +
                                (is_before_edits(*n, at) ? ", before the edits of its output" : ""));
  facts.number("contribution", value, Fact::Location::menu);
  if (at.source >= 0) {
    facts.number(is_difference ? difference_prefix(c) + std::string("weight") : "weight",
                 n->split.sources->weights[at.source]);
    add_choice_of_key(facts.commands, c, at.source, c.selection.query);
    facts.commands.push_back(choose_query(c, at.source));
  } else if (at.neuron >= 0) {
    facts.number(difference_prefix(c) + std::string("activation"), n->split.neurons->activations[at.neuron]);
    add_neuron_edit(facts.commands, c, c.selection.layer, at.neuron);
  } else {
    facts.say(percent_of_sum(*n->of, value));
  }
  if (const auto head = head_of_part(*n, at.part)) facts.commands.push_back({"Show " + name, {*head}});
  if (ViewActions neurons = neurons_shown(c, *n, at.part); !neurons.empty())
    facts.commands.push_back({"Show neurons of " + name, std::move(neurons)});
  return facts;
}

/// Rows of the kind "part" add up to the logit but for the rounding error. Those of the kinds "source" and
/// "neuron" add up to the part that is listed, those of the kind "layer" are sums of parts.
Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return {};
  const Attribution& a = *n->of;
  const std::string what = difference_column_prefix(c);
  const auto& [sources, neurons] = n->split;
  const auto [layer, head, query, chosen] = c.selection;
  Table result{"kind", "part", key_column("layer"), key_column("head"), what + "logit"};
  result.ranked_by = what + "logit";
  if (sources) result.add_columns({key_column("source"), note_column("source token"), what + "weight"});
  if (neurons) result.add_columns({key_column("neuron"), what + "activation"});
  const auto known = [](bool is_known, int index) { return is_known ? std::optional(index) : std::nullopt; };
  for (const Contribution& part : n->parts) {
    const bool in_layer = part.layer >= 0, is_head = in_layer && part.col < a.n_head();
    add_row(result, "part", part.name, known(in_layer, part.layer), known(is_head, part.col), part.value);
  }
  if (c.options[kAttributionList] == AttributionList::layers)
    for (int i = 0; i < a.layers; ++i)
      add_row(result, "layer", n->layer_names[i], i, std::nullopt, a.layer(i));
  if (sources) {
    const std::string name = head_name(layer, head);
    for (int key = 0; key < std::ssize(sources->parts); ++key)
      add_row(result, "source", name, layer, head, sources->parts[key], key, c.run->tokens.labels[key],
              sources->weights[key]);
    if (sources->edited)
      add_row(result, "source", "edits of the output of " + name, layer, head, sources->edits);
    if (shows_unmatched(c, *n)) result.fact("only in the " + second_name(*c.run), sources->unmatched);
  }
  if (neurons) {
    const std::string name = "L" + std::to_string(layer) + " MLP";
    for (int neuron = 0; neuron < std::ssize(neurons->parts); ++neuron)
      add_row(result, "neuron", name, layer, std::nullopt, neurons->parts[neuron], neuron,
              neurons->activations[neuron]);
    add_row(result, "neuron", "output bias of " + name, layer, std::nullopt, neurons->bias);
    if (neurons->edited)
      add_row(result, "neuron", "edits of the output of " + name, layer, std::nullopt, neurons->edits);
  }
  add_measured(result, c, {a.against < 0 ? "logit" : "difference", query, a.token, a.against});
  result.fact("value", a.logit);
  result.fact("sum", a.sum());
  result.fact("rounding error", a.rounding_error());
  if (c.side != Side::difference) result.fact("ln_f scale", a.scale);  // each side has its own
  return result;
}

}  // namespace attribution

View attribution_view() {
  using namespace attribution;
  View view = make_view(Group::output, "attribution", "Attribution",
                        "what each head, MLP, bias and embedding adds to a logit or logit difference", build,
                        facts, table);
  view.options = {&kMeasuredToken, &kSubtractedToken, &kAttributionList, &kFirstContribution};
  add_list(view, kAttributionRows, click, attribution_key);
  view.shows_difference = true;
  view.needs = Capability::weights | Capability::mlp;
  view.figure_size = attribution_size;
  view.caption = {true, true, true};
  view.landmarks = {landmark("grid", kAttributionCell),
                    {"head",
                     [](const ViewContext& c, const Picture& p) {
                       return around_cells(p, kAttributionCell, c.selection.layer, c.selection.head);
                     }},
                    landmark("list", kAttributionRow)};
  return view;
}

}  // namespace headscope::app
