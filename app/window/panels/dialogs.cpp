#include <algorithm>
#include <filesystem>
#include <iterator>

#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"
#include "system/path_text.h"

namespace headscope::app {

using viz::Rect;

void draw_save(Ui& ui) {
  const auto body = ui.begin_dialog(Dialog::save, "Save session", 640, 250);
  if (!body) return;
  const FileForm& form = ui.state.save_form;
  float y = body->y;
  y += ui.paragraph(
           "Saves everything on the screen, to continue later: the prompt, the model's name, the views with "
           "their options, the edits and the comparison.",
           {body->x, y, body->w, 0}, ui.theme().text_muted, Ui::kSmall) +
       ui.u(10);
  ui.field(Field::session_path, {body->x, y, body->w, ui.u(30)}, "path of the file");
  draw_path_message(ui, {body->x, y + ui.u(38), body->w, body->bottom() - ui.u(76) - y}, form);
  if (draw_write_button(ui, *body, "Save", "Save session", form))
    ui.actions.emplace_back(SaveSession{system::path_of(form.path.edit.text), form.asked});
  draw_text_menu(ui);
  ui.end_dialog();
}

namespace {

using EntryKind = FolderEntry::Kind;

void draw_recent_folders(Ui& ui, const Rect& rect) {
  const auto& recent = ui.state.recent_folders;
  const float row = ui.u(30);
  const Rect rows = ui.begin_list("recent", rect, row * static_cast<float>(recent.size() + 1));
  MenuLayout lines(ui, rows);
  lines.heading("Recent", row);
  for (const std::filesystem::path& folder : recent) {
    const std::string name =
        folder.filename().empty() ? system::text_of(folder) : system::text_of(folder.filename());
    lines.row({.label = name, .tip = system::text_of(folder), .closes = false}, row, BrowseFolder{folder});
  }
  ui.end_list();
}

/// The folder's entries, or a line that says why they cannot be shown.
void draw_entries(Ui& ui, const Rect& frame, const std::vector<FolderEntry>& entries) {
  const OpenForm& form = ui.state.open_form;
  const FolderListing& listing = form.listing;
  const float row = ui.u(30);
  ui.stroke(frame, ui.theme().line, 1, ui.u(6));
  const Rect rows = ui.begin_list("folders", frame.inset(ui.u(3)),
                                  row * static_cast<float>(std::max<std::size_t>(1, entries.size())));
  const Rect first{rows.x + ui.u(10), rows.y, rows.w - ui.u(20), row};
  if (typed_model(ui.state)) {
    ui.paragraph("The name of a model on the Hugging Face hub.", first, ui.theme().text_muted);
  } else if (!listing.problem.empty()) {
    ui.paragraph(listing.problem, first, ui.theme().error);
  } else if (form.loading && listing.folder.empty()) {
    ui.text("reading…", first, ui.theme().text_muted);
  } else if (entries.empty()) {
    ui.text(listing.is_model ? "No folders here: this folder is a model." : "No folders here.", first,
            ui.theme().text_muted);
  }
  MenuLayout lines(ui, rows);
  for (const FolderEntry& entry : entries) {
    const std::filesystem::path path = listing.folder / system::path_of(entry.name);
    const bool opens = entry.kind != EntryKind::folder;  // opens itself instead of being listed
    constexpr const char* kNames[] = {"", "GPT-2 model", "session", "figure", "attention", "prompts"};
    lines.row({.label = entry.name + (opens ? "" : "/"),
               .right = kNames[static_cast<std::size_t>(entry.kind)],
               .icon = entry.kind == EntryKind::model ? Icon::model : Icon::none,
               .tip = entry.about,
               .closes = false},
              row,
              is_for_open_file(path) && opens ? Action(OpenFile{path})
              : opens                         ? Action(OpenModel{path})
                                              : Action(BrowseFolder{path}));
  }
  ui.end_list();
}

/// "This folder holds no GPT-2 model; 3 folders, 1 session"; empty if it could not be read.
std::string contents(const OpenForm& form, const std::vector<FolderEntry>& entries) {
  if (!form.listing.problem.empty()) return "";
  const auto count = [&](EntryKind kind) { return std::ranges::count(entries, kind, &FolderEntry::kind); };
  const auto folders = count(EntryKind::folder) + count(EntryKind::model);
  std::string words = std::to_string(folders) + (folders == 1 ? " folder" : " folders");
  const auto add = [&](EntryKind kind, const char* one, const char* many) {
    if (const auto n = count(kind); n > 0) words += ", " + std::to_string(n) + (n == 1 ? one : many);
  };
  add(EntryKind::session, " session", " sessions");
  add(EntryKind::figure, " figure", " figures");
  add(EntryKind::patterns, " attention file", " attention files");
  add(EntryKind::prompts, " list of prompts", " lists of prompts");
  return (form.listing.is_model ? "This folder is a GPT-2 model; " : "This folder holds no GPT-2 model; ") +
         words;
}

}  // namespace

void draw_open(Ui& ui) {
  const OpenForm& form = ui.state.open_form;
  const auto body = ui.begin_dialog(
      Dialog::open,
      form.second ? "Choose a second model to compare with" : "Open a model, a session, a figure or prompts",
      720, 560);
  if (!body) return;
  const FolderListing& listing = form.listing;
  const float up = ui.button_width("Up");
  if (ui.button({body->x, body->y + ui.u(2), up, ui.u(32)}, "Up",
                {.unavailable = listing.folder.has_relative_path() ? "" : "This folder has no parent.",
                 .tip = "Parent folder"}))
    ui.actions.emplace_back(BrowseFolder{listing.folder.parent_path()});
  ui.field(Field::open_path, {body->x + up + ui.u(8), body->y, body->w - up - ui.u(8), ui.u(36)},
           "a folder, or a model on the Hugging Face hub");

  const bool recent = !ui.state.recent_folders.empty();
  const float places = recent ? std::min(ui.u(190), body->w / 3) : 0;
  const float top = body->y + ui.u(46), foot = body->bottom() - ui.u(32), high = foot - ui.u(10) - top;
  if (recent) draw_recent_folders(ui, {body->x, top, places - ui.u(8), high});
  std::vector<FolderEntry> entries = listing.entries;
  if (form.second)
    std::erase_if(entries, [](const FolderEntry& e) {
      return e.kind != EntryKind::folder && e.kind != EntryKind::model;
    });
  draw_entries(ui, {body->x + places, top, body->w - places, high}, entries);
  ui.small(form.loading ? "reading…" : contents(form, entries),
           {body->x + places, foot, body->w - places - ui.u(180), ui.u(32)}, ui.theme().text_muted);

  const auto distant = typed_model(ui.state);
  const bool is_listed = form.path.edit.text == system::text_of(listing.folder);
  const std::string label = distant ? "Fetch this model" : "Open this folder";
  const float wide = ui.button_width(label);
  if (ui.button({body->right() - wide, foot, wide, ui.u(32)}, label,
                {.look = Ui::Look::primary,
                 .unavailable = distant                    ? ""
                                : !is_listed               ? "Press Enter to open what is named."
                                : !listing.problem.empty() ? listing.problem
                                : !listing.is_model        ? "This folder holds no GPT-2 model."
                                                           : "",
                 .tip = distant ? "Fetch " + to_text(*distant) + " into the Hugging Face cache and open it"
                                : "Load the model in this folder"}))
    ui.actions.push_back(distant ? Action(FetchModel{*distant})
                                 : Action(OpenModel{system::path_of(form.path.edit.text)}));
  draw_text_menu(ui);
  ui.end_dialog();
}

}  // namespace headscope::app
