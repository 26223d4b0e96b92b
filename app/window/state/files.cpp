#include "app/window/state/files.h"

#include <algorithm>
#include <utility>

#include "app/counted.h"
#include "app/window/sessions.h"
#include "app/window/state.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr const char* kFirstPage = "window";  // of the help

/// A file in the folder of the last export, whose name begins with the model's.
std::string suggested(const UiState& state, const Snapshot& snapshot, const std::string& rest) {
  std::string name = (snapshot.model ? snapshot.model->name : "headscope") + rest;
  std::ranges::replace(name, '/', '-');
  return system::text_of(state.export_folder / system::path_of(name));
}

/// "tales.headscope" in the folder of the last session, or of the last export.
std::string suggested_session(const UiState& state, const Snapshot& snapshot) {
  return state.session.empty() ? suggested(state, snapshot, std::string(kSessionExtension))
                               : system::text_of(state.session);
}

/// "tales-L1H2-heatmap.png" in the folder of the last export, or where the program was started.
std::string suggested_figure(const UiState& state, const Snapshot& snapshot) {
  const View* view = find_view(state.export_form.subject);
  std::string rest;
  if (view && view->caption.head)
    rest += "-L" + std::to_string(state.selection.layer) + "H" + std::to_string(state.selection.head);
  rest += "-" + (view ? std::string(view->id) : "window");
  return suggested(state, snapshot, rest.append(extension_of(state.export_form.kind)));
}

void open(UiState& s, const std::filesystem::path& folder) {
  s.model = folder;
  ++s.load_request;
  s.generation.running = false;
}

/// One sentence about what could not be restored of an opened session; empty: everything was.
std::string warning_of(const OpenSession& opened) {
  const Session& s = opened.recipe.session;
  if (!opened.model)
    return "It was made with the model " + model::quote(s.model) +
           ", which was not found; the current model is used instead.";
  const std::string second = !s.second_model.empty() ? s.second_model : s.second_on ? s.second_attention : "";
  if (!second.empty() && !opened.second)
    return "It is compared with " + model::quote(second) +
           ", which was not found; choose it again to compare.";
  if (opened.recipe.unknown.empty()) return "";
  return "It has the option " + model::quote(opened.recipe.unknown.front()) +
         ", which this version does not have; it was ignored.";
}

/// Restores the rest of a session once its model is loaded: ids, edits and tried tokens.
void finish_session(UiState& state, ReduceContext& w) {
  const Snapshot& snapshot = w.snapshot;
  const Session s = *std::exchange(state.pending_session, std::nullopt);
  state.selection = s.selection;
  if (!s.attention.empty()) return;
  std::string problem;
  EditList list;
  for (const std::string& text : s.edits) {
    const bool on = !text.starts_with(kOff);
    try {
      for (model::Edit& edit : parse_edits(text.substr(on ? 0 : kOff.size()), *snapshot.model))
        list.edits.push_back({std::move(edit), on});
    } catch (const model::RunError& e) {
      problem = e.what();
    }
  }
  state.edits = std::move(list);
  if (prompt_without_edits(state) == Prompt{s.prompt.text, {}, s.prompt.start_token})
    state.ids = s.prompt.ids;
  Tries tries = s.tries;
  const int vocabulary = snapshot.model->config().vocab_size;
  std::erase_if(tries, [&](const TriedText& tried) { return !tried.fits(vocabulary); });
  state.tries = std::make_shared<const Tries>(std::move(tries));
  if (!problem.empty())
    reduce(state, ShowMessage{"Some edits cannot be applied to this model: " + problem, true}, w);
}

/// Whether an edit patches from a prompt, or from a run that does.
bool names_tokens(const model::Edit& edit) {
  const auto* patch = std::get_if<model::PatchFrom>(&edit);
  return patch != nullptr && (!patch->tokens.empty() || std::ranges::any_of(patch->edits, names_tokens));
}

