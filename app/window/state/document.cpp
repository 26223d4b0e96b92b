#include "app/window/state/document.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "app/run/edits/edit_text.h"
#include "app/views/output/continuation.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/selected.h"
#include "app/window/sessions.h"
#include "app/window/state.h"
#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using Run = std::shared_ptr<const PromptRun>;

/// Whether a run (null: the shown one) is of the current model and prompt.
bool is_shown_run(const UiState& s, const Run& run, const Snapshot& snapshot) {
  const Run& now = snapshot.run;
  return now && (!run || run == now) && now->model == snapshot.model && now->prompt == prompt_of(s);
}

bool is_other_of_these_tokens(const UiState& s, const Run& run, const Snapshot& snapshot) {
  return run && is_shown_run(s, nullptr, snapshot) && run == snapshot.run->baseline &&
         compares_one_prompt(*snapshot.run);
}

/// Whether a run is of the current second prompt.
bool is_second_prompt(const UiState& s, const Run& run, const Snapshot& snapshot) {
  return run && snapshot.run && run == snapshot.run->baseline && s.second.on && !s.second.is_file &&
         run->prompt.text == s.second.text.edit.text;
}

static_assert(kMaxText == Prompt::kMaxBytes);

/// Appends a token to the second prompt, which is only text.
void continue_second(UiState& s, const AppendToken& a) {
  TextState& edit = s.second.text.edit;
  const model::Tokenizer& tokenizer = *a.of->model->tokenizer;
  std::string bytes(tokenizer.bytes(a.id));
  if (bytes.empty()) {
    s.generation.running = false;
    s.message = {"The second prompt is a text, and the token " + token_label(tokenizer, a.id) + " has none.",
                 true};
    return;
  }
  const std::size_t kept = a.after < 0 ? edit.text.size() : a.of->tokens.tokens.at(a.after).end;
  if (kept + bytes.size() > kMaxText) return refuse_text(s);
  const TextCommand command = a.after < 0 ? TextCommand(Append{std::move(bytes), s.generation.running})
                                          : TextCommand(Replace{edit.text.substr(0, kept) + bytes});
  edit = apply(std::move(edit), command);
  scroll_to_start(s);
}

/// All the prompt's tokens, including those beyond n_ctx; nothing if it cannot be tokenized.
std::optional<std::vector<model::Token>> all_tokens(const UiState& s, const Snapshot& snapshot) {
  if (!snapshot.model || snapshot.model->patterns) return std::nullopt;
  try {
    return tokenize(*snapshot.model, prompt_without_edits(s)).tokens;
  } catch (const model::RunError&) {  // the worker reports the error
    return std::nullopt;
  }
}

std::vector<int> ids_of(std::span<const model::Token> tokens) {
  std::vector<int> ids;
  for (const model::Token& token : tokens) ids.push_back(token.id);
  return ids;
}

/// Replaces the prompt's tokens `before` by `ids`, which include the start token if there is one. The prompt
/// becomes text if that has the same tokens. `appended`: the new token joins the last ones in one undo step.
void replace_tokens(UiState& s, std::span<const model::Token> before, std::span<const int> ids,
                    std::span<const double> probabilities, bool appended, ReduceContext& w) {
  const Snapshot& snapshot = w.snapshot;
  w.is_no_visit = true;
  const std::string& text = s.prompt.edit.text;
  if (text.empty() && s.ids.empty()) s.start_token = true;  // the text follows the start token
  const std::span<const int> own = ids.subspan(s.start_token && !ids.empty() ? 1 : 0);
  std::size_t same = 0;  // these keep their text
  while (same < std::min(before.size(), ids.size()) && before[same].id == ids[same]) ++same;
  std::string becomes =
      text.substr(0, same > 0 ? before[same - 1].end : 0) +
      snapshot.model->tokenizer->decode(ids.subspan(std::max(same, ids.size() - own.size())));
  if (becomes.size() > kMaxText) return refuse_text(s);
  // Built before `text` is moved, since the order of evaluation in a call is unspecified.
  const TextCommand command = becomes.starts_with(text)
                                  ? TextCommand(Append{becomes.substr(text.size()), appended})
                                  : TextCommand(Replace{std::move(becomes)});
  s.prompt.edit = apply(std::move(s.prompt.edit), command);
  s.ids.clear();
  const auto as_text = all_tokens(s, snapshot);
  if (!as_text || !std::ranges::equal(*as_text, ids, {}, &model::Token::id)) {
    s.ids.assign(own.begin(), own.end());
    if (std::string text_of_ids = snapshot.model->tokenizer->decode(own); text_of_ids != s.prompt.edit.text)
      s.prompt.edit = apply(std::move(s.prompt.edit), Replace{std::move(text_of_ids)});
  }
  const int most = snapshot.model->config().n_ctx;
  if (!s.edits.active().empty()) probabilities = {};  // those of an edited model are not kept
  if (std::ssize(before) <= most && std::ssize(ids) <= most)
    s.tries = std::make_shared<const Tries>(with_step(*s.tries, ids_of(before), ids, probabilities));
  s.selection.query = -1;
  scroll_to_start(s);
}

