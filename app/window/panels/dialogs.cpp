#include <algorithm>
#include <filesystem>
#include <iterator>
#include <tuple>

#include "app/desktop/picture_clipboard.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"

namespace headscope::app {

using viz::Rect;

namespace {

using Kind = FolderEntry::Kind;

/// Lines of a form: a label and a control.
class Form {
 public:
  Form(Ui& ui, const Rect& rect) : ui_(ui), rest_(rect) {}
  Rect line(std::string_view name, float gap = 12) {
    const float row = ui_.u(30), label = ui_.u(84);
    ui_.text(name, {rest_.x, rest_.y, label, row}, ui_.theme().text_muted);
    const Rect place{rest_.x + label, rest_.y, rest_.w - label, row};
    rest_.y += row + ui_.u(gap);
    return place;
  }
  /// A line of choices; returns the pressed one, or -1.
  int choice(std::string_view name, const std::vector<Ui::Segment>& segments, int chosen) {
    Rect rect = line(name);
    const float wanted = ui_.segmented_width(segments);
    if (wanted > rect.w) return ui_.choice(rect, name, segments, chosen);
    rect.w = wanted;
    return ui_.segmented(rect, name, segments, chosen);
  }
  void words(std::string_view name, std::string_view words) { ui_.text(words, line(name), ui_.theme().text); }
  float y() const { return rest_.y; }

 private:
  Ui& ui_;
  Rect rest_;
};

/// What can be exported: the shown views and the whole window, which is null.
std::vector<const View*> subjects(const UiState& state) {
  std::vector<const View*> shown = shown_tabs(state);
  for (const Place place : {Place::left, Place::right, Place::strip}) shown.push_back(&view_at(place));
  shown.push_back(nullptr);
  return shown;
}

/// The picture, the file format and the scale.
void draw_format_lines(Ui& ui, Form& form, ExportForm& set) {
  const ExportForm& now = ui.state.export_form;
  const auto all = subjects(ui.state);
  std::vector<Ui::Segment> names;
  int chosen = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    names.push_back({all[i] ? std::string(all[i]->title) : "Window",
                     all[i] ? std::string(all[i]->help) : "everything on the screen, as pixels"});
    if (now.subject == (all[i] ? all[i]->id : std::string_view())) chosen = static_cast<int>(i);
  }
  if (const int i = form.choice("Picture", names, chosen); i >= 0) set.subject = all[i] ? all[i]->id : "";
  const bool window = now.subject.empty();
  const std::string only_views = window ? "The whole window is exported as pixels: choose a view." : "";
  const std::vector<Ui::Segment> formats{
      {"PNG", "pixels"},
      {"SVG", "vector graphics, sharp at any size", only_views},
      {"PDF", window ? "pixels on a page" : "for papers: vector graphics with embedded fonts"},
      {"CSV", "the data of the picture", only_views}};
  constexpr FileFormat kKinds[] = {FileFormat::png, FileFormat::svg, FileFormat::pdf, FileFormat::csv};
  const auto kind = std::ranges::find(kKinds, now.kind) - std::begin(kKinds);
  if (const int i = form.choice("Format", formats, static_cast<int>(kind)); i >= 0) set.kind = kKinds[i];