/// Removes edits that a model does not support, and patches from the previous model's tokens; returns how
/// many.
int remove_unsupported(EditList& list, const model::Config& config) {
  return static_cast<int>(std::erase_if(list.edits, [&](const ListedEdit& listed) {
    if (names_tokens(listed.edit)) return true;  // its ids mean other tokens now
    try {
      check(config, listed.edit);
      return false;
    } catch (const model::RunError&) {
      return true;
    }
  }));
}

/// Removes from the history, and from what comes back after a tour, what the model or attention file does not
/// support.
void fit_history_to_model(UiState& s, const Snapshot& snapshot) {
  const auto& model = snapshot.model;
  const auto fit = [&](Document& document) {
    document.ids.clear();  // ids mean other tokens in another model
    if (!s.start_token_chosen) document.start_token = s.start_token;
    if (model && model->patterns) {
      document.second.model.clear();  // an attention file is compared with none
    } else if (model) {
      remove_unsupported(document.edits, model->config());
    }
  };
  std::ranges::for_each(s.history.before, fit);
  std::ranges::for_each(s.history.after, fit);
  if (s.tour.before) fit(s.tour.before->document);
}

}  // namespace

void clear_answer(FileForm& form) {
  form.state = Writing::none;
  form.problem.clear();
}

void follow_extension(ExportForm& form) {
  const std::optional<FileFormat> typed = format_of(system::path_of(form.path.edit.text));
  const bool is_window = form.subject.empty();
  if (typed && (!is_window || *typed == FileFormat::png || *typed == FileFormat::pdf)) form.kind = *typed;
}

void reduce(UiState& s, const ShowDialog& a, ReduceContext& w) {
  if (a.dialog != Dialog::none && a.dialog == s.dialog && a.subject.empty()) return;  // already open
  s.dialog = a.dialog;
  ExportForm& form = s.export_form;
  form.state = s.save_form.state = Writing::none;
  if (a.dialog == Dialog::export_) {
    form.subject = a.subject.empty() ? s.view : a.subject;
    form.dark = s.dark && form.target == Target::screen;
    form.path = {make_text_state(suggested_figure(s, w.snapshot))};
    clear_answer(form);
  } else if (a.dialog == Dialog::save) {
    s.save_form = {};
    s.save_form.path.edit = make_text_state(suggested_session(s, w.snapshot));
  } else if (a.dialog == Dialog::help) {
    s.help_form.search = {};
    if (s.help_form.request == 0 && s.guide->find(kFirstPage)) s.help_form.page = kFirstPage;
  } else if (a.dialog == Dialog::palette) {
    s.palette = {};
  } else if (a.dialog == Dialog::open) {
    s.open_form.second = a.second;
    reduce(s, BrowseFolder{s.open_form.listing.folder}, w);
  }
}

void reduce(DialogSlice& s, const ShowGuide& a, ReduceContext&) {
  s.dialog = Dialog::help;
  s.help_form = {a.page, a.anchor, s.help_form.request + 1, {}};
}

void reduce(UiState& s, const SetExport& a, ReduceContext& w) {
  ExportForm& form = s.export_form;
  const bool renamed = form.path.edit.text != suggested_figure(s, w.snapshot);
  TextField path = std::move(form.path), size = std::move(form.size);
  const bool other_target = a.form.target != form.target;
  form = a.form;
  if (other_target) form.dark = s.dark && form.target == Target::screen;  // paper and slides are light
  form.path = std::move(path), form.size = std::move(size);
  if (form.subject.empty() && form.kind != FileFormat::pdf) form.kind = FileFormat::png;
  form.scale = std::clamp(form.scale, 1, kMaxExportScale);
  std::filesystem::path name =
      system::path_of(renamed ? form.path.edit.text : suggested_figure(s, w.snapshot));
  if (renamed) name.replace_extension(extension_of(form.kind));
  form.path = {make_text_state(system::text_of(name))};
  clear_answer(form);
}

