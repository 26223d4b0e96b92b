#include "app/run/analyses/search.h"
#include "app/views/parts/parts.h"

namespace headscope::app::search {

enum class Target { weights, shape };
enum class Like { token, position, any, before, later };  // of queries the first three
enum class Heads { all, chosen };

const Option<Target> kTarget = choice_option<Target>(
    "search-for", "For", "fF", "what to search for",
    {{"weights", "Weights", "Large weights between tokens like the chosen query and key"},
     {"shape", "Shape", "Heads whose attention falls in the shape marked on a heatmap"}});
bool is_for_weights(const Options& options) {
  return options[kTarget] == Target::weights;
}
bool is_for_shapes(const Options& options) {
  return options[kTarget] == Target::shape;
}
const Option<Like> kQueries = choice_option<Like>(
    "search-from", "Queries", "qQ", "which queries",
    {{"token", "From token", "The chosen query's token at any position, with or without a leading space"},
     {"position", "From position", "The chosen query's position; in a list by default the last one"},
     {"any", "From any", "All queries but the first, which sees only itself"}},
    {.applies = is_for_weights});
const Option<Like> kKeys = choice_option<Like>(
    "search-to", "Keys", "oO", "which keys (all if no key is chosen)",
    {{"token", "To token", "The chosen key's token at any position, with or without a leading space"},
     {"position", "To position", "The chosen key's position"},
     {"any", "To any", "All keys that the query sees"},
     {"before", "At distance", "At the chosen key's distance before the query"},
     {"later", "To later", "All keys but key 0, where many GPT-2 heads rest"}},
    {.applies = is_for_weights});
const Option<Heads> kHeads = choice_option<Heads>(
    "search-heads", "Heads", "hH", "which heads",
    {{"all", "All heads", "All heads of all layers"}, {"chosen", "Chosen head", "Only the chosen head"}});
const Option<double> kAbove =
    number_option("search-above", "Above", "eE", "only larger weights, or shares of the attention", 0.3, 0, 1,
                  {.steps = {0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}});
const Option<bool> kMoves =
    switch_option("shape-anywhere", "Anywhere", "wW", "match the shape anywhere along the diagonal", true,
                  {.applies = is_for_shapes});

/// A condition on tokens, and what it is called.
struct Condition {
  TokenSelector selector;
  std::string words;
};

/// The label of a token without its leading space, so that both spellings are found.
Condition same_word(const std::string& label) {
  constexpr std::string_view kSpace = "·";
  const bool has_space = label.size() > kSpace.size() && label.starts_with(kSpace);
  const std::string text = label.substr(has_space ? kSpace.size() : 0);
  return {{TokenSelector::Kind::text, text}, "“" + text + "”, “·" + text + "”"};
}

/// Which queries or keys are searched; an empty prompt has no token that could be one.
Condition condition_of(const ViewContext& c, bool of_key) {
  using Kind = TokenSelector::Kind;
  const Like like = c.options[of_key ? kKeys : kQueries];
  const int at = of_key ? c.selection.key : c.selection.query, before = c.selection.query - at;
  if (like == Like::later) return {{Kind::from_position, "", 1}, "positions from 1 on"};
  if (like == Like::any || at < 0 || c.run->tokens.was_empty) return {{}, of_key ? "any key" : "any query"};
  if (like == Like::token) return same_word((of_key ? key_tokens(*c.run) : c.run->tokens).labels[at]);
  if (like == Like::before && before == 0) return {{Kind::before_query, "", 0}, "itself"};
  if (like == Like::before)
    return {{Kind::before_query, "", before},
            std::to_string(std::abs(before)) + (before < 0 ? " after" : " before")};
  if (!of_key && uses_list(c) && c.chosen_query < 0) return {{Kind::from_end, "", 1}, "the end"};
  return {{Kind::position, "", at}, "position " + std::to_string(at)};
}

WeightSearch search_of(const ViewContext& c) {
  WeightSearch search;
  search.above = c.options[kAbove];
  if (c.options[kHeads] == Heads::chosen) search.heads = {{c.selection.layer, c.selection.head}};
  if (is_for_shapes(c.options)) {
    for (const int cell : c.options[kShape]) {
      const auto [query, key] = head_of_number(cell);
      search.shape.push_back({query, key});
    }
    search.moves = c.options[kMoves];
  } else {
    search.from = condition_of(c, false).selector;
    search.to = condition_of(c, true).selector;
  }
  return search;
}

std::string refuse(const ViewContext& c) {
  return is_for_shapes(c.options) && c.options[kShape].empty()
             ? "no shape is marked: set Mouse to Mark in the Heatmap view and drag over cells"
             : "";
}

const ListRows kRows{0, first_row_option("first-found"), "matches"};

std::unique_ptr<List> list_of(const ViewContext& c, const FoundWeights& found) {
  const auto of = [&found](auto field) {
    return [&found, field](int row) { return found.best[row].*field; };
  };
  const auto place = [&](const char* name) {
    return ListLook{.file = key_column(name), .color = c.theme->text_muted, .digits = 0};
  };
  const char* quantity = is_for_shapes(c.options) ? "share" : "weight";
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(found.best.size()));
  list->text("head", 8, [&](int row) { return head_title(c, found.best[row].layer, found.best[row].head); });
  list->bar(quantity, 9, of(&FoundWeight::weight),
            {.file = quantity, .digits = 4, .low = 0, .high = 1, .axis = true, .most = 9 * c.font_size});
  if (uses_list(c)) list->number("prompt", 6, of(&FoundWeight::prompt), place("prompt"));
  list->file(key_column("layer"), of(&FoundWeight::layer));
  list->file(key_column("head"), of(&FoundWeight::head));
  list->number("", 3, of(&FoundWeight::query), place("query"));
  list->text("query", 7, [&](int row) { return found.best[row].excerpt.labels.back(); },
             {.file = note_column("query token"), .heading = c.theme->query});
  list->number("", 2, of(&FoundWeight::key), place("key"));
  list->text("key", 5, [&](int row) { return found.best[row].excerpt.key; },
             {.file = note_column("key token"), .heading = c.theme->key});
  if (!c.run->model->patterns) {
    list->file(note_column("query id"), of(&FoundWeight::query_id));
    list->file(note_column("key id"), of(&FoundWeight::key_id));
  }
  list->text("context", 4, [&found](int row) { return found.best[row].excerpt.text(); },
             {.file = note_column("context"),
              .color = c.theme->text_muted,
              .least = 9 * c.font_size,
              .most = 34 * c.font_size})
      .cut_at_start = true;  // the query is its last token
  list->mark([&](int row) {
    const FoundWeight& one = found.best[row];
    return c.selection == Selection{one.layer, one.head, one.query, one.key} &&
           is_shown_prompt(c, one.prompt);
  });
  return list;
}