/// Shows a view that can show a list of prompts, unless one is shown already.
void show_prompt_list_view(UiState& state) {
  // Any view has means, but lists are opened for those whose tokens their lines name.
  const auto shows_means = [](const View* view) {
    return can_show_means(*view) && std::ranges::any_of(view->options, [&](const OptionSpec* option) {
             return token_place(*view, *option) >= 0;
           });
  };
  const auto takes_prompt_list = [&](const View* view) {
    return view->list_mean.is_in(state.options) || shows_means(view) ||
           (view->over_list.option != nullptr && !can_show_means(*view));
  };
  if (std::ranges::none_of(shown_tabs(state), takes_prompt_list)) {
    // Pairs are for patching; other lists show first what they are searched for.
    const bool pairs = state.prompts && all_have_second(*state.prompts);
    const auto first = std::ranges::find_if(tabs(), [&](const View* view) {
      return takes_prompt_list(view) && (!pairs || view->with_second.option != nullptr);
    });
    if (first != tabs().end()) state.view = (*first)->id;
  }
  if (state.prompts && std::ranges::any_of(shown_tabs(state), shows_means))
    state.options.set(kMeanOverList, true);
}

void count_generated(Generation& generation) {
  if (generation.running && ++generation.token_count >= Generation::kMax) generation.running = false;
}

/// Replaces the edits if the model supports the list; otherwise sets the problem and leaves them alone.
void replace_if_supported(UiState& s, EditList list, const Snapshot& snapshot) {
  try {
    require_few(list.edits.size());
    if (snapshot.model) require(*snapshot.model, Capability::weights);
    if (snapshot.model)
      for (const ListedEdit& listed : list.edits) check(snapshot.model->config(), listed.edit);
  } catch (const model::RunError& e) {
    s.edits_bar.open = true;
    s.edits_bar.problem = e.what();
    return;
  }
  s.edits_bar.problem.clear();
  if (!has_comparison(s)) s.side = Side::run;  // a first edit is seen, whatever an earlier one showed
  s.edits = std::move(list);
}

/// All that is brushed in one drag is one step.
void brush(UiState& s, EditList list, ReduceContext& w) {
  if (list == s.edits) return;
  replace_if_supported(s, std::move(list), w.snapshot);
  if (s.edits_bar.problem.empty()) w.extends_step = std::exchange(s.edits_bar.dragging, true);
}

}  // namespace

void prompt_changed(UiState& s) {
  s.generation.running = false;
  scroll_to_start(s);
  s.ids.clear();
}

void refuse_text(UiState& s) {
  s.generation.running = false;
  s.message = {"Not inserted: this field holds at most " + std::to_string(kMaxText) + " bytes.", true};
}

Prompt prompt_without_edits(const Document& document) {
  return {document.prompt.edit.text, document.ids, document.start_token};
}

