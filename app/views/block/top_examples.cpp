#include "app/run/analyses/search.h"
#include "app/run/analyses/token_pass.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace top_examples {

enum Role { kRow };  // Region::id: index of an example
enum class Text { prompt, list };
enum class Subject { neurons, head };

const Option<Text> kText = choice_option<Text>(
    "examples-text", "In", "tT", "where to look for examples",
    {{"prompt", "Prompt", "In the prompt"}, {"list", "List", "In all prompts of the open list"}},
    {.kept = false});
const Option<Subject> kSubject = choice_option<Subject>(
    "examples-of", "Of", "oO", "what the examples are of",
    {{"neurons", "Neurons", "The tokens at which neurons of the chosen layer's MLP are most active"},
     {"head", "Head", "The queries and keys between which the chosen head has the largest weights"}});
bool is_of_neurons(const Options& options) {
  return options[kSubject] == Subject::neurons;
}
bool is_of_head(const Options& options) {
  return options[kSubject] == Subject::head;
}
const Option<std::vector<int>> kNeurons =
    list_option("example-neurons", "Neurons",
                "neurons of the chosen layer; auto: the most active one at the chosen token", "auto",
                {.kept = false, .applies = is_of_neurons});
const Option<bool> kKey0 =
    switch_option("example-key0", "Key 0", "cC", "also weights on key 0, on which many heads of GPT-2 rest",
                  false, {.applies = is_of_head});
const Option<int> kFirstRow = first_row_option("first-example");

bool uses_list(const ViewContext& c) {
  return c.options[kText] == Text::list;
}

/// The neurons of the examples; none while it is not known which one is the most active.
std::vector<NeuronIndex> neurons_of(Content& it) {
  const ViewContext& c = it.c;
  std::vector<NeuronIndex> neurons;
  for (const int neuron : c.options[kNeurons]) neurons.push_back({c.selection.layer, neuron});
  if (!neurons.empty()) return neurons;
  const auto pass = it.need(PassOfToken{c.chosen_query});
  if (!pass || c.selection.layer >= std::ssize(pass->blocks)) return {};
  const std::vector<float>& active = pass->blocks[c.selection.layer]->mlp_post;
  const auto largest = std::ranges::max_element(active);  // NaN: the first
  return {{c.selection.layer, static_cast<int>(largest - active.begin())}};
}

/// "there is no neuron 512 ...", or empty.
std::string refuse(const ViewContext& c) {
  if (!c.run || !is_of_neurons(c.options)) return "";
  return refuse_numbers(c, kNeurons, "neuron", c.run->run->config.n_inner);
}

/// An example: a neuron's activation at a token, or a head's weight of a query on a key.
struct Example {
  int prompt = 1;
  int neuron = -1;
  int position = 0;  ///< of the query
  int id = 0;        ///< of its token
  int key = -1, key_id = 0;
  float value = 0;
  const Excerpt* excerpt = nullptr;
};

struct Examples {
  std::shared_ptr<const void> answer;  ///< what the excerpts are in
  std::vector<NeuronIndex> neurons;    ///< none: of a head
  std::vector<Example> best;
  std::int64_t count = 0;
  ListProgress progress;

  /// The ends of the bars; colours begin at 0.
  double limit() const { return best.empty() ? 1 : std::max(0.0, static_cast<double>(best.front().value)); }
  double low() const { return best.empty() ? 0 : std::min(0.0, static_cast<double>(best.back().value)); }
};

/// Nothing while there is no answer.
template <class Q, class MakeExample>
std::optional<Examples> examples_for(Content& it, const Q& question, const MakeExample& example) {
  const auto found = it.need(question);
  if (!found) return std::nullopt;
  Examples examples{found, {}, {}, found->count, found->progress};
  for (std::size_t i = 0; i < found->best.size(); ++i) {
    examples.best.push_back(example(found->best[i]));
    examples.best.back().excerpt = &found->excerpts[i];
  }
  return examples;
}

