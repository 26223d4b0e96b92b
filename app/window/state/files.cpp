#include "app/window/state/files.h"

#include <algorithm>
#include <utility>

#include "app/counted.h"
#include "app/window/sessions.h"
#include "app/window/state.h"

namespace headscope::app {
namespace {

void open(UiState& s, const std::filesystem::path& folder) {
  s.model = folder;
  ++s.load_request;
  s.generation.running = false;
}

void finish(UiState& s, ReduceContext& w) {
  const std::string problem = finish_session(s, w.snapshot);
  if (!problem.empty())
    reduce(s, ShowMessage{"Some edits cannot be applied to this model: " + problem, true}, w);
}

}  // namespace

void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used) {
  if (used.empty()) return;
  const std::filesystem::path newest = (used / "").parent_path();  // without a slash at the end
  std::erase(recent, newest);
  recent.insert(recent.begin(), newest);
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

void reduce(UiState& s, const OpenModel& a, ReduceContext& w) {
  const bool as_second = s.dialog == Dialog::open && s.open_form.second;
  reduce(s, ShowDialog{Dialog::none}, w);
  if (as_second) return reduce(s, CompareModel{a.folder}, w);
  s.pending_session.reset();
  open(s, a.folder);
}

void reduce(UiState& s, const ModelOpened&, ReduceContext& w) {
  const LoadedModel& model = *w.snapshot.model;
  s.tries = std::make_shared<const Tries>();
  std::vector<int> ids = std::exchange(s.ids, {});      // they mean other tokens in another model
  if (s.prompt.edit.text.empty() && model.tokenizer) {  // the window was started with ids
    std::string text = model.tokenizer->decode(ids);
    if (text.size() > kMaxText)
      refuse_text(s);
    else
      s.prompt.edit = make_text_state(std::move(text)), s.ids = std::move(ids);
  }
  s.visits = {};  // they name heads of another model
  end_mixed_comparison(s, w.snapshot);
  s.edits_bar.problem.clear();
  w.is_no_step = true;
  if (model.patterns && !s.pending_session) {
    s.view = tab_of_attention(s.view);
    if (!s.second_view.empty() &&
        (tab_of_attention(s.second_view) != s.second_view || s.view == s.second_view))
      s.second_view.clear();
  }
  if (!model.patterns) {
    if (!s.start_token_chosen) s.start_token = has_start_token(model, std::nullopt);
    if (const int gone = remove_unsupported(s.edits, model.config()))
      reduce(s, ShowMessage{"Removed " + counted(gone, "edit") + " that this model does not support."}, w);
  }
  fit_history_to_model(s, w.snapshot);
  apply_stop_to_model(s, w.snapshot);
  select_waiting_example(s, w.snapshot);
  if (s.pending_session && is_open(s.model, w.snapshot)) finish(s, w);
  if (model.folder == s.examples_model) return;
  s.offer_models = false;
  remember(s.recent_models, model.folder);
  remember(s.recent_folders, shelf_of(model.folder));
}

void reduce(UiState& s, const ModelKept&, ReduceContext& w) {
  w.is_no_step = true;
  s.model = w.snapshot.model->folder;
  end_mixed_comparison(s, w.snapshot);
  if (s.pending_session) finish(s, w), s.session.clear();  // it belongs to another model
}

void reduce(UiState& s, const FetchEnded& a, ReduceContext& w) {
  s.fetching = {};
  if (!a.folder.empty()) return open(s, a.folder);  // an open dialog stays open
  if (!a.problem.empty()) return reduce(s, ShowMessage{a.problem, true}, w);
  reduce(
      s,
      ShowMessage{"Fetching was cancelled. The partial download is kept, and the next attempt resumes it."},
      w);
}

void reduce(UiState& s, const OpenSession& a, ReduceContext& w) {
  const Session& session = a.recipe.session;
  reduce(s, CloseTour{}, w);
  const bool attention = !session.attention.empty();
  if (!attention) replace_prompt(s, session.prompt, w), s.start_token_chosen = true;
  const bool loads = a.model && (*a.model != s.model || attention);
  if (loads) reduce(s, OpenModel{*a.model}, w);
  show_session(s, a);
  const bool is_own_file =
      !a.recipe.figure && std::ranges::count(s.kept_sessions, a.file, &KeptSession::file) == 0;
  s.session =
      is_own_file && a.model ? a.file : std::filesystem::path();  // saving must not overwrite another file
  if (is_own_file) remember(s.recent_sessions, a.file);
  if (!loads && is_open(s.model, w.snapshot)) finish(s, w);
  if (std::string warning = warning_of(a); !warning.empty())
    reduce(s, ShowMessage{std::move(warning), true}, w);
}

bool offers_models(const UiState& state, const Snapshot& snapshot) {
  return state.offer_models && state.can_fetch && !state.fetching.model && snapshot.model &&
         snapshot.model->folder == state.examples_model;
}

}  // namespace headscope::app
