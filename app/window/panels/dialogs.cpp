#include <algorithm>
#include <filesystem>
#include <iterator>

#include "app/desktop/picture_clipboard.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// Whether it is opened itself, not looked into.
bool opens(const FolderEntry& entry) {
  return entry.is_model || entry.is_session || entry.is_patterns || entry.is_prompts;
}

/// Lines of a form: a name at the left, what it is set with beside it.
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
  float y() const { return rest_.y; }

 private:
  Ui& ui_;
  Rect rest_;
};

int pick(Ui& ui, Rect rect, std::string_view name, const std::vector<Ui::Segment>& segments, int chosen) {
  const float wanted = ui.segmented_width(segments);
  if (wanted > rect.w) return ui.choice(rect, name, segments, chosen);
  rect.w = wanted;
  return ui.segmented(rect, name, segments, chosen);
}

/// What can be exported: the views that are shown, and the window.
std::vector<const View*> subjects(const UiState& state) {
  std::vector<const View*> shown = shown_tabs(state);
  for (const Place place : {Place::left, Place::right, Place::strip}) shown.push_back(&view_at(place));
  shown.push_back(nullptr);
  return shown;
}

void draw_export_lines(Ui& ui, const Rect& place) {
  const Rect body = ui.begin_list("form", place, ui.u(310));
  const ExportForm& now = ui.state.export_form;
  ExportForm set = now;
  Form form(ui, body);
  const auto all = subjects(ui.state);
  std::vector<Ui::Segment> names;
  int chosen = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    names.push_back({all[i] ? std::string(all[i]->title) : "Window",
                     all[i] ? std::string(all[i]->help) : "everything that is on the screen, as pixels"});
    if (now.subject == (all[i] ? all[i]->id : std::string_view())) chosen = static_cast<int>(i);
  }
  if (const int i = pick(ui, form.line("Picture"), "Picture", names, chosen); i >= 0) {
    const View* view = all[i];
    set.subject = view ? std::string(view->id) : "";
  }
  const bool window = now.subject.empty();
  const std::vector<Ui::Segment> formats{
      {"PNG", "pixels"},
      {"SVG", "lines and shapes, sharp at any size", !window},
      {"PDF", window ? "the pixels on a page" : "for papers: sharp at any size, with its letters as text"},
      {"CSV", "the numbers of the picture", !window}};
  constexpr FileFormat kKinds[] = {FileFormat::png, FileFormat::svg, FileFormat::pdf, FileFormat::csv};
  const auto kind = std::ranges::find(kKinds, now.kind) - std::begin(kKinds);
  if (const int i = pick(ui, form.line("Format"), "Format", formats, static_cast<int>(kind)); i >= 0)
    set.kind = kKinds[i];

  if (now.kind == FileFormat::png || window) {
    std::vector<Ui::Segment> scales;
    for (const int scale : {1, 2, 3, 4})
      scales.push_back({std::to_string(scale) + "×", std::to_string(96 * scale) + " pixels an inch"});
    if (const int i = pick(ui, form.line("Scale"), "Scale", scales, now.scale - 1); i >= 0) set.scale = i + 1;
  } else if (now.kind == FileFormat::svg) {
    if (const int i = pick(ui, form.line("Letters"), "Letters",
                           {{"Outlines", "looks the same everywhere"},
                            {"Text", "can be edited and searched, but looks as the reader's fonts do"}},
                           now.svg_text ? 1 : 0);
        i >= 0)
      set.svg_text = i == 1;
  } else if (now.kind == FileFormat::pdf) {
    ui.text("text, in fonts that the file holds", form.line("Letters"), ui.theme().text);
  } else {
    ui.text("commas between, full precision", form.line("Numbers"), ui.theme().text);
  }
  if (now.kind != FileFormat::csv) {
    Rect look = form.line("Look");
    const std::vector<Ui::Segment> themes{{"Light"}, {"Dark"}};
    const Rect theme{look.x, look.y, ui.segmented_width(themes), look.h};
    if (const int i = ui.segmented(theme, "Look", themes, now.dark ? 1 : 0); i >= 0) set.dark = i == 1;
    const Rect caption{theme.right() + ui.u(18), look.y, ui.u(110), look.h};
    const Rect recipe{caption.right() + ui.u(10), look.y,
                      std::max(0.F, look.right() - caption.right() - ui.u(10)), look.h};
    if (ui.checkbox(
            recipe, "Recipe", now.recipe,
            "The file carries what it was made of: program, model, prompt, changes, options. Dropped on the "
            "window, it shows that again"))
      set.recipe = !now.recipe;
    if (!window &&
        ui.checkbox(caption, "Caption", now.caption, "The line under the picture: model, prompt, head"))
      set.caption = !now.caption;
    Rect size = form.line("Size");
    if (window) {
      ui.text("as it is on the screen", size, ui.theme().text);
    } else {
      size.w = std::min(size.w, ui.u(220));
      ui.field(Field::export_size, size, "1200x800, or by itself");
    }
  }
  ui.field(Field::export_path, form.line("File", 6), "path of the file");
  const Rect note{body.x, form.y(), body.w, body.bottom() - form.y()};
  if (!now.problem.empty()) {
    ui.paragraph(now.problem, note, ui.theme().error, 0.93F);
  } else if (now.waiting) {
    ui.paragraph("It is written when all is computed. Esc gives it up.", note, ui.theme().text_muted, 0.93F);
  } else if (now.asked) {
    ui.paragraph("There is a file of that name. Replace it?", note, ui.theme().text);
  } else if (now.kind != FileFormat::csv) {
    ui.paragraph(
        now.recipe ? "With its recipe: the file holds the prompt, the model's name, what was changed and all "
                     "options, so that it can be made again."
                   : "Without its recipe: the file holds the picture alone.",
        note, ui.theme().text_muted, 0.93F);
  }
  if (set.subject != now.subject || set.kind != now.kind || set.scale != now.scale ||
      set.svg_text != now.svg_text || set.caption != now.caption || set.recipe != now.recipe ||
      set.dark != now.dark)
    ui.actions.emplace_back(SetExport{std::move(set)});
  ui.end_list();
}

}  // namespace

