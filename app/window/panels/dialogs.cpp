// The dialogs to save a session, to find an entry of the palette, and to open.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/counted.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "system/path_text.h"

namespace headscope::app {

using viz::Rect;

void draw_path_message(Ui& ui, const Rect& rect, const FileForm& form, std::string_view about) {
  if (!form.problem.empty()) {
    ui.paragraph(form.problem, rect, ui.theme().error, Ui::kSmall);
    return;
  }
  const bool exists = form.state == Writing::exists;
  if (exists) about = "A file with this name exists. Replace it?";
  if (form.state == Writing::waits) about = "The file is written when everything is computed. Esc cancels.";
  if (form.state == Writing::writes) about = "The file is being written.";
  ui.paragraph(about, rect, exists ? ui.theme().text : ui.theme().text_muted, exists ? 1 : Ui::kSmall);
}

Ui::Part write_button(Ui& ui, const std::string& label, const std::string& name, const FileForm& form,
                      Action action) {
  return ui.button(
      form.state == Writing::exists ? "Replace" : label,
      {.look = Ui::Look::primary,
       .unavailable = form.path.edit.text.empty()     ? "Enter a name for the file."
                      : form.state == Writing::writes ? "The file is being written."
                                                      : "",
       .tip = form.state == Writing::exists ? "Overwrite the existing file" : "Write the file  Enter",
       .name = name},
      std::move(action));
}

void draw_save(Ui& ui) {
  auto body = ui.begin_dialog(Dialog::save, "Save session", 640, 250);
  if (!body) return;
  const FileForm& form = ui.state.save_form;
  const float height = ui.paragraph(
      "Saves everything on the screen, to continue later: the prompt, the model's name, the views with their "
      "options, the edits and the comparison.",
      *body, ui.theme().text_muted, Ui::kSmall);
  cut_top(*body, height, ui.u(10));
  ui.field(Field::session_path, cut_top(*body, ui.u(30), ui.u(8)), "path of the file");
  draw_path_message(ui, *body, form);
  ui.place(cut_bottom(*body, ui.u(32)),
           {{.grows = true},
            write_button(ui, "Save", "Save session", form,
                         SaveSession{system::path_of(form.path.edit.text), form.state == Writing::exists})});
  ui.end_dialog();
}

void draw_palette(Ui& ui) {
  auto body = ui.begin_dialog(Dialog::palette, "Find a command, a view, a head…", 620, 560);
  if (!body) return;
  const PaletteForm& form = ui.state.palette;
  ui.field(Field::palette, cut_top(*body, ui.u(34), ui.u(10)), "a few letters, e.g. lens, 5.5 or dark");
  const auto& matches = found_entries(ui.widgets, ui.state, ui.snapshot, ui.out.pictures);
  ui.begin_list("entries", *body);
  const float row = ui.u(30);
  ui.scroll_once("entry " + std::to_string(form.chosen) + " " + form.search.edit.text,
                 std::max(0.F, row * static_cast<float>(form.chosen) - (body->h - row) / 2));
  for (int i = 0; const PaletteEntry& entry : matches)
    if (ui.row({.label = entry.label,
                .right = entry.keys.empty() ? entry.kind : entry.kind + "   " + entry.keys,
                .marked = i++ == form.chosen}))
      perform(entry, ui.actions, ui.widgets.open);
  ui.end_list();
  ui.end_dialog();
}

namespace {

using EntryKind = FolderEntry::Kind;

/// "3 hours ago"
std::string time_since(std::filesystem::file_time_type then) {
  using namespace std::chrono;
  const auto age = duration_cast<minutes>(std::filesystem::file_time_type::clock::now() - then);
  if (age < minutes(1)) return "just now";
  if (age < hours(1)) return counted(age.count(), "minute") + " ago";
  if (age < days(2)) return counted(duration_cast<hours>(age).count(), "hour") + " ago";
  return counted(duration_cast<days>(age).count(), "day") + " ago";
}

/// Recent folders, and unless a model to compare with is chosen, recent sessions.
void draw_recent(Ui& ui, const Rect& rect) {
  const auto row = [&](const std::filesystem::path& path, Action action) {
    ui.row({.label = system::text_of(path.filename().empty() ? path : path.filename()),
            .tip = system::text_of(path)},
           std::move(action));
  };
  ui.begin_list("recent", rect);
  if (!ui.state.recent_folders.empty()) ui.heading("Recent folders");
  for (const std::filesystem::path& folder : ui.state.recent_folders) row(folder, BrowseFolder{folder});
  if (ui.state.open_form.second) return ui.end_list();
  if (!ui.state.recent_sessions.empty()) ui.heading("Recent sessions");
  for (const std::filesystem::path& file : ui.state.recent_sessions) row(file, OpenFile{file});
  if (!ui.state.kept_sessions.empty()) ui.heading("Earlier windows");
  for (const KeptSession& kept : ui.state.kept_sessions)
    ui.row({.label = &kept == ui.state.kept_sessions.data() ? "Last session" : "Earlier session",
            .more = time_since(kept.written)},
           OpenFile{kept.file});
  ui.end_list();
}

/// The folder's entries, or a line that says why they cannot be shown.
void draw_entries(Ui& ui, const Rect& frame, const std::vector<FolderEntry>& entries) {
  const OpenForm& form = ui.state.open_form;
  const FolderListing& listing = form.listing;
  ui.stroke(frame, ui.theme().line, 1, ui.u(6));
  ui.begin_list("folders", frame.inset(ui.u(3)));
  if (named_model(ui.state)) {
    ui.heading("The name of a model on the Hugging Face hub.");
  } else if (!listing.problem.empty()) {
    ui.paragraph(listing.problem, ui.theme().error);
  } else if (form.loading && listing.folder.empty()) {
    ui.heading("reading…");
  } else if (entries.empty()) {
    ui.heading(listing.is_model ? "No folders here: this folder is a model." : "No folders here.");
  }
  for (const FolderEntry& entry : entries) {
    const std::filesystem::path path = listing.folder / system::path_of(entry.name);
    const bool opens = entry.kind != EntryKind::folder;  // opens itself instead of being listed
    constexpr const char* kNames[] = {"", "GPT-2 model", "session", "figure", "attention", "prompts"};
    ui.row({.label = entry.name + (opens ? "" : "/"),
            .right = kNames[static_cast<std::size_t>(entry.kind)],
            .tip = entry.about},
           opens ? Action(OpenFile{path}) : BrowseFolder{path});
  }
  ui.end_list();
}

}  // namespace

void draw_open(Ui& ui) {
  const OpenForm& form = ui.state.open_form;
  auto body = ui.begin_dialog(
      Dialog::open,
      form.second ? "Choose a second model to compare with" : "Open a model, a session, a figure or prompts",
      720, 560);
  if (!body) return;
  const FolderListing& listing = form.listing;
  ui.place(cut_top(*body, ui.u(34), ui.u(12)),
           {ui.button("Up",
                      {.unavailable = listing.folder.has_relative_path() ? "" : "This folder has no parent.",
                       .tip = "Parent folder"},
                      BrowseFolder{listing.folder.parent_path()}),
            ui.field(Field::open_path, "a folder, or a model on the Hugging Face hub", 0)});

  const bool recent = !ui.state.recent_folders.empty() || !ui.state.recent_sessions.empty() ||
                      !ui.state.kept_sessions.empty();
  if (recent) draw_recent(ui, cut_left(*body, std::min(ui.u(190), body->w / 3) - ui.u(8), ui.u(8)));
  const Rect foot = cut_bottom(*body, ui.u(32), ui.u(10));
  std::vector<FolderEntry> entries = listing.entries;
  if (form.second)
    std::erase_if(entries, [](const FolderEntry& e) {
      return e.kind != EntryKind::folder && e.kind != EntryKind::model;
    });
  draw_entries(ui, *body, entries);

  const auto distant = named_model(ui.state);
  const auto action = opening(ui.state);
  constexpr const char* kNoModel = "This folder holds no GPT-2 model.";
  const char* const about = form.loading               ? "reading…"
                            : !listing.problem.empty() ? ""
                            : listing.is_model         ? "This folder is a GPT-2 model."
                                                       : kNoModel;
  ui.place(
      foot,
      {ui.words(about, ui.theme().text_muted, Ui::kSmall, true),
       ui.button(distant ? "Fetch this model" : "Open",
                 {.look = Ui::Look::primary,
                  .unavailable = action                     ? ""
                                 : !listing.problem.empty() ? listing.problem
                                                            : kNoModel,
                  .tip = distant ? "Fetch " + to_text(*distant) + " into the Hugging Face cache and open it"
                                 : "Open it  Enter"},
                 action.value_or(ShowMessage{}))});
  ui.end_dialog();
}

}  // namespace headscope::app
