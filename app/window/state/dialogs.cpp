#include "app/window/state/dialogs.h"

#include <algorithm>
#include <utility>

#include "app/window/sessions.h"
#include "app/window/state.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr const char* kFirstPage = "window";  // of the help

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

}  // namespace headscope::app