void replace_prompt(UiState& s, const Prompt& prompt, ReduceContext& w) {
  if (prompt.text.size() > kMaxText) return refuse_text(s);
  if (prompt.text != s.prompt.edit.text) {
    w.is_other_text = true;
    s.prompt.edit = apply(std::move(s.prompt.edit), Replace{prompt.text});
  }
  prompt_changed(s);
  s.ids = prompt.ids;
  s.start_token = prompt.start_token.value_or(s.start_token);
  for (const OptionSpec* option : all_options())
    if (option->of_prompt) s.options.set(*option, option->default_value);
}

void reduce(UiState& s, const TypeInField& a, ReduceContext& w) {
  TextField& field = field_of(s, a.field);
  const auto* insert = std::get_if<Insert>(&a.command);
  const TextState before = field.edit;
  if (insert && before.text.size() - before.selection().size() + insert->bytes.size() > kMaxText)
    return refuse_text(s);
  const bool all_selected = !before.text.empty() && before.selected().size() == before.text.size();
  field.edit = apply(std::move(field.edit), a.command);
  if (field.edit.text == before.text) return;  // the caret has moved
  w.is_no_visit = true;
  field_changed(s, a.field);
  if (a.field == Field::second) return;
  if (a.field != Field::prompt)
    return field.history.add(before, field.edit.extends_change,
                             [](const TextState& text) { return text.text.size(); });
  // Tokens that were chosen in one prompt say nothing about a wholly new one.
  if (all_selected || field.edit.text.empty()) s.selection.query = s.selection.key = -1;
}

void field_changed(UiState& s, Field field) {
  if (field == Field::prompt) prompt_changed(s);
  if (field == Field::second) s.generation.running = false;
  if (field == Field::option) set_typed_option(s);
  if (field == Field::palette) s.palette.chosen = 0;
  if (field == Field::edits) s.edits_bar.problem.clear();
  if (field == Field::session_path) clear_answer(s.save_form);
  if (field == Field::export_path || field == Field::export_size) clear_answer(s.export_form);
  if (field == Field::export_path) follow_extension(s.export_form);
}

Action scroll_field(Field field, float to) {
  return [=](UiState& s, ReduceContext&) { field_of(s, field).scroll = to; };
}

const TourStop* shown_example(const UiState& state) {
  const auto found = std::ranges::find(state.examples, state.prompt.edit.text, &TourStop::prompt);
  return found == state.examples.end() ? nullptr : &*found;
}

void select_waiting_example(UiState& s, const Snapshot& snapshot) {
  const TourStop* example = shown_example(s);
  if (std::exchange(s.example_waits, false) && example != nullptr && s.tour.tour < 0)
    select_stop(s, *example, snapshot);
}

void reduce(UiState& s, const ShowExample& a, ReduceContext& w) {
  const TourStop example = s.examples.at(static_cast<std::size_t>(a.index));
  if (s.tour.tour >= 0) reduce(s, CloseTour{}, w), s.message = {};  // its stop is about another view
  replace_prompt(s, {*example.prompt, {}, s.start_token}, w);
  select_stop(s, example, w.snapshot);
  s.example_waits = !w.snapshot.model;
  // An example is about the pattern of a head: a view that needs more than patterns shows something else.
  const View& now = *find_view(s.view);
  if (now.group != view_of(Part::attention)->group || !now.can_be_made_of(Capability::patterns))
    reduce(s, ShowPart{Part::attention}, w);
}

void reduce(UiState& s, const ShowPrompt& a, ReduceContext& w) {
  const auto& model = w.snapshot.model;
  if (!model || model->patterns) return;
  Prompt prompt = a.prompt;
  if (!prompt.ids.empty()) prompt.text = model->tokenizer->decode(prompt.ids);
  replace_prompt(s, prompt, w);
  s.selection = a.selection;  // its run may be pending
  if (s.side == Side::baseline) s.side = Side::run;
}

