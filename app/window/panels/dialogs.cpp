#include <algorithm>
#include <filesystem>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr viz::Color kShade{0, 0, 0, 90};
constexpr viz::Color kNoShade{0, 0, 0, 0};

/// The face of a menu or dialog, which takes the clicks that none of its controls takes.
void draw_sheet(PanelContext& p, const Rect& rect) {
  p.canvas.shadow(rect, p.u(10), p.u(16));
  p.canvas.fill(rect, p.theme().surface, p.u(10));
  p.canvas.stroke(rect, p.theme().line, 1, p.u(10));
  p.canvas.target({rect, {}, {}, {}, Cursor::arrow});
}

/// One line of a menu: a name, and what there is to say of it.
void draw_menu_row(PanelContext& p, const Rect& rect, std::string_view name, std::string_view more,
                   bool highlighted, bool marked, Action action) {
  const bool lit = highlighted || p.canvas.hot(rect);
  if (lit) p.canvas.fill(rect, mix(p.theme().surface, p.theme().accent, 0.16F), p.u(6));
  const float pad = p.u(10);
  const float half = more.empty() ? rect.h : rect.h / 2;
  const float lift = more.empty() ? 0 : p.u(2);
  p.canvas.text_in(name, {rect.x + pad, rect.y + lift, rect.w - 2 * pad, half}, p.theme().text,
                   marked ? viz::FontStyle::bold : viz::FontStyle::medium);
  if (!more.empty())
    p.canvas.text_in(more, {rect.x + pad, rect.y + half - lift, rect.w - 2 * pad, half}, p.theme().text_muted,
                     viz::FontStyle::regular, 0.9F);
  p.canvas.target({rect, std::move(action), {}, {}, Cursor::hand});
}

void draw_examples(PanelContext& p, const Rect& window) {
  p.canvas.begin_layer(window, ShowDialog{Dialog::none}, kNoShade);
  const auto& examples = p.state.examples;
  const float row =
      std::min(p.u(48), (window.h - p.u(80)) / static_cast<float>(std::max<std::size_t>(1, examples.size())));
  const float width = std::min(p.u(620), window.w - p.u(40));
  const Rect sheet{p.examples_button.x, p.examples_button.bottom() + p.u(4), width,
                   row * static_cast<float>(std::max<std::size_t>(1, examples.size())) + p.u(12)};
  draw_sheet(p, sheet);
  float y = sheet.y + p.u(6);
  if (examples.empty())
    p.canvas.text_in("No example prompts were found beside the program.",
                     {sheet.x + p.u(16), y, width - p.u(32), row}, p.theme().text_muted);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const ExamplePrompt& e = examples[i];
    draw_menu_row(p, {sheet.x + p.u(6), y, width - p.u(12), row}, e.title, e.look_for,
                  static_cast<int>(i) == p.state.menu_row, false, SetPrompt{e.text, e.head, e.look_for});
    y += row;
  }
}

void draw_models(PanelContext& p, const Rect& window) {
  p.canvas.begin_layer(window, ShowDialog{Dialog::none}, kNoShade);
  const auto& models = p.state.models;
  const float row = p.u(48);
  const float width = std::min(p.u(520), window.w - p.u(40));
  const auto fitting = static_cast<std::size_t>(std::max(1.0F, (window.h - p.u(160)) / row));
  // The list moves so that the highlighted row stays in sight.
  const std::size_t shown = std::min(models.size(), fitting);
  const auto chosen = static_cast<std::size_t>(std::max(0, p.state.menu_row));
  const std::size_t first = chosen < shown ? 0 : std::min(chosen, models.size() - 1) - shown + 1;
  const Rect sheet{p.models_button.right() - width, p.models_button.bottom() + p.u(4), width,
                   row * static_cast<float>(shown) + p.u(40) + p.u(14)};
  draw_sheet(p, sheet);
  float y = sheet.y + p.u(6);
  for (std::size_t i = first; i < first + shown; ++i) {
    const bool open = p.snapshot.model && p.snapshot.model->folder == models[i].folder;
    draw_menu_row(p, {sheet.x + p.u(6), y, width - p.u(12), row}, models[i].name, models[i].folder.string(),
                  static_cast<int>(i) == p.state.menu_row, open, OpenModel{models[i].folder});
    y += row;
  }
  draw_menu_row(p, {sheet.x + p.u(6), y, width - p.u(12), p.u(40)}, "Open a folder…", "",
                p.state.menu_row == static_cast<int>(models.size()), false, ShowDialog{Dialog::open});
}

