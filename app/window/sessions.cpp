#include "app/window/sessions.h"

#include <algorithm>
#include <tuple>

#include "app/run/answers.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/parts/list_means.h"
#include "model/files/error.h"
#include "system/atomic_file.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// `patches`: include those from the second model.
std::vector<std::string> written_edits(const EditList& list, bool patches) {
  std::vector<std::string> words;
  for (const ListedEdit& listed : list.edits)
    if (patches || !model::patches_from_second(listed.edit))
      words.push_back((listed.on ? "" : std::string(kOff)) + edit_text(listed.edit));
  return words;
}

/// The id of the tab with this id; empty: there is none.
std::string tab_id(const std::string& name) {
  const View* view = find_view(name);
  return view != nullptr && view->place == Place::tab ? std::string(view->id) : "";
}

void show_tabs(UiState& state, const Session& s, bool second_view) {
  if (std::string view = tab_id(s.view); !view.empty()) state.view = std::move(view);
  if (second_view) state.second_view = tab_id(s.second_view);
  if (state.second_view == state.view) state.second_view.clear();
}

void show_look(UiState& state, const Session& s) {
  static_cast<WindowLook&>(state) = s;
  state.font_size = within_limits(s.font_size);
}

}  // namespace

const LoadedModel* named_second(const Session& session, const Snapshot& snapshot) {
  if (!snapshot.run || !snapshot.run->baseline) return nullptr;
  const LoadedModel& second = *snapshot.run->baseline->model;
  const bool is_named = second.patterns
                            ? session.second_attention == system::text_of(second.folder.filename())
                            : compares_models(*snapshot.run) && session.second_model == second.name;
  return is_named ? &second : nullptr;
}

Session kept_part(const UiState& state) {
  Session s;
  static_cast<WindowLook&>(s) = state;
  const auto& before = state.tour.before;
  const Document& document = before ? before->document : state;
  const ViewState& shown = before ? before->view_state : state;
  for (const OptionSpec* option : all_options())
    if (option->kept) s.options.set(*option, (before ? before->options : state.options).value(*option));
  s.view = shown.view, s.second_view = shown.second_view;
  s.selection = shown.selection;
  s.prompt = Prompt{document.prompt.edit.text, {}, document.start_token};
  return s;
}

void show_kept_part(UiState& state, const Session& s) {
  state.options = s.options;
  show_tabs(state, s, true);
  show_look(state, s);
}

Session session_of(const UiState& state, const Snapshot& snapshot) {
  Session s;
  static_cast<WindowLook&>(s) = state;
  s.view = state.view, s.second_view = state.second_view;
  s.options = state.options;
  s.selection = state.selection;
  s.model = snapshot.model ? snapshot.model->name : model_name(state.model);
  const bool patterns = snapshot.model && snapshot.model->patterns;  // attention without a prompt
  const std::string& second = state.second.text.edit.text;
  if (patterns) {  // a session holds no paths
    s.attention = system::text_of(snapshot.model->folder.filename());
    const std::string other = system::text_of(system::path_of(second).filename());
    if (state.second.is_file && system::is_file_name(other)) s.second_attention = other;
  } else {
    if (snapshot.model) s.precision = snapshot.model->transformer->report().precision;
    s.adds_start_token = snapshot.model && has_start_token(*snapshot.model, std::nullopt);
    s.prompt = prompt_without_edits(state);
    s.edits = written_edits(state.edits, true);
    if (!state.second.is_file && (state.second.on || !second.empty())) s.second = second;
    const std::filesystem::path& other = state.second.model;
    const auto& loaded = snapshot.second_model;
    if (!other.empty()) s.second_model = loaded && loaded->folder == other ? loaded->name : model_name(other);
  }
  if (s.second || !s.second_attention.empty())
    s.second_on = state.second.on, s.alignment = state.second.alignment;
  s.side = state.side;
  if (patterns && snapshot.run) s.selection = clamped(s.selection, *snapshot.run);
  s.tries = *state.tries;
  if (state.prompts) s.prompts = *state.prompts;
  return s;
}

bool add_weights(Session& session, const Snapshot& snapshot, Answers& answers) {
  const auto hash = [&](const Question& question, std::string& weights) {
    const auto known = answers.ask(question);
    if (!known) return false;
    if (known->value) weights = *std::static_pointer_cast<const std::string>(known->value);
    return true;
  };
  const bool own = hash(HashOfWeights{}, session.weights);
  if (!named_second(session, snapshot)) return own;
  return hash(Question(HashOfWeights{}).on_baseline(), session.second_weights) && own;
}