void draw_export(Ui& ui) {
  const auto body = ui.begin_dialog(Dialog::export_, "Export", 640, 470);
  if (!body) return;
  const ExportForm& form = ui.state.export_form;
  const float row = ui.u(32), foot = body->bottom() - row;
  draw_export_lines(ui, {body->x, body->y, body->w, foot - ui.u(8) - body->y});
  if (ui.button({body->x, foot, ui.button_width("Copy numbers"), row}, "Copy numbers",
                {.enabled = !form.subject.empty(),
                 .tip = "The picture's numbers to the clipboard, tabs between, for a spreadsheet"}))
    ui.actions.emplace_back(CopyNumbers{form.subject});
  const Rect copy{body->x + ui.button_width("Copy numbers") + ui.u(8), foot, ui.button_width("Copy picture"),
                  row};
  if (ui.button(copy, "Copy picture",
                {.enabled = ui.state.can_copy_pictures && form.kind == FileFormat::png,
                 .tip = ui.state.can_copy_pictures ? "The picture to the clipboard, as PNG"
                                                   : std::string(no_picture_clipboard())}))
    ui.actions.emplace_back(DoExport{false, true});
  const std::string label = form.asked ? "Replace" : "Export";
  const float save = ui.button_width(label) + ui.u(24);
  if (ui.button({body->right() - save, foot, save, row}, label,
                {.look = Ui::Look::primary,
                 .enabled = !form.path.edit.text.empty(),
                 .tip = form.asked ? "Write over the file that is there" : "Write the file  Enter",
                 .name = "Export file"}))
    ui.actions.emplace_back(DoExport{form.asked});
  draw_text_menu(ui);
  ui.end_dialog();
}