/// A centred dialog with its title; returns what lies under the title.
Rect draw_frame(PanelContext& p, const Rect& window, float width, float height, std::string_view title) {
  p.canvas.begin_layer(window, ShowDialog{Dialog::none}, kShade);
  const float w = std::min(p.u(width), window.w - p.u(24));
  const float h = std::min(p.u(height), window.h - p.u(24));
  const Rect sheet{window.center().x - w / 2, window.center().y - h / 2, w, h};
  draw_sheet(p, sheet);
  const Rect head{sheet.x + p.u(20), sheet.y + p.u(10), w - p.u(40), p.u(36)};
  p.canvas.text_in(title, head, p.theme().text, viz::FontStyle::bold, 1.15F);
  p.canvas.button({head.right() - p.u(24), head.y + p.u(4), p.u(28), p.u(28)}, "×", ShowDialog{Dialog::none},
                  {.look = Canvas::Look::plain, .tip = "Close  Esc"});
  return {head.x, head.bottom() + p.u(8), head.w, sheet.bottom() - p.u(16) - head.bottom() - p.u(8)};
}

void draw_export(PanelContext& p, const Rect& window) {
  const ExportForm& form = p.state.export_form;
  const Rect body = draw_frame(p, window, 600, 330, "Export");
  const float row = p.u(32);
  const float label = p.u(96);
  float y = body.y;
  const auto line = [&](std::string_view name) {
    p.canvas.text_in(name, {body.x, y, label, row}, p.theme().text_muted);
    return Rect{body.x + label, y, body.w - label, row};
  };
  const View* view = find_view(p.state.view);
  const std::string view_title = view ? std::string(view->title) : "View";

  Rect r = line("Picture");
  std::vector<Canvas::Segment> subjects = {
      {view_title, SetExport{Subject::view, form.kind, form.scale, form.svg_text},
       form.subject == Subject::view, "The chosen view"},
      {"All heads", SetExport{Subject::heads, form.kind, form.scale, form.svg_text},
       form.subject == Subject::heads, "The grid of all heads"},
      {"Window", SetExport{Subject::window, form.kind, form.scale, form.svg_text},
       form.subject == Subject::window, "Everything that is on the screen"}};
  if (form.kind == FileFormat::csv) subjects.pop_back();
  r.w = p.canvas.segmented_width(subjects);
  p.canvas.segmented(r, subjects);
  y += row + p.u(12);

  r = line("Format");
  const std::vector<Canvas::Segment> formats = {
      {"PNG", SetExport{form.subject, FileFormat::png, form.scale, form.svg_text},
       form.kind == FileFormat::png, "Pixels"},
      {"SVG", SetExport{form.subject, FileFormat::svg, form.scale, form.svg_text},
       form.kind == FileFormat::svg, "Lines and shapes, sharp at any size"},
      {"CSV", SetExport{form.subject, FileFormat::csv, form.scale, form.svg_text},
       form.kind == FileFormat::csv, "The numbers of the picture"}};
  r.w = p.canvas.segmented_width(formats);
  p.canvas.segmented(r, formats);
  y += row + p.u(12);

  if (form.kind == FileFormat::png) {
    r = line("Scale");
    std::vector<Canvas::Segment> scales;
    for (const int scale : {1, 2, 3, 4})
      scales.push_back({std::to_string(scale) + "×", SetExport{form.subject, form.kind, scale, form.svg_text},
                        form.scale == scale, std::to_string(96 * scale) + " pixels an inch"});
    r.w = p.canvas.segmented_width(scales);
    p.canvas.segmented(r, scales);
  } else if (form.kind == FileFormat::svg) {
    r = line("Text");
    p.canvas.checkbox(r, "as text (outlines otherwise)", form.svg_text,
                      SetExport{form.subject, form.kind, form.scale, !form.svg_text},
                      "Text can be edited and searched, but looks as the reader's fonts do");
  } else {
    r = line("Numbers");
    p.canvas.text_in("commas between, full precision", r, p.theme().text);
  }
  y += row + p.u(12);

  r = line("File");
  draw_field(p, Field::export_path, {r.x, r.y - p.u(2), r.w, p.u(36)}, "path of the file");

  const float foot = body.bottom() - row;
  const float save = p.canvas.button_width("Export") + p.u(24);
  p.canvas.button({body.right() - save, foot, save, row}, "Export", DoExport{},
                  {.look = Canvas::Look::primary,
                   .enabled = !form.path.edit.text.empty(),
                   .tip = "Write the file  Enter"});
  const float copy = p.canvas.button_width("Copy numbers");
  p.canvas.button({body.x, foot, copy, row}, "Copy numbers", CopyNumbers{},
                  {.tip = "The view's numbers to the clipboard, tabs between, for a spreadsheet"});
}