  if (!window && now.kind != FileFormat::csv) {
    std::vector<Ui::Segment> targets;
    for (const auto& target : kTargetNames) {
      const TargetSpec spec = spec_of(target.value);
      targets.push_back({std::string(spec.label), std::string(spec.words)});
    }
    if (const int i = form.choice("For", targets, static_cast<int>(now.target)); i >= 0)
      set.target = kTargetNames[i].value;
  }
  if (now.kind == FileFormat::png && !window && now.target != Target::screen) {
    form.words("Scale", now.target == Target::slide ? "3 pixels per logical pixel" : "300 pixels per inch");
  } else if (now.kind == FileFormat::png || window) {
    std::vector<Ui::Segment> scales;
    for (int scale = 1; scale <= kMaxExportScale; ++scale)
      scales.push_back({std::to_string(scale) + "×", std::to_string(96 * scale) + " pixels per inch"});
    if (const int i = form.choice("Scale", scales, now.scale - 1); i >= 0) set.scale = i + 1;
  } else if (now.kind == FileFormat::svg) {
    const int i = form.choice("Text",
                              {{"Outlines", "looks the same everywhere"},
                               {"Text", "editable and searchable, but depends on the reader's fonts"}},
                              now.svg_text ? 1 : 0);
    if (i >= 0) set.svg_text = i == 1;
  } else if (now.kind == FileFormat::pdf) {
    form.words("Text", "text with embedded fonts");
  } else {
    form.words("Data", "comma-separated, full precision");
  }
}

/// The theme, the extras and the size.
void draw_look_lines(Ui& ui, Form& form, ExportForm& set) {
  const ExportForm& now = ui.state.export_form;
  const bool window = now.subject.empty();
  const Rect look = form.line("Theme");
  const std::vector<Ui::Segment> themes{{"Light"}, {"Dark"}};
  const Rect theme{look.x, look.y, ui.segmented_width(themes), look.h};
  if (const int i = ui.segmented(theme, "Theme", themes, now.dark ? 1 : 0); i >= 0) set.dark = i == 1;
  const Rect title{theme.right() + ui.u(18), look.y, ui.u(80), look.h};
  const Rect caption{title.right() + ui.u(10), look.y, ui.u(100), look.h};
  const float right = caption.right() + ui.u(10);
  if (ui.checkbox({right, look.y, std::max(0.F, look.right() - right), look.h}, "Recipe", now.recipe,
                  "Store in the file how it was made: program, model, prompt, edits, options. Drop the file "
                  "on the window to restore them"))
    set.recipe = !now.recipe;
  if (!window && ui.checkbox(title, "Title", now.title, "The title above the picture"))
    set.title = !now.title;
  if (!window &&
      ui.checkbox(caption, "Caption", now.caption, "The line under the picture: model, prompt, head"))
    set.caption = !now.caption;
  if (window) return form.words("Size", "as on the screen");
  Rect size = form.line("Size");
  size.w = std::min(size.w, ui.u(330));
  ui.field(Field::export_size, size, "e.g. 1200x800, or 900; empty: automatic");
}

void draw_export_lines(Ui& ui, const Rect& place) {
  const Rect body = ui.begin_list("form", place, ui.u(352));
  const ExportForm& now = ui.state.export_form;
  ExportForm set = now;
  Form form(ui, body);
  draw_format_lines(ui, form, set);
  if (now.kind != FileFormat::csv) draw_look_lines(ui, form, set);
  ui.field(Field::export_path, form.line("File", 6), "path of the file");
  const Rect message_area{body.x, form.y(), body.w, body.bottom() - form.y()};
  if (now.waiting && now.problem.empty()) {
    ui.paragraph("The file is written when everything is computed. Esc cancels.", message_area,
                 ui.theme().text_muted, Ui::kSmall);
  } else if (!draw_path_message(ui, message_area, now.problem, now.asked) && now.kind != FileFormat::csv) {
    ui.paragraph(now.recipe ? "With its recipe, the file holds the prompt, the model's name, the edits and "
                              "all options, so that the picture can be recreated."
                            : "Without its recipe, the file holds only the picture.",
                 message_area, ui.theme().text_muted, Ui::kSmall);
  }
  const auto choices = [](const ExportForm& f) {
    return std::tie(f.subject, f.kind, f.scale, f.svg_text, f.target, f.title, f.caption, f.recipe, f.dark);
  };
  if (choices(set) != choices(now)) ui.actions.emplace_back(SetExport{std::move(set)});
  ui.end_list();
}

}  // namespace

void draw_export(Ui& ui) {
  const auto body = ui.begin_dialog(Dialog::export_, "Export", 640, 512);
  if (!body) return;
  const ExportForm& form = ui.state.export_form;
  const float row = ui.u(32), foot = body->bottom() - row;
  draw_export_lines(ui, {body->x, body->y, body->w, foot - ui.u(8) - body->y});
  Places line({body->x, foot, body->w, row}, ui.u(8));
  if (ui.button(line.left(ui.button_width("Copy data")), "Copy data",
                {.unavailable = form.subject.empty() ? "The whole window has no data." : "",
                 .tip = "Copy the picture's data, tab-separated, for a spreadsheet"}))
    ui.actions.emplace_back(CopyNumbers{form.subject});
  if (ui.button(line.left(ui.button_width("Copy picture")), "Copy picture",
                {.unavailable = !ui.state.can_copy_pictures    ? std::string(no_picture_clipboard())
                                : form.kind != FileFormat::png ? "Only a PNG can be copied."
                                                               : "",
                 .tip = "Copy the picture as PNG"}))
    ui.actions.emplace_back(DoExport{false, true});
  if (draw_write_button(ui, *body, "Export", "Export file", form.path, form.asked))
    ui.actions.emplace_back(DoExport{form.asked});
  draw_text_menu(ui);
  ui.end_dialog();
}