/// Shows the place of a match without altering the search: the place shares the searched tokens with the
/// current selection, and if no key was selected, any key is searched.
ViewActions go_to(const ViewContext& c, const FoundWeights& found, int row) {
  const FoundWeight& one = found.best[row];
  ViewActions actions = show_place(c, one.prompt, {one.layer, one.head, one.query, one.key});
  if (c.selection.key < 0 && !is_for_shapes(c.options))
    actions.emplace_back(SetOption{&kKeys, static_cast<int>(Like::any)});
  return actions;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (c.run) it.message = refuse(c);
  if (!c.run || !it.message.empty()) return;
  const auto answer = it.need(WeightsOf{search_of(c), chosen_text(c)});
  if (!answer) return;
  const FoundWeights& found = *it.keep(answer);
  it.title = is_for_shapes(c.options)
                 ? "Heads with this shape"
                 : "Weights from " + condition_of(c, false).words + " to " + condition_of(c, true).words;
  it.subtitle = grouped(found.count) + " above " + plain(c.options[kAbove]) +
                found_words(c, found.best.size(), found.count, found.progress);
  if (c.options[kHeads] == Heads::chosen)
    it.subtitle += "; " + head_name(c.selection.layer, c.selection.head);
  auto list = list_of(c, found);
  list->on_click = [&found](const ViewContext& now, int row) { return go_to(now, found, row); };
  list->row_facts = [&](Facts& facts, int row) {
    const FoundWeights::Match& one = found.best[row];
    const Excerpt& excerpt = one.excerpt;
    facts.say(head_name(one.layer, one.head) + ", query " + std::to_string(one.query) + " “" +
              excerpt.labels.back() + "” → key " + std::to_string(one.key) + " “" + excerpt.key + "”");
    facts.say(excerpt.text());
    add_place_of_list(facts, c, one.prompt, "Go to this cell", go_to(c, found, row));
  };
  it.table = [&c, &found, &rows = *list] {
    Table result = rows.exported(is_for_shapes(c.options) ? "share" : "weight");
    result.fact("found", found.count);
    return result;
  };
  const std::size_t prompts = uses_list(c) ? c.prompts->prompts.size() : 0;  // as the answer counts them
  const bool nothing = found.best.empty() && found.progress.done == prompts;
  const char* none = "nothing is above the threshold: lower it or choose other tokens";
  it.body = rows(
      boxes(std::move(list), notes({nothing ? none : "Query 0 is left out where it sees only itself."})));
}

View view() {
  View view =
      make_view("search", "Search", declare,
                "which heads attend from tokens like the query to tokens like the key, or in a marked shape");
  view.options = {&kTextOf, &kTarget, &kQueries, &kKeys, &kHeads, &kAbove, &kShape, &kMoves, &kRows.first};
  view.shows_parts = true;
  view.refuse = refuse;
  view.needs = Capability::patterns;
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kShape || is_for_shapes(c.options);
  };
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::search