void draw_open(PanelContext& p, const Rect& window) {
  const OpenForm& form = p.state.open_form;
  const Rect body = draw_frame(p, window, 720, 536, "Open a GPT-2 folder");
  const float row = p.u(30);
  float y = body.y;
  const float up = p.canvas.button_width("Up");
  p.canvas.button({body.x, y + p.u(2), up, p.u(32)}, "Up", BrowseFolder{form.folder.parent_path()},
                  {.tip = "The folder above  Alt+↑"});
  draw_field(p, Field::open_path, {body.x + up + p.u(8), y, body.w - up - p.u(8), p.u(36)}, "folder");
  y += p.u(46);
  const Rect list{body.x, y, body.w, row * OpenForm::kRows};
  p.canvas.stroke(list, p.theme().line, 1, p.u(6));
  const int count = static_cast<int>(form.entries.size());
  if (count == 0)
    p.canvas.text_in("No folders in here.", {list.x + p.u(12), list.y, list.w - p.u(24), row},
                     p.theme().text_muted);
  for (int i = form.first; i < std::min(count, form.first + OpenForm::kRows); ++i) {
    const FolderEntry& entry = form.entries[static_cast<std::size_t>(i)];
    const Rect r{list.x + p.u(2), list.y + static_cast<float>(i - form.first) * row, list.w - p.u(4), row};
    const std::filesystem::path path = form.folder / entry.name;
    Action action = entry.is_model ? Action(OpenModel{path}) : Action(BrowseFolder{path});
    draw_menu_row(p, r, entry.name + (entry.is_model ? "" : "/"), "", i == p.state.menu_row, entry.is_model,
                  std::move(action));
    if (entry.is_model)
      p.canvas.text_in("GPT-2 model", {r.x, r.y, r.w - p.u(12), r.h}, p.theme().accent,
                       viz::FontStyle::medium, 0.93F, viz::Align::right);
  }
  const std::string position = count == 0
                                   ? ""
                                   : std::to_string(form.first + 1) + "–" +
                                         std::to_string(std::min(count, form.first + OpenForm::kRows)) +
                                         " of " + std::to_string(count) + " folders";
  const float foot = body.bottom() - p.u(32);
  p.canvas.text_in(position, {body.x, foot, body.w / 2, p.u(32)}, p.theme().text_muted,
                   viz::FontStyle::regular, 0.93F);
  const float open = p.canvas.button_width("Open this folder");
  p.canvas.button({body.right() - open, foot, open, p.u(32)}, "Open this folder",
                  OpenModel{form.path.edit.text},
                  {.look = Canvas::Look::primary,
                   .enabled = !form.path.edit.text.empty(),
                   .tip = "Load the model that lies in the folder above"});
}