std::optional<Examples> examples_of(Content& it) {
  const ViewContext& c = it.c;
  if (is_of_head(c.options)) {
    WeightSearch search;
    search.heads = {{c.selection.layer, c.selection.head}};
    if (!c.options[kKey0]) search.to = {TokenSelector::Kind::from_position, "", 1};
    const auto example = [](const FoundWeight& f) {
      return Example{f.prompt, -1, f.query, f.query_id, f.key, f.key_id, f.weight};
    };
    return uses_list(c) ? examples_for(it, WeightsOverList{over_list(c), search}, example)
                        : examples_for(it, WeightsOfRun{search}, example);
  }
  ActivationSearch search;
  search.neurons = neurons_of(it);
  if (search.neurons.empty()) return std::nullopt;
  const auto example = [](const FoundActivation& f) {
    return Example{f.prompt, f.neuron, f.position, f.id, -1, 0, f.activation};
  };
  auto examples = uses_list(c) ? examples_for(it, ActivationsOverList{over_list(c), search}, example)
                               : examples_for(it, ActivationsOfRun{search}, example);
  if (examples) examples->neurons = search.neurons;
  return examples;
}

const char* quantity(const ViewContext& c) {
  return is_of_head(c.options) ? "weight" : "activation";
}

std::string title_of(const ViewContext& c, const Examples& examples) {
  if (is_of_head(c.options))
    return "Largest weights of " + head_title(c, c.selection.layer, c.selection.head);
  std::string words = "Largest activations of L" + std::to_string(c.selection.layer) +
                      (examples.neurons.size() == 1 ? " neuron" : " neurons");
  for (std::size_t i = 0; i < examples.neurons.size(); ++i)
    words += (i == 0 ? " " : ", ") + std::to_string(examples.neurons[i].neuron);
  return words;
}

std::string subtitle_of(const ViewContext& c, const Examples& examples) {
  std::string words = grouped(examples.count) + (is_of_head(c.options)         ? " above 0"
                                                 : examples.neurons.size() > 1 ? " activations"
                                                 : examples.count == 1         ? " token"
                                                                               : " tokens");
  if (std::cmp_less(examples.best.size(), examples.count))
    words += "; largest " + grouped(std::ssize(examples.best));
  words += "; " + (uses_list(c) ? list_words(c, examples.progress) : std::string("this prompt"));
  if (is_of_head(c.options) && !c.options[kKey0]) words += "; without key 0";
  return words;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "examples"};

int chosen_row(const ViewContext& c, const Examples& examples) {
  const auto found = std::ranges::find_if(examples.best, [&](const Example& one) {
    return one.position == c.selection.query && (one.key < 0 || one.key == c.selection.key) &&
           (!uses_list(c) || is_shown_prompt(c, static_cast<std::size_t>(one.prompt) - 1));
  });
  return found != examples.best.end() ? static_cast<int>(found - examples.best.begin()) : -1;
}

