#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include "app/ascii.h"
#include "app/views/parts/names.h"
#include "app/window/exporting.h"
#include "app/window/panels/panels.h"
#include "system/picture_clipboard.h"
#include "viz/players/players.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// Lines of a form: a label and a control.
class Form {
 public:
  Form(Ui& ui, const Rect& rect) : ui_(ui), rest_(rect) {}
  Rect line(std::string_view name, float gap = 12) {
    const float row = ui_.u(30), label = ui_.u(84);
    ui_.begin_group();
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

/// What can be exported: the shown views, the tokens, and the whole window, which is null.
std::vector<const View*> subjects(const UiState& state) {
  std::vector<const View*> shown = shown_tabs(state);
  if (const View* tokens = find_view(token_strip().id); std::ranges::count(shown, tokens) == 0)
    shown.push_back(tokens);
  for (const Place place : {Place::left, Place::right}) shown.push_back(&view_at(place));
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
  ui.field(Field::export_size, size, "e.g. 1200x800, 84mm or 6.5x4in; empty: automatic");
}

/// "990 × 723 pixels, 3.3 × 2.41 in (84 × 61 mm)".
std::string dimensions(const viz::Scene& page, const ExportForm& form, float scale) {
  const double w = page.width / 96.0, h = page.height / 96.0;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%.3g × %.3g in (%.0f × %.0f mm)", w, h, 25.4 * w, 25.4 * h);
  if (form.kind != FileFormat::png) return text.data();
  const auto pixels = [scale](float side) { return grouped(viz::bitmap_side(side, scale)); };
  return pixels(page.width) + " × " + pixels(page.height) + " pixels, " + text.data();
}

/// The file's page as it will look, and its dimensions.
void draw_preview(Ui& ui, const Rect& rect) {
  const ExportForm& form = ui.state.export_form;
  const View* view = find_view(form.subject);
  const Rect words{rect.x, rect.bottom() - ui.u(20), rect.w, ui.u(20)};
  const Rect room{rect.x, rect.y, rect.w, words.y - ui.u(6) - rect.y};
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
    const ExportSource source{ui.state, ui.snapshot, ui.input.fonts, ui.input.frame, ui.out.pictures};
    const auto [context, options, figure] = figure_plan(*view, form, form.kind, source, *ui.input.answers);
    const CachedPicture file = ui.cache.get_file(*view, context, options, ui.input.answers);
    if (!file.problem.empty()) return say(capitalized(file.problem));
    const viz::Scene& page = file.picture->scene;
    const Rect where = ui.page(page, room.inset(1));
    ui.stroke(where.inset(-1), ui.theme().line);
    ui.small(dimensions(page, form, options.scale), words, ui.theme().text_muted, viz::Align::center);
  } catch (const std::runtime_error& e) {
    say(capitalized(e.what()));
  }
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
  } else if (!draw_path_message(ui, message_area, now) && now.kind != FileFormat::csv) {
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
  constexpr float kForm = 600, kGap = 24, kLeastPreview = 240, kMostPreview = 480, kAround = 64;
  const float beside = ui.input.frame.width / ui.u(1) - kAround - kForm - kGap;
  const float preview = beside < kLeastPreview ? 0 : kGap + std::min(beside, kMostPreview);
  auto body = ui.begin_dialog(Dialog::export_, "Export", 40 + kForm + preview, 512);
  if (!body) return;
  if (preview > 0) {
    const float w = ui.u(preview - kGap);
    draw_preview(ui, {body->right() - w, body->y, w, body->h});
    body->w -= ui.u(preview);
  }
  const ExportForm& form = ui.state.export_form;
  const float row = ui.u(32), foot = body->bottom() - row;
  draw_export_lines(ui, {body->x, body->y, body->w, foot - ui.u(8) - body->y});
  RowLayout line({body->x, foot, body->w, row}, ui.u(8));
  if (ui.button(line.left(ui.button_width("Copy data")), "Copy data",
                {.unavailable = form.subject.empty() ? "The whole window has no data." : "",
                 .tip = "Copy the picture's data, tab-separated, for a spreadsheet"}))
    ui.actions.emplace_back(CopyNumbers{form.subject});
  if (ui.button(line.left(ui.button_width("Copy picture")), "Copy picture",
                {.unavailable = !ui.state.can_copy_pictures    ? std::string(system::no_picture_clipboard())
                                : form.kind != FileFormat::png ? "Only a PNG can be copied."
                                                               : "",
                 .tip = "Copy the picture as PNG"}))
    ui.actions.emplace_back(DoExport{false, true});
  if (draw_write_button(ui, *body, "Export", "Export file", form))
    ui.actions.emplace_back(DoExport{form.asked});
  draw_text_menu(ui);
  ui.end_dialog();
}

}  // namespace headscope::app
