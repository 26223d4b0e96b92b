#include "app/run/analyses/search.h"
#include "app/run/analyses/token_pass.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"

namespace headscope::app::top_examples {

enum Role { kRow };  // Region::id: index of an example
enum class Text { prompt, list };

const Option<Text> kText = choice_option<Text>(
    "examples-text", "In", "tT", "where to look for examples",
    {{"prompt", "Prompt", "In the prompt"}, {"list", "List", "In all prompts of the open list"}},
    {.kept = false});
const Option<std::vector<int>> kNeurons = list_option(
    "example-neurons", "Neurons",
    "neurons of the chosen layer; auto: the most active one at the chosen token", "auto", {.kept = false});
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
  if (!c.run) return "";
  return refuse_numbers(c, kNeurons, "neuron", c.run->run->config.n_inner);
}

struct Examples {
  std::shared_ptr<const Found<FoundActivation>> found;
  std::vector<NeuronIndex> neurons;

  const FoundActivation& of(int row) const { return found->best[row]; }
  /// The ends of the bars; colours begin at 0.
  double limit() const {
    return found->best.empty() ? 1 : std::max(0.0, static_cast<double>(found->best.front().activation));
  }
  double low() const {
    return found->best.empty() ? 0 : std::min(0.0, static_cast<double>(found->best.back().activation));
  }
};

/// Nothing while there is no answer.
std::optional<Examples> examples_of(Content& it) {
  ActivationSearch search;
  search.neurons = neurons_of(it);
  if (search.neurons.empty()) return std::nullopt;
  auto found = uses_list(it.c) ? it.need(ActivationsOverList{over_list(it.c), search})
                               : it.need(ActivationsOfRun{search});
  if (!found) return std::nullopt;
  return Examples{std::move(found), std::move(search.neurons)};
}

std::string title_of(const ViewContext& c, const Examples& examples) {
  std::string words = "Largest activations of L" + std::to_string(c.selection.layer) +
                      (examples.neurons.size() == 1 ? " neuron" : " neurons");
  for (std::size_t i = 0; i < examples.neurons.size(); ++i)
    words += (i == 0 ? " " : ", ") + std::to_string(examples.neurons[i].neuron);
  return words;
}

std::string subtitle_of(const ViewContext& c, const Examples& examples) {
  const auto& found = *examples.found;
  std::string words = counted(found.count, examples.neurons.size() > 1 ? "activation" : "token");
  if (std::cmp_less(found.best.size(), found.count)) words += "; largest " + grouped(std::ssize(found.best));
  return words + "; " + (uses_list(c) ? list_words(c, found.progress) : std::string("this prompt"));
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "examples"};

int chosen_row(const ViewContext& c, const Examples& examples) {
  const auto& best = examples.found->best;
  const auto chosen = std::ranges::find_if(best, [&](const FoundActivation& one) {
    return one.position == c.selection.query &&
           (!uses_list(c) || is_shown_prompt(c, static_cast<std::size_t>(one.prompt) - 1));
  });
  return chosen != best.end() ? static_cast<int>(chosen - best.begin()) : -1;
}