struct HelpLine {
  std::string keys;
  std::string what;
};

/// "S  Shift+S", "+ = −", "1 … 9": keys as they are written.
std::string written(std::string_view keys) {
  constexpr std::size_t kMany = 4;
  if (keys.size() > kMany) return key_name(keys.front()) + " … " + key_name(keys.back());
  std::string text;
  for (const char key : keys) text += (text.empty() ? "" : "  ") + key_name(key);
  return text;
}

/// Of the views: their commands, then their options, each once.
void add_keys_of_views(std::vector<HelpLine>& lines) {
  const auto add = [&](std::string_view keys, std::string what) {
    if (keys.empty()) return;
    const std::string words = written(keys);
    for (const HelpLine& line : lines)
      if (line.keys == words && line.what == what) return;
    lines.push_back({words, std::move(what)});
  };
  for (const View& view : views())
    for (const KeyCommand& command : view.commands)
      add(command.keys, std::string(view.title) + ": " + std::string(command.help));
  for (const OptionSpec* option : all_options()) add(option->keys, std::string(option->help));
}

std::vector<HelpLine> help_lines() {
  std::vector<HelpLine> lines = {
      {"Esc", "leave the prompt; stop generating; close a dialog"},
      {"Enter", "back into the prompt"},
      {"↑  ↓  ←  →", "layer above, below; head left, right"},
      {"[  ]", "query before, after"},
      {"Home  End", "first query, last query"},
      {"Tab  Shift+Tab", "next view, former view"},
      {"F", "type the numbers of a view's list, as the dimensions of curves"},
      {"B", "start token first, on and off"},
      {"Ctrl+G", "generate, stop"},
      {"Ctrl+E", "export"},
      {"Ctrl+Shift+C", "copy the view's numbers"},
      {"Ctrl+L", "example prompts"},
      {"Ctrl+O", "open a model"},
      {"Ctrl+T", "light, dark"},
      {"Ctrl+=  Ctrl+−  Ctrl+0", "larger, smaller, usual text"},
      {"Wheel  Ctrl+Wheel", "over the small maps: scroll; larger, smaller"},
      {"Ctrl+Q", "quit"},
      {"F1", "this list"},
  };
  add_keys_of_views(lines);
  return lines;
}

void draw_help(PanelContext& p, const Rect& window) {
  const Rect body = draw_frame(p, window, 760, 700, "Keys and mouse");
  const std::vector<HelpLine> lines = help_lines();
  const float row = std::min(p.u(21.5F), (body.h - p.u(100)) / static_cast<float>(lines.size()));
  float y = body.y;
  for (const HelpLine& line : lines) {
    p.canvas.text_in(line.keys, {body.x, y, p.u(180), row}, p.theme().text, viz::FontStyle::medium, 0.93F);
    p.canvas.text_in(line.what, {body.x + p.u(190), y, body.w - p.u(190), row}, p.theme().text_muted,
                     viz::FontStyle::regular, 0.93F);
    y += row;
  }
  y += p.u(10);
  p.canvas.paragraph(
      "Click a small map to choose its head, a row of the heatmap or a chip to choose the query, a bar to "
      "append its token. "
      "The wheel zooms the heatmap about the mouse, dragging moves it, a double click shows all of it. Drop "
      "a folder on the "
      "window to open the model in it.",
      {body.x, y}, body.w, p.theme().text, 0.93F);
}

}  // namespace

void draw_dialog(PanelContext& p, const Rect& window) {
  switch (p.state.dialog) {
    case Dialog::none:
      break;
    case Dialog::examples:
      draw_examples(p, window);
      break;
    case Dialog::models:
      draw_models(p, window);
      break;
    case Dialog::open:
      draw_open(p, window);
      break;
    case Dialog::export_:
      draw_export(p, window);
      break;
    case Dialog::help:
      draw_help(p, window);
      break;
  }
}

}  // namespace headscope::app