void draw_open(Ui& ui) {
  const auto body =
      ui.begin_dialog(Dialog::open,
                      ui.state.open_form.second ? "A second model to compare with"
                                                : "Open a model, a session, a figure or prompts",
                      720, 560);
  if (!body) return;
  const OpenForm& form = ui.state.open_form;
  const FolderListing& listing = form.listing;
  const float up = ui.button_width("Up"), row = ui.u(30);
  if (ui.button({body->x, body->y + ui.u(2), up, ui.u(32)}, "Up",
                {.enabled = listing.folder.has_relative_path(), .tip = "The folder above"}))
    ui.actions.emplace_back(BrowseFolder{listing.folder.parent_path()});
  ui.field(Field::open_path, {body->x + up + ui.u(8), body->y, body->w - up - ui.u(8), ui.u(36)},
           "a folder, or a model of the Hugging Face hub");

  // Folders used lately, then what is in this one.
  const auto& recent = ui.state.recent_folders;
  const float places = recent.empty() ? 0 : std::min(ui.u(190), body->w / 3);
  const float top = body->y + ui.u(46), foot = body->bottom() - ui.u(32);
  const float high = foot - ui.u(10) - top;
  if (!recent.empty()) {
    const Rect at{body->x, top, places - ui.u(8), high};
    const Rect rows = ui.begin_list("recent", at, row * static_cast<float>(recent.size() + 1));
    ui.text("Used lately", {rows.x + ui.u(10), rows.y, rows.w, row}, ui.theme().text_muted,
            viz::FontStyle::medium, 0.85F);
    float y = rows.y + row;
    for (const std::filesystem::path& folder : recent) {
      const std::string name = folder.filename().empty() ? folder.string() : folder.filename().string();
      if (ui.row({rows.x, y, rows.w, row}, {.label = name, .tip = folder.string(), .closes = false}))
        ui.actions.emplace_back(BrowseFolder{folder});
      y += row;
    }
    ui.end_list();
  }
  const Rect frame{body->x + places, top, body->w - places, high};
  ui.stroke(frame, ui.theme().line, 1, ui.u(6));
  std::vector<FolderEntry> entries = listing.entries;
  if (form.second)
    std::erase_if(entries, [](const FolderEntry& entry) { return opens(entry) && !entry.is_model; });
  const auto count = entries.size();
  const Rect rows = ui.begin_list("folders", frame.inset(ui.u(3)),
                                  row * static_cast<float>(std::max<std::size_t>(1, count)));
  const Rect first{rows.x + ui.u(10), rows.y, rows.w - ui.u(20), row};
  const auto distant = typed_model(ui.state);
  if (distant) {
    ui.paragraph("The name of a model on the Hugging Face hub.", first, ui.theme().text_muted);
  } else if (!listing.problem.empty()) {
    ui.paragraph(listing.problem, first, ui.theme().error);
  } else if (form.loading && listing.folder.empty()) {
    ui.text("reading…", first, ui.theme().text_muted);
  } else if (count == 0) {
    ui.text(listing.is_model ? "No folders in here: it is a model itself." : "No folders in here.", first,
            ui.theme().text_muted);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const FolderEntry& entry = entries[i];
    const std::filesystem::path path = listing.folder / entry.name;
    if (!ui.row({rows.x, rows.y + row * static_cast<float>(i), rows.w, row},
                {.label = entry.name + (opens(entry) ? "" : "/"),
                 .right = entry.is_model      ? "GPT-2 model"
                          : entry.is_session  ? "session"
                          : entry.is_patterns ? "attention"
                          : entry.is_prompts  ? "prompts"
                                              : "",
                 .marked = opens(entry),
                 .closes = false}))
      continue;
    ui.actions.emplace_back(entry.is_session || entry.is_prompts ? Action(OpenFile{path})
                            : opens(entry)                       ? Action(OpenModel{path})
                                                                 : Action(BrowseFolder{path}));
  }
  ui.end_list();

  const auto sessions = std::ranges::count_if(entries, &FolderEntry::is_session);
  const auto patterns = std::ranges::count_if(entries, &FolderEntry::is_patterns);
  const auto lists = std::ranges::count_if(entries, &FolderEntry::is_prompts);
  const auto rest = static_cast<std::ptrdiff_t>(count) - sessions - patterns - lists;
  std::string folders = rest == 1 ? "1 folder" : std::to_string(rest) + " folders";
  if (sessions > 0) folders += sessions == 1 ? ", 1 session" : ", " + std::to_string(sessions) + " sessions";
  if (patterns > 0) folders += ", " + std::to_string(patterns) + " of attention";
  if (lists > 0)
    folders += lists == 1 ? ", 1 list of prompts" : ", " + std::to_string(lists) + " lists of prompts";
  if (form.second && listing.problem.empty())
    folders += listing.is_model ? "; a GPT-2 model itself" : "; no GPT-2 model itself";
  ui.text(form.loading ? "reading…" : folders, {body->x + places, foot, body->w / 2, ui.u(32)},
          ui.theme().text_muted, viz::FontStyle::regular, 0.93F);
  if (distant) {
    const float fetch = ui.button_width("Fetch this model");
    if (ui.button({body->right() - fetch, foot, fetch, ui.u(32)}, "Fetch this model",
                  {.look = Ui::Look::primary,
                   .tip = "Fetch " + to_text(*distant) + " into the Hugging Face cache, and open it then"}))
      ui.actions.emplace_back(FetchModel{*distant});
    draw_text_menu(ui);
    return ui.end_dialog();
  }
  const float open = ui.button_width("Open this folder");
  const bool known_wrong = (!listing.problem.empty() || (form.second && !listing.is_model)) &&
                           form.path.edit.text == listing.folder.string();
  if (ui.button({body->right() - open, foot, open, ui.u(32)}, "Open this folder",
                {.look = Ui::Look::primary,
                 .enabled = !form.path.edit.text.empty() && !known_wrong,
                 .tip = "Load the model that lies in the folder above"}))
    ui.actions.emplace_back(OpenModel{form.path.edit.text});
  draw_text_menu(ui);
  ui.end_dialog();
}

