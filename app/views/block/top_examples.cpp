#include "app/run/analyses/search.h"
#include "app/run/analyses/token_pass.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"

namespace headscope::app::top_examples {

enum Role { kRow };  // Region::id: index of an example

const Option<std::vector<int>> kNeurons = list_option(
    "example-neurons", "Neurons",
    "neurons of the chosen layer; auto: the most active one at the chosen token", "auto", {.kept = false});

/// The neurons of the examples; none while it is not known which one is the most active.
std::vector<NeuronIndex> neurons_of(Content& it) {
  const ViewContext& c = it.c;
  std::vector<NeuronIndex> neurons;
  for (const int neuron : c.options[kNeurons]) neurons.push_back({c.selection.layer, neuron});
  if (!neurons.empty()) return neurons;
  const auto pass = it.need(PassOfToken{c.chosen_query});
  if (!pass) return {};
  const std::vector<float>& active = pass->blocks[c.selection.layer].mlp_post;
  const auto largest = std::ranges::max_element(active);  // NaN: the first
  return {{c.selection.layer, static_cast<int>(largest - active.begin())}};
}

std::string refuse(const ViewContext& c) {
  return refuse_numbers(c, kNeurons, "neuron", c.config().n_inner);
}

struct Examples {
  std::shared_ptr<const FoundActivations> found;
  std::vector<NeuronIndex> neurons;

  const FoundActivations::Match& of(int row) const { return found->best[row]; }
  viz::ColorScale scale() const {
    return viz::linear_scale(found->best.empty() ? 1 : double{found->best.front().activation});
  }
};

/// Nothing while there is no answer.
std::optional<Examples> examples_of(Content& it) {
  std::vector<NeuronIndex> neurons = neurons_of(it);
  if (neurons.empty()) return std::nullopt;
  auto found = it.need(ActivationsOf{neurons, chosen_text(it.c)});
  if (!found) return std::nullopt;
  return Examples{std::move(found), std::move(neurons)};
}

std::string title_of(const ViewContext& c, const Examples& examples) {
  std::string words = "Largest activations of L" + std::to_string(c.selection.layer) +
                      (examples.neurons.size() == 1 ? " neuron" : " neurons");
  for (const NeuronIndex& one : examples.neurons)
    words += (&one == examples.neurons.data() ? " " : ", ") + std::to_string(one.neuron);
  return words;
}

const ListRows kRows{kRow, first_row_option("first-example"), "examples"};

/// Paints the tokens of an example's context that fit into `area`, each on the colour of its number, around
/// the example's own: a row of a concordance, in which that token has the same place in every row.
void paint_context(viz::Scene& scene, const ViewContext& c, const Examples& examples, int row,
                   const viz::Rect& area) {
  constexpr float kPlace = 0.6F;  // where the token begins, as a part of the width
  const viz::Style style = style_of(c);
  const Excerpt& excerpt = examples.of(row).excerpt;
  const viz::ColorScale scale = examples.scale();
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
    float room = by < 0 ? left - area.x : area.right() - left - own;
    const auto place = [&](float width) { return by < 0 ? area.x + room - width : area.right() - room; };
    const bool ends = by < 0 ? excerpt.first == 0 : !excerpt.continues;
    const int last = by < 0 ? 0 : count - 1;
    int i = at + by;
    for (; i >= 0 && i < count && width_of(i) + (ends && i == last ? 0 : more) <= room; i += by) {
      paint(i, place(width_of(i)), width_of(i));
      room -= width_of(i);
    }
    if ((!ends || i != last + by) && more <= room)
      viz::add_muted(scene, style, "…", {place(more), area.center().y});
  }
}