/// Paints the tokens of an example's context that fit into `area`, each on the colour of its number, around
/// the example's own: a row of a concordance, in which that token has the same place in every row. A query is
/// at the right, because what follows it has no weight.
void paint_context(viz::Scene& scene, const ViewContext& c, const Examples& examples, const Example& one,
                   const viz::Rect& area) {
  constexpr float kPlace = 0.6F;  // where a neuron's token begins, as a part of the width
  const viz::Style style = style_of(c);
  const Excerpt& excerpt = *one.excerpt;
  const viz::ColorScale scale = viz::linear_scale(examples.limit());
  const int count = static_cast<int>(excerpt.labels.size()), at = one.position - excerpt.first;
  const float padding = std::round(0.1F * style.font_size), more = style.width("…", style.font_size);
  const bool of_head = one.key >= 0;
  const auto width_of = [&](int i) {
    return std::ceil(style.width(excerpt.labels[i], style.font_size) + 2 * padding);
  };
  const auto paint = [&](int i, float x, float width) {
    const viz::Rect box = viz::Rect{x, area.y, width, area.h}.inset(0.5F);
    viz::Color text = c.theme->text;
    if (!excerpt.values.empty() && excerpt.values[i] > 0) {
      const viz::Color ground = scale.color(*c.theme, static_cast<double>(excerpt.values[i]));
      scene.add(viz::FillRect{box, ground, 2});
      text = text_on(c, ground);
    }
    viz::add_label(scene, style, excerpt.labels[i], {x + padding, area.center().y}, style.font_size, text,
                   viz::FontStyle::regular, viz::Align::left, width - padding);
    const int position = excerpt.first + i;
    const bool own = position == one.position;
    const viz::Color frame = !own ? c.theme->key : of_head ? c.theme->query : c.theme->text;
    if (own || position == one.key) scene.add(viz::StrokeRect{box, frame, 1.5F, 2});
  };
  const float own = std::min(width_of(at), area.w);
  // Rounding can make the end of a token as wide as the area less than the area's start.
  const float left = std::max(area.x, std::min(area.x + (of_head ? 1 : kPlace) * area.w, area.right() - own));
  paint(at, left, own);
  for (const int by : {-1, 1}) {
    const bool has_more = by < 0 ? excerpt.first > 0 : excerpt.continues;  // the rest of the prompt
    float edge = by < 0 ? left : left + own;
    const auto fits = [&](float width) {
      return by < 0 ? edge - width >= area.x : edge + width <= area.right();
    };
    const auto is_end = [&](int i) { return i < 0 || i == count; };
    int i = at + by;
    for (; !is_end(i) && fits(width_of(i) + (is_end(i + by) && !has_more ? 0 : more)); i += by) {
      paint(i, by < 0 ? edge - width_of(i) : edge, width_of(i));
      edge += static_cast<float>(by) * width_of(i);
    }
    if ((!is_end(i) || has_more) && fits(more))
      viz::add_label(scene, style, "…", {edge, area.center().y}, style.font_size, c.theme->text_muted,
                     viz::FontStyle::regular, by < 0 ? viz::Align::right : viz::Align::left);
  }
}

std::unique_ptr<List> list_of(const ViewContext& c, const Examples& examples) {
  const viz::Theme& theme = *c.theme;
  const bool of_head = is_of_head(c.options);
  const auto of = [&examples](auto field) {
    return [&examples, field](int row) { return examples.best[row].*field; };
  };
  const auto token = [&](int Example::*id) {
    return [&c, id_of = of(id)](int row) { return label_of(c, id_of(row)); };
  };
  auto made = std::make_unique<List>(c, kRows, static_cast<int>(examples.best.size()));
  List& list = *made;
  if (!of_head && examples.neurons.size() > 1)
    list.number("neuron", 7, of(&Example::neuron), {.file = key_column("neuron"), .digits = 0});
  else if (!of_head)
    list.file(key_column("neuron"), of(&Example::neuron));
  list.bar(quantity(c), 10, of(&Example::value),
           {.file = quantity(c),
            .digits = 4,
            .low = examples.low(),
            .high = examples.limit(),
            .axis = true,
            .most = 9 * c.font_size});
  const auto number = [&](const char* heading, int importance, int Example::*field, const char* file) {
    list.number(heading, importance, of(field),
                {.file = key_column(file), .color = theme.text_muted, .digits = 0});
  };
  if (uses_list(c)) number("prompt", 4, &Example::prompt, "prompt");
  number("position", 3, &Example::position, of_head ? "query" : "position");
  // The context has the token, too, of a head often not the key.
  list.text(of_head ? "query" : "token", 5, token(&Example::id),
            {.file = note_column(of_head ? "query token" : "token"),
             .heading = of_head ? theme.query : theme.text_muted});
  list.file(note_column(of_head ? "query id" : "token id"), of(&Example::id));
  if (of_head) {
    number("position", 2, &Example::key, "key");
    list.text("key", 6, token(&Example::key_id), {.file = note_column("key token"), .heading = theme.key});
    list.file(note_column("key id"), of(&Example::key_id));
  }
  list.file(note_column("context"), [&examples](int row) {
    const Example& one = examples.best[row];
    return one.excerpt->text() + (one.excerpt->continues && one.key < 0 ? "…" : "");
  });
  list.text("context", 9, [](int) { return std::string(); },
            {.least = 16 * c.font_size, .most = 64 * c.font_size})
      .draw = [&examples](viz::Scene& scene, const ViewContext& now, int row, viz::Rect cell) {
    paint_context(scene, now, examples, examples.best[row], cell);
  };
  list.table.marked = chosen_row(c, examples);
  return made;
}