void reduce(UiState& s, const AppendToken& a, ReduceContext& w) {
  const Snapshot& snapshot = w.snapshot;
  if (is_second_prompt(s, a.of, snapshot)) {
    continue_second(s, a);
    return count_generated(s.generation);
  }
  const bool is_current_run = is_shown_run(s, a.of, snapshot);
  const bool is_current_text = is_current_run || is_other_of_these_tokens(s, a.of, snapshot);
  if (a.after >= 0 && !is_current_text) return;  // the guess is about a text that was replaced
  const auto before = all_tokens(s, snapshot);
  if (!before || (a.of && a.of->model != snapshot.model && !is_current_text)) return;
  std::vector<int> ids = ids_of(*before);
  if (a.after >= 0) ids.resize(std::min(ids.size(), static_cast<std::size_t>(a.after) + 1));
  ids.push_back(a.id);
  const double probability = is_current_run ? a.probability : std::numeric_limits<double>::quiet_NaN();
  replace_tokens(s, *before, ids, {&probability, 1}, s.generation.running, w);
  count_generated(s.generation);
}

void reduce(UiState& s, const SetTokens& a, ReduceContext& w) {
  const auto before = all_tokens(s, w.snapshot);
  const bool is_current_run = is_shown_run(s, a.of, w.snapshot);
  if (!before || !(is_current_run || is_other_of_these_tokens(s, a.of, w.snapshot))) return;
  s.generation.running = false;
  replace_tokens(s, *before, a.ids, is_current_run ? a.probabilities : std::vector<double>(), false, w);
}

void reduce(UiState& s, const SetStartToken& a, ReduceContext&) {
  s.start_token = a.on;
  s.start_token_chosen = true;
  s.selection.query = -1;
  scroll_to_start(s);
}

void reduce(UiState& s, const Generate& a, ReduceContext& w) {
  const auto& model = w.snapshot.model;
  if (a.on && model && model->patterns)
    return reduce(s, ShowMessage{missing(*model, Capability::weights)}, w);
  w.is_no_visit = true;
  Generation& g = s.generation;
  g.running = a.on;
  g.token_count = 0;
  if (!a.on) return;
  // Generating again from the same prompt: use the next seed to get another text.
  TextState& edit = continues_second(s) ? s.second.text.edit : s.prompt.edit;
  const Prompt from = continues_second(s) ? Prompt{edit.text, {}, s.start_token} : prompt_of(s);
  if (g.start_prompt == from && g.seed == s.options[kSeed]) s.options.set(kSeed, next_seed(g.seed));
  g.start_prompt = from;
  g.seed = s.options[kSeed];
  // Moves the caret, so that the generated text is an undo step of its own.
  edit = apply(std::move(edit), MoveTo{std::string::npos});
  s.selection.query = -1;
  scroll_to_start(s);
}

void reduce(UiState& s, const PromptsRead& a, ReduceContext&) {
  set_prompts(s, a.prompts);
  show_prompt_list_view(s);
  if (s.message.is_error) s.message = {};
}

void reduce(UiState& s, const SetSide& a, ReduceContext&) {
  if (a.side != s.side) s.generation.running = false;  // of the side that was shown
  s.side = a.side;
}

bool continues_second(const UiState& state) {
  return state.side == Side::baseline && state.second.on && !state.second.is_file;
}

void reduce(UiState& s, const CompareWith& a, ReduceContext& w) {
  const auto& model = w.snapshot.model;
  const bool files = model && model->patterns;
  if (a.on && !s.second.on) {
    TextState& edit = s.second.text.edit;
    if (edit.text.empty() || s.second.is_file != files)
      edit = make_text_state(files ? system::text_of(model->folder) : s.prompt.edit.text);
    edit = apply(std::move(edit), kSelectAll);  // typing replaces the text
  }
  if (a.on) s.second.is_file = files;
  if (s.second.on != a.on) s.side = Side::run;  // a comparison starts at the first prompt
  s.second.on = a.on;
  s.second.alignment = a.alignment;
}

void reduce(UiState& s, const CompareModel& a, ReduceContext& w) {
  const auto& model = w.snapshot.model;
  if (!a.folder.empty() && model && model->patterns) {
    s.message = {missing(*model, Capability::weights), true};
    return;
  }
  s.side = Side::run;
  s.second.model = a.folder;
  ++s.second_request;
}

bool has_comparison(const UiState& state) {
  return state.second.is_set() || !state.edits.active().empty();
}

