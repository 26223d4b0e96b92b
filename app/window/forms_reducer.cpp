#include "app/window/forms_reducer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/window/news_reducer.h"
#include "app/window/sessions.h"

namespace headscope::app {

void forget_answer(ExportForm& form) {
  form.asked = form.waiting = false;
  form.problem.clear();
}

void save(std::vector<Effect>& effects) {
  const auto saves = [](const Effect& effect) { return std::holds_alternative<SaveEffect>(effect); };
  if (std::ranges::none_of(effects, saves)) effects.emplace_back(SaveEffect{});
}

void reduce(UiState& s, const SetExport& a, const Snapshot& now) {
  ExportForm& form = s.export_form;
  const bool renamed = form.path.edit.text != suggested_figure(s, now);
  TextField path = std::move(form.path), size = std::move(form.size);
  form = a.form;
  form.path = std::move(path), form.size = std::move(size);
  if (form.subject.empty() && form.kind != FileFormat::pdf) form.kind = FileFormat::png;
  form.scale = std::clamp(form.scale, 1, kMostExportScale);
  std::filesystem::path name = renamed ? form.path.edit.text : suggested_figure(s, now);
  if (renamed) name.replace_extension(extension_of(form.kind));
  form.path.edit = make_edit_state(name.string());
  forget_answer(s.export_form);
}

void reduce(UiState& s, std::vector<Effect>& effects, const DoExport& a, const Snapshot&) {
  forget_answer(s.export_form);
  effects.emplace_back(ExportEffect{s.export_form, a.replace, a.copy});
}

void reduce(UiState& s, std::vector<Effect>& effects, const ExportEnded& a, const Snapshot& now) {
  ExportForm& form = s.export_form;
  form.waiting = a.how == ExportEnded::How::waits;
  form.asked = a.how == ExportEnded::How::exists;
  switch (a.how) {
    case ExportEnded::How::waits:
    case ExportEnded::How::exists:
      break;
    case ExportEnded::How::failed:
      form.problem = a.message;
      if (s.dialog != Dialog::export_) reduce(s, ShowMessage{a.message, true}, now);
      break;
    case ExportEnded::How::saved:
      form.folder = a.folder;
      remember(s.recent_folders, a.folder);
      if (s.dialog == Dialog::export_) s.dialog = Dialog::none;
      reduce(s, ShowMessage{a.message}, now);
      save(effects);
      break;
    case ExportEnded::How::copied:
      reduce(s, ShowMessage{a.message}, now);
      break;
  }
}

void reduce(UiState&, std::vector<Effect>& effects, const SaveSession& a, const Snapshot&) {
  effects.emplace_back(SaveSessionEffect{a.file, a.replace});
}

void reduce(UiState& s, std::vector<Effect>& effects, const SessionSaved& a, const Snapshot& now) {
  SaveForm& form = s.save_form;
  form.asked = a.exists;
  form.problem = a.problem;
  if (a.file.empty()) {
    if (s.dialog != Dialog::save && !a.problem.empty()) reduce(s, ShowMessage{a.problem, true}, now);
    return;
  }
  s.session = a.file;
  remember(s.recent_sessions, a.file);
  remember(s.recent_folders, a.file.parent_path());
  if (s.dialog == Dialog::save) s.dialog = Dialog::none;
  reduce(s, ShowMessage{"Saved " + a.file.string() + "."}, now);
  save(effects);
}

}  // namespace headscope::app