/// Shows the place of an example. The neurons stay, whichever is the most active there.
ViewActions go_to(const ViewContext& c, const Examples& examples, const Example& one) {
  ViewActions actions;
  if (!examples.neurons.empty() && c.options[kNeurons].empty()) {
    std::vector<int> neurons;
    for (const NeuronIndex& neuron : examples.neurons) neurons.push_back(neuron.neuron);
    actions.emplace_back(SetOption{&kNeurons, neurons});
  }
  if (uses_list(c)) {
    actions.emplace_back(show_prompt(c, static_cast<std::size_t>(one.prompt) - 1,
                                     {c.selection.layer, c.selection.head, one.position, one.key}));
  } else {
    actions.emplace_back(SelectQuery{one.position});
    if (one.key >= 0) actions.emplace_back(SelectKey{one.key});
  }
  return actions;
}

void add_example(Facts& facts, const ViewContext& c, const Examples& examples, const Example& one) {
  const auto token = [&](int position, int id) {
    return std::to_string(position) + " “" + label_of(c, id) + "”";
  };
  const int layer = c.selection.layer;
  if (one.key >= 0) {
    facts.say(head_name(layer, c.selection.head));
    facts.say("query " + token(one.position, one.id) + " → key " + token(one.key, one.key_id));
  } else {
    facts.say(neuron_name(layer, one.neuron));
    facts.say(token(one.position, one.id));
  }
  if (uses_list(c)) facts.say("prompt " + grouped(one.prompt));
  facts.copy("context", one.excerpt->text());
  facts.commands.push_back({uses_list(c)   ? "Show prompt " + grouped(one.prompt)
                            : one.key >= 0 ? std::string("Go to this cell")
                                           : "Choose token " + std::to_string(one.position),
                            go_to(c, examples, one)});
  if (one.key < 0) add_neuron_edit(facts.commands, c, layer, one.neuron);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (c.run) it.message = refuse(c);
  if (uses_list(c) && !c.prompts) it.message = no_list_words(c);
  if (!it.message.empty()) return;
  if (!c.run) {
    if (!is_of_head(c.options)) static_cast<void>(neurons_of(it));  // asks for what they depend on
    return;
  }
  auto found = examples_of(it);
  if (!found) return;
  const Examples& examples = it.keep(*std::move(found));
  it.title = title_of(c, examples), it.subtitle = subtitle_of(c, examples), it.says_difference = true;
  auto list = list_of(c, examples);
  list->row_facts = [&](Facts& facts, int row) { add_example(facts, c, examples, examples.best[row]); };
  list->on_click = [&examples](const ViewContext& now, int row) {
    return go_to(now, examples, examples.best[row]);
  };
  it.table = [&c, &examples, &rows = *list] {
    Table result = rows.exported();
    result.ranked_by = quantity(c);
    result.fact("found", examples.count);
    result.about("layer", c.selection.layer);
    if (is_of_head(c.options)) result.about("head", c.selection.head);
    return result;
  };
  const std::string of = is_of_head(c.options) ? " of the query on each token" : " at each token";
  it.body =
      rows(boxes(BoxPtr(std::move(list)),
                 examples.best.empty() ? notes({"no example: nothing is above 0"})
                                       : legend(viz::linear_scale(examples.limit()), quantity(c) + of)));
}

}  // namespace top_examples

View top_examples_view() {
  using namespace top_examples;
  View view =
      make_view(Group::block, "top_examples", "Top examples",
                "the tokens of a prompt or a list at which neurons are most active, or between which a "
                "head has its largest weights, in their context",
                declare);
  view.audience = Audience::research;
  view.over_list = &kText;
  view.over_list_value = static_cast<int>(Text::list);
  view.options = {&kText, &kSubject, &kNeurons, &kKey0, &kFirstRow};
  view.has_list = true;
  view.shows_parts = true;
  view.refuse = refuse;
  view.needs = Capability::weights | Capability::mlp;
  view.of_model = uses_list;
  view.caption = {true, false, true};
  view.landmarks = {landmark("examples", kRow)};
  return view;
}

}  // namespace headscope::app