std::unique_ptr<List> list_of(const ViewContext& c, const Examples& examples) {
  const auto of = [&examples](auto field) {
    return [&examples, field](int row) { return examples.of(row).*field; };
  };
  const auto place = [&](const char* name) {
    return ListLook{.file = key_column(name), .color = c.theme->text_muted, .digits = 0};
  };
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(examples.found->best.size()));
  list->number("neuron", 7, of(&FoundActivation::neuron),
               {.file = key_column("neuron"), .digits = 0, .hidden = examples.neurons.size() < 2});
  list->bar("activation", 10, of(&FoundActivation::activation),
            {.file = "activation", .digits = 4, .axis = true, .most = 9 * c.font_size});
  if (uses_list(c)) list->number("prompt", 4, of(&FoundActivation::prompt), place("prompt"));
  list->number("position", 3, of(&FoundActivation::position), place("position"));
  list->text("token", 5, [&](int row) { return label_of(c, examples.of(row).id); },
             {.file = note_column("token")});  // the context has it, too
  list->file(note_column("token id"), of(&FoundActivation::id));
  list->file(note_column("context"), [&examples](int row) {
    const Excerpt& excerpt = examples.of(row).excerpt;
    return excerpt.text() + (excerpt.continues ? "…" : "");
  });
  list->text("context", 9, [](int) { return std::string(); },
             {.least = 14 * c.font_size, .most = 64 * c.font_size})
      .draw = [&examples](viz::Scene& scene, const ViewContext& now, int row, viz::Rect cell) {
    paint_context(scene, now, examples, row, cell);
  };
  list->mark([&](int row) {
    return examples.of(row).position == c.selection.query && is_shown_prompt(c, examples.of(row).prompt);
  });
  return list;
}

/// Shows the place of an example. The neurons stay, whichever is the most active there.
ViewActions go_to(const ViewContext& c, const Examples& examples, const FoundActivation& one) {
  ViewActions actions = show_place(c, one.prompt, {c.selection.layer, c.selection.head, one.position});
  if (c.options[kNeurons].empty())
    actions.emplace_back(SetOption{&kNeurons, std::vector{examples.neurons.front().neuron}});
  return actions;
}

void add_example(Facts& facts, const ViewContext& c, const Examples& examples, int row) {
  const FoundActivation& one = examples.of(row);
  const std::string position = std::to_string(one.position);
  facts.say(neuron_name(c.selection.layer, one.neuron));
  facts.say(position + " “" + label_of(c, one.id) + "”");
  facts.copy("context", examples.of(row).excerpt.text());
  add_place_of_list(facts, c, one.prompt, "Choose token " + position, go_to(c, examples, one));
  add_neuron_edit(facts.commands, c, c.selection.layer, one.neuron);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (c.run) it.message = refuse(c);
  auto found = it.message.empty() ? examples_of(it) : std::nullopt;
  if (!found || !c.run) return;
  const Examples& examples = it.keep(*std::move(found));
  const FoundActivations& best = *examples.found;
  it.title = title_of(c, examples);
  it.subtitle = counted(best.count, examples.neurons.size() > 1 ? "activation" : "token") +
                found_words(c, best.best.size(), best.count, best.progress);
  auto list = list_of(c, examples);
  list->row_facts = [&](Facts& facts, int row) { add_example(facts, c, examples, row); };
  list->on_click = [&examples](const ViewContext& now, int row) {
    return go_to(now, examples, examples.of(row));
  };
  it.table = [&c, &best, &rows = *list] {
    Table result = rows.exported("activation");
    result.fact("found", best.count);
    result.about("layer", c.selection.layer);
    return result;
  };
  it.body = rows(boxes(BoxPtr(std::move(list)), best.best.empty()
                                                    ? notes({"no example: nothing is above 0"})
                                                    : legend(examples.scale(), "activation at each token")));
}

View view() {
  View view =
      make_view("top_examples", "Top examples", declare,
                "the tokens of a prompt or a list at which neurons are most active, in their context");
  view.options = {&kTextOf, &kNeurons, &kRows.first};
  view.shows_parts = true;
  view.refuse = refuse;
  view.needs = Capability::weights | Capability::mlp;
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::top_examples