void end_mixed_comparison(UiState& state, const Snapshot& snapshot) {
  const bool patterns = snapshot.model && snapshot.model->patterns;
  if (patterns) state.second.model.clear();
  if (state.second.is_file == patterns) return;
  if (std::exchange(state.second.on, false)) state.side = Side::run;
}

void reduce(UiState& s, const AddEdits& a, ReduceContext& w) {
  EditList list = s.edits;
  for (const model::Edit& edit : a.edits) list.edits.push_back({edit, true});
  replace_if_supported(s, std::move(list), w.snapshot);
}

void reduce(UiState& s, const ToggleEdit& a, ReduceContext& w) {
  const EditList& list = s.edits;
  replace_if_supported(s, has_edit(list, a.edit) ? without_edit(list, a.edit) : with_edit(list, a.edit),
                       w.snapshot);
}

void reduce(UiState& s, const SetPositionId& a, ReduceContext& w) {
  replace_if_supported(s, with_position_id(s.edits, a.position, a.id), w.snapshot);
}

void reduce(UiState& s, const SetVisibility& a, ReduceContext& w) {
  const int length = w.snapshot.run ? w.snapshot.run->run->length() : 0;
  if (a.query >= length || a.key >= length) return;
  brush(s, with_visibility(s.edits, {a.layer, a.head}, length, a.query, a.key, a.sees), w);
}

void reduce(UiState& s, const DragEdit& a, ReduceContext& w) {
  brush(s, with_joined_edit(s.edits, a.edit), w);
}

void reduce(UiState& s, const ListEdits& a, ReduceContext& w) {
  s.edits_bar.problem.clear();
  s.edits = a.list;
  w.extends_step = s.edits_bar.dragging && a.dragging;
  s.edits_bar.dragging = a.dragging;
}

void reduce(UiState& s, const TypeEdits&, ReduceContext& w) {
  const std::string& text = s.edits_bar.text.edit.text;
  if (!w.snapshot.model || text.empty()) return;
  try {
    reduce(s, AddEdits{parse_edits(text, *w.snapshot.model)}, w);
    if (s.edits_bar.problem.empty()) s.edits_bar.text = {};
  } catch (const model::RunError& e) {
    s.edits_bar.problem = e.what();
  }
}

void reduce(UiState& s, const ShowEdits& a, ReduceContext&) {
  s.edits_bar.open = a.open;
  s.edits_bar.problem.clear();
}

void move_with_tokens(UiState& s, const Prompt& before, const Snapshot& snapshot) {
  if (!snapshot.model || snapshot.model->patterns) return;
  std::vector<int> positions;
  const auto own_ids = [&](const Prompt& prompt) {
    const PromptRun* run = snapshot.run.get();
    const bool is_shown = run && run->model == snapshot.model && run->prompt.text == prompt.text &&
                          run->prompt.ids == prompt.ids && run->prompt.start_token == prompt.start_token;
    const PromptTokens tokens = is_shown ? run->tokens : tokenize(*snapshot.model, prompt);
    // The token that runs for an empty prompt is not part of the prompt.
    return tokens.was_empty ? std::vector<int>() : ids_of(tokens.tokens);
  };
  const Prompt now = prompt_without_edits(s);
  if (now == before) return;
  try {
    const auto starts = [](const Prompt& prompt) { return prompt.start_token.value_or(false); };
    positions = moved_positions(own_ids(before), own_ids(now), starts(before) && starts(now) ? 1 : 0);
  } catch (const model::RunError&) {  // the worker reports the error
    return;
  }
  const int n_ctx = snapshot.model->config().n_ctx;
  MovedEdits moved = moved_edits(s.edits, positions, n_ctx);
  if (moved.list == s.edits) return;
  if (s.tour.entered && s.tour.entered->document.edits == s.edits)
    s.tour.entered->document.edits = moved.list;
  s.edits = std::move(moved.list);
  if (moved.gone.empty()) return;
  std::string gone;
  for (const model::Edit& edit : moved.gone) gone += (gone.empty() ? "" : "; ") + edit_brief(edit);
  s.message = {"Edits of deleted tokens were removed: " + gone + ". Ctrl+Z restores them."};
}

}  // namespace headscope::app
