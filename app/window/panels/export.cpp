#include <algorithm>
#include <stdexcept>
#include <utility>

#include "app/ascii.h"
#include "app/views/parts/names.h"
#include "app/window/exporting.h"
#include "app/window/panels/panels.h"
#include "system/picture_clipboard.h"
#include "viz/players/players.h"
#include "viz/scene/colormap.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// The views that can be exported: those that are shown, and the tokens.
std::vector<const View*> subjects(const UiState& state) {
  std::vector<const View*> shown = shown_tabs(state);
  if (const View* tokens = find_view(token_strip().id); std::ranges::count(shown, tokens) == 0)
    shown.push_back(tokens);
  for (const Place place : {Place::left, Place::right}) shown.push_back(&view_at(place));
  return shown;
}

/// A line of the form: a label and a control.
Rect line(Ui& ui, std::string_view name) {
  ui.begin_group();
  Rect line = ui.next(ui.u(42));
  line.h = ui.u(30);
  ui.text(name, line, ui.theme().text_muted);
  cut_left(line, ui.u(84));
  return line;
}

/// A value of the form, with its name in a choice.
template <class T>
struct NamedValue {
  T value;
  std::string label;
  std::string tip = {};
  std::string unavailable = {};
};

/// A line of choices, each of which changes the form.
template <class T>
void choices(Ui& ui, std::string name, T ExportForm::*member, const std::vector<NamedValue<T>>& values) {
  SetExport set{ui.state.export_form};
  const auto chosen = std::ranges::find(values, set.form.*member, &NamedValue<T>::value) - values.begin();
  std::vector<MenuItem> segments;
  for (const auto& [value, label, tip, unavailable] : values) {
    set.form.*member = value;
    segments.push_back({.label = label, .actions = {set}, .tip = tip, .unavailable = unavailable});
  }
  const Rect rect = line(ui, name);
  ui.place(rect, {ui.choice(std::move(name), std::move(segments), static_cast<int>(chosen), rect.w)});
}

/// The picture, the file format and what it is for.
void draw_format_lines(Ui& ui) {
  const ExportForm& now = ui.state.export_form;
  std::vector<NamedValue<std::string>> pictures;
  for (const View* view : subjects(ui.state))
    pictures.push_back({std::string(view->id), std::string(view->title), std::string(view->help)});
  pictures.push_back({"", "Window", "everything on the screen, as pixels"});
  choices(ui, "Picture", &ExportForm::subject, pictures);
  const bool window = now.subject.empty();
  const std::string only_views = window ? "The whole window is exported as pixels: choose a view." : "";
  choices(ui, "Format", &ExportForm::kind,
          {{FileFormat::png, "PNG", "pixels"},
           {FileFormat::svg, "SVG", "vector graphics, sharp at any size", only_views},
           {FileFormat::pdf, "PDF",
            window ? "pixels on a page" : "for papers: vector graphics with embedded fonts"},
           {FileFormat::csv, "CSV", "the data of the picture", only_views}});
  if (now.kind == FileFormat::csv) return;
  if (!window) {
    std::vector<NamedValue<Target>> targets;
    for (const auto& target : kTargetNames) {
      const TargetSpec spec = spec_of(target.value);
      targets.push_back({target.value, std::string(spec.label), std::string(spec.words)});
    }
    choices(ui, "For", &ExportForm::target, targets);
  }
}

/// A button that switches a part of the form.
Ui::Part toggle(Ui& ui, const char* label, bool ExportForm::*member, const char* tip) {
  SetExport set{ui.state.export_form};
  const bool on = std::exchange(set.form.*member, !(set.form.*member));
  return ui.button(label, {.on = on, .tip = tip}, std::move(set));
}

/// The theme, the extras and the size.
void draw_look_lines(Ui& ui) {
  choices(ui, "Theme", &ExportForm::dark, {{false, "Light"}, {true, "Dark"}});
  std::vector<Ui::Part> extras{toggle(ui, "Recipe", &ExportForm::recipe,
                                      "Store in the file how it was made: program, model, prompt, edits, "
                                      "options. Drop the file on the window "
                                      "to restore them")};
  const bool window = ui.state.export_form.subject.empty();
  if (!window) {
    extras.push_back(toggle(ui, "Title", &ExportForm::title, "The title above the picture"));
    extras.push_back(
        toggle(ui, "Caption", &ExportForm::caption, "The line under the picture: model, prompt, head"));
  }
  ui.place(line(ui, "With"), extras);
  if (!window)
    ui.field(Field::export_size, line(ui, "Size"), "e.g. 1200x800, 84mm or 6.5x4in; empty: automatic");
}