/// Paints the tokens of an example's context that fit into `area`, each on the colour of its number, around
/// the example's own: a row of a concordance, in which that token has the same place in every row.
void paint_context(viz::Scene& scene, const ViewContext& c, const Examples& examples, int row,
                   const viz::Rect& area) {
  constexpr float kPlace = 0.6F;  // where the token begins, as a part of the width
  const viz::Style style = style_of(c);
  const Excerpt& excerpt = examples.found->excerpts[row];
  const viz::ColorScale scale = viz::linear_scale(examples.limit());
  const int count = static_cast<int>(excerpt.labels.size()), at = examples.of(row).position - excerpt.first;
  const float padding = std::round(0.1F * style.font_size), more = style.width("…", style.font_size);
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
    if (i == at) scene.add(viz::StrokeRect{box, c.theme->text, 1.5F, 2});
  };
  const float own = std::min(width_of(at), area.w);
  // Rounding can make the end of a token as wide as the area less than the area's start.
  const float left = std::max(area.x, std::min(area.x + kPlace * area.w, area.right() - own));
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
  const auto of = [&examples](auto field) {
    return [&examples, field](int row) { return examples.of(row).*field; };
  };
  const auto place = [&](const std::string& name) {
    return ListLook{.file = key_column(name), .color = c.theme->text_muted, .digits = 0};
  };
  auto made = std::make_unique<List>(c, kRows, static_cast<int>(examples.found->best.size()));
  List& list = *made;
  list.number("neuron", 7, of(&FoundActivation::neuron),
              {.file = key_column("neuron"), .digits = 0, .hidden = examples.neurons.size() < 2});
  list.bar("activation", 10, of(&FoundActivation::activation),
           {.file = "activation",
            .digits = 4,
            .low = examples.low(),
            .high = examples.limit(),
            .axis = true,
            .most = 9 * c.font_size});
  if (uses_list(c)) list.number("prompt", 4, of(&FoundActivation::prompt), place("prompt"));
  list.number("position", 3, of(&FoundActivation::position), place("position"));
  list.text("token", 5, [&](int row) { return label_of(c, examples.of(row).id); },
            {.file = note_column("token")});  // the context has it, too
  list.file(note_column("token id"), of(&FoundActivation::id));
  list.file(note_column("context"), [&examples](int row) {
    const Excerpt& excerpt = examples.found->excerpts[row];
    return excerpt.text() + (excerpt.continues ? "…" : "");
  });
  list.text("context", 9, [](int) { return std::string(); },
            {.least = 16 * c.font_size, .most = 64 * c.font_size})
      .draw = [&examples](viz::Scene& scene, const ViewContext& now, int row, viz::Rect cell) {
    paint_context(scene, now, examples, row, cell);
  };
  list.table.marked = chosen_row(c, examples);
  return made;
}

/// Shows the place of an example. The neurons stay, whichever is the most active there.
ViewActions go_to(const ViewContext& c, const Examples& examples, const FoundActivation& one) {
  ViewActions actions;
  if (c.options[kNeurons].empty()) {
    std::vector<int> neurons;
    for (const NeuronIndex& neuron : examples.neurons) neurons.push_back(neuron.neuron);
    actions.emplace_back(SetOption{&kNeurons, neurons});
  }
  if (uses_list(c))
    actions.emplace_back(show_prompt(c, static_cast<std::size_t>(one.prompt) - 1,
                                     {c.selection.layer, c.selection.head, one.position}));
  else
    actions.emplace_back(SelectQuery{one.position});
  return actions;
}

void add_example(Facts& facts, const ViewContext& c, const Examples& examples, int row) {
  const FoundActivation& one = examples.of(row);
  facts.say(neuron_name(c.selection.layer, one.neuron));
  facts.say(std::to_string(one.position) + " “" + label_of(c, one.id) + "”");
  if (uses_list(c)) facts.say("prompt " + grouped(one.prompt));
  facts.copy("context", examples.found->excerpts[row].text());
  facts.commands.push_back(
      {uses_list(c) ? "Show prompt " + grouped(one.prompt) : "Choose token " + std::to_string(one.position),
       go_to(c, examples, one)});
  add_neuron_edit(facts.commands, c, c.selection.layer, one.neuron);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (c.run) it.message = refuse(c);
  if (uses_list(c) && !c.prompts) it.message = no_list_words(c);
  if (!it.message.empty()) return;
  if (!c.run) {
    static_cast<void>(neurons_of(it));  // asks for what they depend on
    return;
  }
  auto found = examples_of(it);
  if (!found) return;
  const Examples& examples = it.keep(*std::move(found));
  it.title = title_of(c, examples), it.subtitle = subtitle_of(c, examples), it.says_difference = true;
  auto list = list_of(c, examples);
  list->row_facts = [&](Facts& facts, int row) { add_example(facts, c, examples, row); };
  list->on_click = [&examples](const ViewContext& now, int row) {
    return go_to(now, examples, examples.of(row));
  };
  it.table = [&c, &examples, &rows = *list] {
    Table result = rows.exported();
    result.ranked_by = "activation";
    result.fact("found", examples.found->count);
    result.about("layer", c.selection.layer);
    return result;
  };
  it.body = rows(boxes(BoxPtr(std::move(list)),
                       examples.found->best.empty()
                           ? notes({"no example: nothing is above 0"})
                           : legend(viz::linear_scale(examples.limit()), "activation at each token")));
}

View view() {
  View view =
      make_view("top_examples", "Top examples", declare,
                "the tokens of a prompt or a list at which neurons are most active, in their context");
  view.over_list = {kText, Text::list};
  view.options = {&kText, &kNeurons, &kFirstRow};
  view.shows_parts = true;
  view.refuse = refuse;
  view.needs = Capability::weights | Capability::mlp;
  view.of_model = uses_list;
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::top_examples