void draw_help(Ui& ui) {
  const auto body = ui.begin_dialog(Dialog::help, "Keys and mouse", 780, 720);
  if (!body) return;
  constexpr std::string_view kMouse =
      "Click a small map to choose its head, a cell of the heatmap or a token to choose the query, a bar to "
      "append its token. The wheel zooms the heatmap about the mouse, dragging moves it, a double click "
      "shows "
      "all of it; with Ctrl it makes the small maps larger. The right button offers what can be done with a "
      "picture. A double click on a gap between panes resets it, one on a slider, too. Drop a folder on the "
      "window to open the model in it, a session or a figure to show what it does, a list of prompts (.txt, "
      ".jsonl) for views that can be about many. What is typed goes into the prompt, whatever was clicked.";
  const auto lines = list_of_keys();
  const float row = ui.u(23), keys = std::min(ui.u(220), body->w * 0.4F);
  const float words = ui.paragraph_height(kMouse, body->w - ui.u(16), 0.93F);
  const Rect list = ui.begin_list("keys", *body, words + ui.u(14) + row * static_cast<float>(lines.size()));
  ui.scroll_by_keys();
  float y = list.y + ui.paragraph(kMouse, {list.x, list.y, body->w - ui.u(16), 0}, ui.theme().text, 0.93F) +
            ui.u(14);
  for (const KeyHelp& line : lines) {
    ui.text(line.keys, {list.x, y, keys - ui.u(8), row}, ui.theme().text, viz::FontStyle::medium, 0.93F);
    ui.text(line.what, {list.x + keys, y, list.w - keys, row}, ui.theme().text_muted, viz::FontStyle::regular,
            0.93F);
    y += row;
  }
  ui.end_list();
  ui.end_dialog();
}

}  // namespace headscope::app