/// "990 × 723 pixels, 3.30 × 2.41 in (84 × 61 mm)".
std::string dimensions(const viz::Scene& page, const ExportForm& form, float scale) {
  const double w = page.width / 96.0, h = page.height / 96.0;
  const std::string printed = viz::number(w, 3) + " × " + viz::number(h, 3) + " in (" +
                              viz::fixed_number(25.4 * w, 0) + " × " + viz::fixed_number(25.4 * h, 0) +
                              " mm)";
  if (form.kind != FileFormat::png) return printed;
  const auto pixels = [scale](float side) { return grouped(viz::bitmap_side(side, scale)); };
  return pixels(page.width) + " × " + pixels(page.height) + " pixels, " + printed;
}

/// The pixels of a PNG or the letters of an SVG; the last line, because it comes and goes with those above.
void draw_detail_line(Ui& ui) {
  const ExportForm& now = ui.state.export_form;
  if (now.subject.empty() || (now.kind == FileFormat::png && now.target == Target::screen)) {
    std::vector<NamedValue<int>> scales;
    for (int scale = 1; scale <= kMaxExportScale; ++scale)
      scales.push_back({scale, std::to_string(scale) + "×", std::to_string(96 * scale) + " pixels per inch"});
    choices(ui, "Scale", &ExportForm::scale, scales);
  } else if (now.kind == FileFormat::svg) {
    choices(ui, "Text", &ExportForm::svg_text,
            {{false, "Outlines", "looks the same everywhere"},
             {true, "Text", "editable and searchable, but depends on the reader's fonts"}});
  }
}

/// The file's page as it will look, and its dimensions.
void draw_preview(Ui& ui, Rect room) {
  const ExportForm& form = ui.state.export_form;
  const View* view = find_view(form.subject);
  const Rect words = cut_bottom(room, ui.u(20), ui.u(6));
  const auto say = [&](const std::string& text) {
    ui.fill(room, ui.theme().window, ui.u(6));
    const float width = room.w - ui.u(32), height = ui.paragraph_height(text, width, Ui::kSmall);
    ui.paragraph(text, {room.x + ui.u(16), room.center().y - height / 2, width, height},
                 ui.theme().text_muted, Ui::kSmall);
  };
  if (!view) return say("The whole window, as it is on the screen without this dialog.");
  if (form.kind == FileFormat::csv)
    return say("A table of all numbers in the picture, for a spreadsheet or a script.");
  try {
    const auto [context, figure] = figure_plan(*view, form, form.kind, ui.input, ui.out.pictures);
    const CachedPicture file = ui.memory.cache.get(*view, context, ui.input.answers, figure.how);
    const viz::Scene& page = file.picture->scene;
    const Rect where = ui.page(page, room.inset(1));
    ui.stroke(where.inset(-1), ui.theme().line);
    ui.small(dimensions(page, form, figure.how.scale), words, ui.theme().text_muted, viz::Align::center);
  } catch (const std::runtime_error& e) {
    say(capitalized(e.what()));
  }
}

void draw_export_lines(Ui& ui, const Rect& place) {
  const ExportForm& form = ui.state.export_form;
  ui.begin_list("form", place);
  draw_format_lines(ui);
  if (form.kind != FileFormat::csv) {
    draw_look_lines(ui);
    draw_detail_line(ui);
  }
  ui.field(Field::export_path, line(ui, "File"), "path of the file");
  draw_path_message(ui, ui.next(ui.u(48)), form,
                    form.kind == FileFormat::csv ? ""
                    : form.recipe ? "With its recipe, the file holds the prompt, the model's name, the edits "
                                    "and all options, so that the picture can be recreated."
                                  : "Without its recipe, the file holds only the picture.");
  ui.end_list();
}

}  // namespace

void draw_export(Ui& ui) {
  constexpr float kForm = 600, kGap = 24, kMinPreview = 240, kMaxPreview = 480, kAround = 64;
  const float beside = ui.input.frame.width / ui.u(1) - kAround - kForm - kGap;
  const float preview = beside < kMinPreview ? 0 : kGap + std::min(beside, kMaxPreview);
  auto body = ui.begin_dialog(Dialog::export_, "Export", 40 + kForm + preview, 512);
  if (!body) return;
  if (preview > 0) draw_preview(ui, cut_right(*body, ui.u(preview - kGap), ui.u(kGap)));
  const Rect foot = cut_bottom(*body, ui.u(32), ui.u(8));
  draw_export_lines(ui, *body);
  const ExportForm& form = ui.state.export_form;
  ui.place(foot, {ui.button("Copy data",
                            {.unavailable = form.subject.empty() ? "The whole window has no data." : "",
                             .tip = "Copy the picture's data, tab-separated, for a spreadsheet"},
                            CopyNumbers{form.subject}),
                  ui.button("Copy picture",
                            {.unavailable = !ui.state.can_copy_pictures
                                                ? std::string(system::no_picture_clipboard())
                                            : form.kind != FileFormat::png ? "Only a PNG can be copied."
                                                                           : "",
                             .tip = "Copy the picture as PNG"},
                            DoExport{false, true}),
                  {.grows = true},
                  write_button(ui, "Export", "Export file", form, DoExport{form.state == Writing::exists})});
  ui.end_dialog();
}

}  // namespace headscope::app