void draw_save(Ui& ui) {
  const auto body = ui.begin_dialog(Dialog::save, "Save session", 640, 250);
  if (!body) return;
  const SaveForm& form = ui.state.save_form;
  float y = body->y;
  y += ui.paragraph(
           "Saves everything on the screen, to continue later: the prompt, the model's name, the views with "
           "their options, the edits and the comparison.",
           {body->x, y, body->w, 0}, ui.theme().text_muted, Ui::kSmall) +
       ui.u(10);
  ui.field(Field::session_path, {body->x, y, body->w, ui.u(30)}, "path of the file");
  draw_path_message(ui, {body->x, y + ui.u(38), body->w, body->bottom() - ui.u(76) - y}, form.problem,
                    form.asked);
  if (draw_write_button(ui, *body, "Save", "Save session", form.path, form.asked))
    ui.actions.emplace_back(SaveSession{form.path.edit.text, form.asked});
  draw_text_menu(ui);
  ui.end_dialog();
}

namespace {

void draw_recent_folders(Ui& ui, const Rect& rect) {
  const auto& recent = ui.state.recent_folders;
  const float row = ui.u(30);
  const Rect rows = ui.begin_list("recent", rect, row * static_cast<float>(recent.size() + 1));
  Lines lines(ui, rows);
  lines.heading("Recent", row);
  for (const std::filesystem::path& folder : recent) {
    const std::string name = folder.filename().empty() ? folder.string() : folder.filename().string();
    lines.row({.label = name, .tip = folder.string(), .closes = false}, row, BrowseFolder{folder});
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
  Lines lines(ui, rows);
  for (const FolderEntry& entry : entries) {
    const std::filesystem::path path = listing.folder / entry.name;
    const bool opens = entry.kind != Kind::folder;  // opens itself instead of being listed
    constexpr const char* kNames[] = {"", "GPT-2 model", "session", "figure", "attention", "prompts"};
    lines.row({.label = entry.name + (opens ? "" : "/"),
               .right = kNames[static_cast<std::size_t>(entry.kind)],
               .tip = entry.about,
               .marked = opens,
               .closes = false},
              row,
              is_for_open_file(path) && opens ? Action(OpenFile{path})
              : opens                         ? Action(OpenModel{path})
                                              : Action(BrowseFolder{path}));
  }
  ui.end_list();
}

/// "3 folders, 1 session".
std::string contents(const OpenForm& form, const std::vector<FolderEntry>& entries) {
  const auto count = [&](Kind kind) { return std::ranges::count(entries, kind, &FolderEntry::kind); };
  const auto folders = count(Kind::folder) + count(Kind::model);
  std::string words = std::to_string(folders) + (folders == 1 ? " folder" : " folders");
  const auto add = [&](Kind kind, const char* one, const char* many) {
    if (const auto n = count(kind); n > 0) words += ", " + std::to_string(n) + (n == 1 ? one : many);
  };
  add(Kind::session, " session", " sessions");
  add(Kind::figure, " figure", " figures");
  add(Kind::patterns, " attention file", " attention files");
  add(Kind::prompts, " list of prompts", " lists of prompts");
  if (form.second && form.listing.problem.empty())
    words += form.listing.is_model ? "; this is a GPT-2 model" : "; this is not a GPT-2 model";
  return words;
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
    std::erase_if(entries,
                  [](const FolderEntry& e) { return e.kind != Kind::folder && e.kind != Kind::model; });
  draw_entries(ui, {body->x + places, top, body->w - places, high}, entries);
  ui.small(form.loading ? "reading…" : contents(form, entries),
           {body->x + places, foot, body->w / 2, ui.u(32)}, ui.theme().text_muted);

  const auto distant = typed_model(ui.state);
  const bool known_wrong = (!listing.problem.empty() || (form.second && !listing.is_model)) &&
                           form.path.edit.text == listing.folder.string();
  const std::string label = distant ? "Fetch this model" : "Open this folder";
  const float wide = ui.button_width(label);
  if (ui.button({body->right() - wide, foot, wide, ui.u(32)}, label,
                {.look = Ui::Look::primary,
                 .unavailable = distant                       ? ""
                                : form.path.edit.text.empty() ? "No folder is named."
                                : known_wrong                 ? "This folder has no model."
                                                              : "",
                 .tip = distant ? "Fetch " + to_text(*distant) + " into the Hugging Face cache and open it"
                                : "Load the model in this folder"}))
    ui.actions.push_back(distant ? Action(FetchModel{*distant}) : Action(OpenModel{form.path.edit.text}));
  draw_text_menu(ui);
  ui.end_dialog();
}

}  // namespace headscope::app
