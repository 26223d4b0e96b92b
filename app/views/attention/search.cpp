#include "app/run/analyses/search.h"
#include "app/run/sources/pattern_file.h"
#include "app/views/parts/parts.h"

namespace headscope::app::search {

enum Role { kRow };  // Region::id: index of a match
enum class Target { weights, shape };
enum class QueryChoice { token, position, any };
enum class KeyChoice { token, position, before, any, later };
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
const Option<QueryChoice> kQueries = choice_option<QueryChoice>(
    "search-from", "Queries", "qQ", "which queries",
    {{"token", "From token", "The chosen query's token at any position, with or without a leading space"},
     {"position", "From position",
      "The chosen query's position; in a list by default each prompt's last one"},
     {"any", "From any", "All queries but the first, which sees only itself"}},
    {.applies = is_for_weights});
const Option<KeyChoice> kKeys = choice_option<KeyChoice>(
    "search-to", "Keys", "oO", "which keys (all if no key is chosen)",
    {{"token", "To token", "The chosen key's token at any position, with or without a leading space"},
     {"position", "To position", "The chosen key's position"},
     {"before", "At distance", "At the chosen key's distance before the query"},
     {"any", "To any", "All keys that the query sees"},
     {"later", "To later", "All keys but key 0, where many GPT-2 heads rest"}},
    {.applies = is_for_weights});
const Option<Heads> kHeads = choice_option<Heads>(
    "search-heads", "Heads", "hH", "which heads",
    {{"all", "All heads", "All heads of all layers"}, {"chosen", "Chosen head", "Only the chosen head"}});
const Option<double> kAbove =
    number_option("search-above", "Above", "eE",
                  "only weights larger than this; for shapes, only larger shares of the attention", 0.3, 0, 1,
                  {.steps = {0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}});
const Option<bool> kMoves =
    switch_option("shape-anywhere", "Anywhere", "wW",
                  "match the shape anywhere along the diagonal, not only where it was marked", true,
                  {.applies = is_for_shapes});
const Option<int> kFirstRow = first_row_option("first-found");
const Option<int> kChosenRow = gesture_option(
    "chosen-found", "Chosen", "the row of the list that was opened last", -1, -1, 1 << 24, "none");

bool of_shape(const ViewContext& c) {
  return is_for_shapes(c.options);
}

/// A condition on tokens, and what it is called.
struct Condition {
  TokenSelector selector;
  std::string words;
};

/// The text of a position's token without its leading space, so that both spellings are found. The tokens of
/// attention files have labels alone. `tokens`: those of the queries, or of the keys.
Condition same_word(const ViewContext& c, const PromptTokens& tokens, int position) {
  const bool labels = c.run->model->patterns != nullptr;
  const std::string_view space = labels ? "·" : " ";
  std::string text =
      labels ? tokens.labels[position] : c.run->model->tokenizer->text(c.run->run->tokens[position]);
  if (text.size() > space.size() && text.starts_with(space)) text.erase(0, space.size());
  const std::string words = "“" + viz::visible(text) + "”, “·" + viz::visible(text) + "”";
  return {{TokenSelector::Kind::text, std::move(text), 0}, words};
}

Condition at_position(int position) {
  return {{TokenSelector::Kind::position, "", position}, "position " + std::to_string(position)};
}

/// An empty prompt has no token that could be a query.
Condition queries_of(const ViewContext& c) {
  const QueryChoice from = c.options[kQueries];
  if (c.run->tokens.was_empty || from == QueryChoice::any) return {{}, "any query"};
  if (from == QueryChoice::token) return same_word(c, c.run->tokens, c.selection.query);
  if (uses_list(c) && c.chosen_query < 0) return {{TokenSelector::Kind::from_end, "", 1}, "the end"};
  return at_position(c.selection.query);
}

Condition keys_of(const ViewContext& c) {
  const KeyChoice to = c.options[kKeys];
  const int key = c.selection.key, before = c.selection.query - key;
  if (to == KeyChoice::later) return {{TokenSelector::Kind::from_position, "", 1}, "positions from 1 on"};
  if (to == KeyChoice::any) return {{}, "any key"};
  if (key < 0) return {{}, c.printed ? "any key" : "any key (none is chosen)"};
  if (to == KeyChoice::token) return same_word(c, key_tokens(*c.run), key);
  if (to == KeyChoice::position) return at_position(key);
  const std::string distance = std::to_string(std::abs(before)) + (before < 0 ? " after" : " before");
  return {{TokenSelector::Kind::before_query, "", before}, before == 0 ? "itself" : distance};
}

WeightSearch search_of(const ViewContext& c) {
  WeightSearch search;
  search.above = c.options[kAbove];
  if (c.options[kHeads] == Heads::chosen) search.heads = {{c.selection.layer, c.selection.head}};
  if (of_shape(c)) {
    for (const int cell : c.options[kShape]) {
      const auto [query, key] = head_of_number(cell);
      search.shape.push_back({query, key});
    }
    search.moves = c.options[kMoves];
  } else {
    search.from = queries_of(c).selector;
    search.to = keys_of(c).selector;
  }
  return search;
}

/// The reason why there is no question; empty: there is one.
std::string refuse(const ViewContext& c) {
  if (of_shape(c) && c.options[kShape].empty())
    return "no shape is marked: set Mouse to Mark in the Heatmap view and drag over cells";
  if (uses_list(c) && c.run && c.run->model->patterns)
    return "a list of prompts needs a model that runs them; an attention file holds one run";
  return "";
}

std::string subtitle_of(const ViewContext& c, const FoundWeights& found) {
  std::string words = grouped(found.count) + " above " + plain(c.options[kAbove]) +
                      found_words(c, found.best.size(), found.count, found.progress) + "; " +
                      (c.options[kHeads] == Heads::chosen ? head_name(c.selection.layer, c.selection.head)
                                                          : std::string("all heads"));
  if (of_shape(c))
    words += "; " + counted(std::ssize(c.options[kShape]), "cell") + (c.options[kMoves] ? " anywhere" : "");
  return words;
}

/// The tokens of a match. Those of attention files have labels, but no ids.
std::string query_of(const ViewContext& c, const FoundWeight& one) {
  return c.run->model->patterns ? c.run->tokens.labels[one.query] : label_of(c, one.query_id);
}
std::string key_of(const ViewContext& c, const FoundWeight& one) {
  return c.run->model->patterns ? key_tokens(*c.run).labels[one.key] : label_of(c, one.key_id);
}

/// The selected row; among several rows of one place, the clicked one.
int chosen_row(const ViewContext& c, const FoundWeights& found) {
  const auto is_chosen = [&](const FoundWeight& one) {
    return c.selection == Selection{one.layer, one.head, one.query, one.key} &&
           is_shown_prompt(c, one.prompt);
  };
  const int clicked = c.options[kChosenRow];
  if (clicked >= 0 && clicked < std::ssize(found.best) && is_chosen(found.best[clicked])) return clicked;
  const auto first = std::ranges::find_if(found.best, is_chosen);
  return first == found.best.end() ? -1 : static_cast<int>(first - found.best.begin());
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "matches"};

std::unique_ptr<List> list_of(const ViewContext& c, const FoundWeights& found) {
  const viz::Theme& theme = *c.theme;
  const auto of = [&found](auto field) {
    return [&found, field](int row) { return found.best[row].*field; };
  };
  auto made = std::make_unique<List>(c, kRows, static_cast<int>(found.best.size()));
  List& list = *made;
  list.text("head", 8, [&](int row) { return head_label(c, found.best[row].layer, found.best[row].head); });
  list.bar(of_shape(c) ? "in the shape" : "weight", 9, of(&FoundWeight::weight),
           {.file = of_shape(c) ? "share" : "weight",
            .digits = 4,
            .low = 0,
            .high = 1,
            .axis = true,
            .most = 9 * c.font_size});
  const auto position = [&](const char* heading, int importance, int FoundWeight::*field, const char* file) {
    list.number(heading, importance, of(field),
                {.file = key_column(file), .color = theme.text_muted, .digits = 0});
  };
  if (uses_list(c)) position("prompt", 6, &FoundWeight::prompt, "prompt");
  list.file(key_column("layer"), of(&FoundWeight::layer));
  list.file(key_column("head"), of(&FoundWeight::head));
  position("", 3, &FoundWeight::query, "query");
  list.text("query", 7, [&](int row) { return query_of(c, found.best[row]); },
            {.file = note_column("query token"), .heading = theme.query});
  position("", 2, &FoundWeight::key, "key");
  list.text("key", 5, [&](int row) { return key_of(c, found.best[row]); },
            {.file = note_column("key token"), .heading = theme.key});
  if (!c.run->model->patterns) {
    list.file(note_column("query id"), of(&FoundWeight::query_id));
    list.file(note_column("key id"), of(&FoundWeight::key_id));
  }
  list.text("context", 4, [&found](int row) { return found.excerpts[row].text(); },
            {.file = note_column("context"),
             .color = theme.text_muted,
             .least = 9 * c.font_size,
             .most = 34 * c.font_size})
      .cut_at_start = true;  // the query is its last token
  list.table.marked = chosen_row(c, found);
  return made;
}

/// Shows the place of a match without altering the search: the place shares the searched tokens with the
/// current selection, and if no key was selected, any key is searched.
ViewActions go_to(const ViewContext& c, const FoundWeights& found, int row) {
  const FoundWeight& one = found.best[row];
  ViewActions actions = show_place(c, one.prompt, {one.layer, one.head, one.query, one.key});
  if (c.selection.key < 0 && !of_shape(c))
    actions.emplace_back(SetOption{&kKeys, static_cast<int>(KeyChoice::any)});
  actions.emplace_back(SetOption{&kChosenRow, row});
  return actions;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (c.run) it.message = refuse(c);
  if (!c.run || !it.message.empty()) return;
  const auto answer = uses_list(c) ? it.need(WeightsOverList{over_list(c), search_of(c)})
                                   : it.need(WeightsOfRun{search_of(c)});
  if (!answer) return;
  const FoundWeights& found = *it.keep(answer);
  it.title = of_shape(c) ? "Heads with this shape"
                         : "Weights from " + queries_of(c).words + " to " + keys_of(c).words;
  it.subtitle = subtitle_of(c, found);
  auto list = list_of(c, found);
  list->on_click = [&found](const ViewContext& now, int row) { return go_to(now, found, row); };
  list->row_facts = [&](Facts& facts, int row) {
    const FoundWeight& one = found.best[row];
    facts.say(head_name(one.layer, one.head));
    facts.say("query " + std::to_string(one.query) + " “" + query_of(c, one) + "” → key " +
              std::to_string(one.key) + " “" + key_of(c, one) + "”");
    facts.say(found.excerpts[row].text());
    add_place_of_list(facts, c, one.prompt, "Go to this cell", go_to(c, found, row));
  };
  it.table = [&c, &found, &rows = *list] {
    Table result = rows.exported();
    result.ranked_by = of_shape(c) ? "share" : "weight";
    result.fact("found", found.count);
    return result;
  };
  const std::size_t prompts = uses_list(c) ? c.prompts->prompts.size() : 0;  // as the answer counts them
  const bool nothing = found.best.empty() && found.progress.done == prompts;
  it.body = rows(boxes(std::move(list),
                       notes({nothing ? "nothing found: lower the threshold or choose other tokens" : ""})));
}

View view() {
  View view =
      make_view("search", "Search", declare,
                "which heads attend from tokens like the query to tokens like the key, or in a marked shape");
  view.options = {&kTextOf, &kTarget, &kQueries, &kKeys,     &kHeads,
                  &kAbove,  &kShape,  &kMoves,   &kFirstRow, &kChosenRow};
  view.shows_parts = true;
  view.refuse = refuse;
  view.needs = Capability::patterns;
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kChosenRow && (&option != &kShape || of_shape(c));
  };
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::search