Recipe recipe_of(const ExportForm& form, const View* view, const UiState& state, const Snapshot& snapshot,
                 const Figure& page) {
  Recipe recipe{session_of(state, snapshot), page};
  Session& s = recipe.session;
  s.dark = form.dark;
  if (view != nullptr && form.target != Target::screen) s.font_size = spec_of(form.target).font_size;
  if (view == nullptr) {
    const auto needs_list = [&](const View* shown) { return shown->needs_list(s.options); };
    if (std::ranges::none_of(shown_tabs(state), needs_list)) s.prompts.reset();
    return recipe;
  }
  const bool patched = snapshot.run && snapshot.run->second_model;
  s.second_model = patched ? snapshot.run->second_model->name : "";  // not one that is still loading
  if (s.attention.empty()) s.edits = written_edits(state.edits, patched);
  s = figure_part(std::move(s), *view);
  return recipe;
}

void set_prompts(UiState& state, std::shared_ptr<const PromptList> prompts) {
  state.prompts = std::move(prompts);
  for (const View* view : tabs()) {
    if (state.prompts) {
      if (view->over_list.option && !can_show_means(*view))
        state.options.set(*view->over_list.option, view->over_list.value);
      continue;
    }
    for (const auto* of_list : {&view->over_list, &view->list_mean})
      if (of_list->is_in(state.options)) state.options.set(*of_list->option, of_list->option->default_value);
  }
}

void show_comparison(UiState& state, const Session& s, const std::filesystem::path& second) {
  SecondPrompt& to = state.second;
  to.is_file = !s.attention.empty();
  to.on = s.second_on && (to.is_file ? !second.empty() : s.second.has_value());
  to.text.edit = make_text_state(to.is_file ? system::text_of(second) : s.second.value_or(""));
  to.alignment = s.alignment;
  to.model = to.is_file ? "" : second;
  state.side = s.side;
}

void show_session(UiState& state, const OpenSession& opened) {
  const Recipe& recipe = opened.recipe;
  const Session& s = recipe.session;
  state.playing = nullptr;
  state.options = s.options;
  state.selection = s.selection;
  show_comparison(state, s, opened.second.value_or(""));
  if (s.prompts || !recipe.figure)
    state.prompts = s.prompts ? std::make_shared<const PromptList>(*s.prompts) : nullptr;
  if (s.attention.empty()) state.edits = {};
  state.edits_bar.problem.clear();
  show_tabs(state, s, !recipe.figure || recipe.figure->window);
  if (!recipe.figure) show_look(state, s);
  state.pending_session = s;
}

OpenSession read_session(const std::filesystem::path& file, const std::vector<DiscoveredModel>& found,
                         const std::vector<std::filesystem::path>& known, bool has_model) {
  OpenSession open{.recipe = read_recipe(file), .file = file};
  const Session& s = open.recipe.session;
  std::vector<std::filesystem::path> places{file.parent_path()};
  std::vector<DiscoveredModel> models;
  for (const std::filesystem::path& path : known)
    if (may_hold_patterns(path))
      places.push_back(path);
    else
      models.push_back({model_name(path), path});
  models.insert(models.end(), found.begin(), found.end());
  if (s.attention.empty()) {
    open.model = model_named(s.model, models);
    if (!open.model && !has_model)
      throw model::LoadError(system::text_of(file) + ": it was made with the model " + model::quote(s.model) +
                             ", which was not found; open another model first to use in its place");
    if (!s.second_model.empty()) open.second = model_named(s.second_model, models);
    return open;
  }
  open.model = attention_named(s.attention, s.weights, places);
  if (!open.model)
    throw model::LoadError(system::text_of(file) + ": it was made from the attention patterns in " +
                           model::quote(s.attention) +
                           ", found neither next to it nor among the recent files; open that file first");
  places.insert(places.begin(), open.model->parent_path());
  if (!s.second_attention.empty())
    open.second = attention_named(s.second_attention, s.second_weights, places);
  return open;
}

std::string weights_warning(const OpenSession& opened) {
  const Session& s = opened.recipe.session;
  const bool patterns = !s.attention.empty();
  for (const auto& [path, name, weights] :
       {std::tuple(opened.model, patterns ? s.attention : s.model, s.weights),
        {opened.second, patterns ? s.second_attention : s.second_model, s.second_weights}})
    try {
      if (path && !weights.empty() && weights_hash(*path) != weights)
        return model::quote(name) + " has different weights now: the numbers will differ.";
    } catch (const model::LoadError&) {  // loading it says why
    }
  return "";
}

bool is_open(const std::filesystem::path& model, const Snapshot& snapshot) {
  return snapshot.model && (snapshot.model->folder == model || snapshot.model->folder == model.parent_path());
}

}  // namespace headscope::app