void reduce(UiState& s, const WriteEnded& a, ReduceContext& w) {
  FileForm& form = a.session ? s.save_form : s.export_form;
  const bool is_open = s.dialog == (a.session ? Dialog::save : Dialog::export_);
  const bool was_sent = std::exchange(form.state, a.how) == Writing::writes;  // not a form opened since then
  form.problem = a.problem;
  if (a.how == Writing::failed && !is_open) reduce(s, ShowMessage{a.problem, true}, w);
  if (a.how == Writing::copied) reduce(s, ShowMessage{"Copied the picture."}, w);
  if (a.how != Writing::saved) return;
  remember(s.recent_folders, a.file.parent_path());
  if (a.session) {
    s.session = a.file;
    remember(s.recent_sessions, a.file);
  } else {
    s.export_folder = a.file.parent_path();
  }
  if (is_open && was_sent) s.dialog = Dialog::none;
  reduce(s, ShowMessage{"Saved " + system::text_of(a.file) + "."}, w);
}

std::optional<Action> opening(const UiState& state) {
  const OpenForm& form = state.open_form;
  const std::filesystem::path typed = system::path_of(form.path.edit.text);
  if (typed.empty()) return std::nullopt;  // nothing is listed yet
  if (const auto model = named_model(state)) return FetchModel{*model};
  if (form.path.edit.text == system::text_of(form.listing.folder))
    return form.listing.is_model ? std::optional<Action>(OpenModel{typed}) : std::nullopt;
  return kind_by_name(typed) || may_hold_tensors(typed) ? Action(OpenFile{typed}) : BrowseFolder{typed};
}

std::optional<HubModel> named_model(const UiState& state) {
  const std::string& text = state.open_form.path.edit.text;
  const std::filesystem::path path = system::path_of(text);
  const bool is_file = kind_by_name(path) || may_hold_tensors(path);
  return state.can_fetch && !state.fetching.model && !state.open_form.second && !is_file
             ? guess_hub_model(text)
             : std::nullopt;
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
    const std::string& second = s.second_view;
    if (second == s.view || (!second.empty() && tab_of_attention(second) != second)) s.second_view.clear();
  }
  if (!model.patterns) {
    if (!s.start_token_chosen) s.start_token = has_start_token(model, std::nullopt);
    if (const int gone = remove_unsupported(s.edits, model.config()))
      reduce(s, ShowMessage{"Removed " + counted(gone, "edit") + " that this model does not support."}, w);
  }
  fit_history_to_model(s, w.snapshot);
  apply_stop_to_model(s, w.snapshot);
  select_waiting_example(s, w.snapshot);
  if (s.pending_session && is_open(s.model, w.snapshot)) finish_session(s, w);
  if (model.folder == s.examples_model) return;
  s.offer_models = false;
  remember(s.recent_models, model.folder);
  remember(s.recent_folders, shelf_of(model.folder));
}

void reduce(UiState& s, const ModelKept&, ReduceContext& w) {
  w.is_no_step = true;
  s.model = w.snapshot.model->folder;
  end_mixed_comparison(s, w.snapshot);
  if (s.pending_session) finish_session(s, w), s.session.clear();  // it belongs to another model
}

void reduce(UiState& s, const FetchEnded& a, ReduceContext& w) {
  s.fetching = {};
  if (!a.folder.empty()) return open(s, a.folder);  // an open dialog stays open
  if (!a.problem.empty()) return reduce(s, ShowMessage{a.problem, true}, w);
  s.message = {"Fetching was cancelled. The partial download is kept, and the next attempt resumes it."};
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
  if (!loads && is_open(s.model, w.snapshot)) finish_session(s, w);
  if (std::string warning = warning_of(a); !warning.empty())
    reduce(s, ShowMessage{std::move(warning), true}, w);
}

}  // namespace headscope::app
