// Building blocks shared by the panels: lines, menus, and the messages of dialogs that write files.
#include <algorithm>
#include <utility>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

Rect RowLayout::left(float width) {
  const Rect place{rest_.x, rest_.y, std::max(0.F, std::min(width, rest_.w)), rest_.h};
  skip(width + gap_);
  return place;
}

Rect RowLayout::right(float width) {
  rest_.w -= width + gap_;
  return {rest_.right() + gap_, rest_.y, width, rest_.h};
}

std::optional<Rect> MenuLayout::take(float height) {
  std::optional<Rect> line;
  if (place_) line = {place_->x, place_->y + height_, place_->w, height};
  height_ += height;
  return line;
}

bool MenuLayout::row(const Ui::Row& row, float height) {
  const auto line = take(height);
  return line && ui_.row(*line, row);
}

void MenuLayout::row(const Ui::Row& row, float height, Action action) {
  if (this->row(row, height)) ui_.actions.push_back(std::move(action));
}

void MenuLayout::gap() {
  if (const auto line = take(ui_.u(9))) {
    const float y = line->y + line->h / 2;
    ui_.line({line->x, y}, {line->right(), y}, ui_.theme().line);
  }
}

void MenuLayout::heading(std::string_view words, float height) {
  if (const auto line = take(height))
    ui_.text(words, {line->x + ui_.u(10), line->y, line->w - ui_.u(20), height}, ui_.theme().text_muted,
             viz::FontStyle::medium, 0.85F);
}

bool draw_menu(Ui& ui, Menu menu, viz::Point at, float width, const std::function<void(MenuLayout&)>& add) {
  if (!ui.is_open(menu)) return false;
  MenuLayout measured(ui, std::nullopt);
  add(measured);
  const auto place = ui.begin_menu(menu, at, width, measured.height());
  if (!place) return false;
  MenuLayout lines(ui, place);
  add(lines);
  ui.end_menu();
  return true;
}

Rect FlowLayout::take(float width) {
  if (x_ > first_.x && x_ + width > first_.right()) {
    x_ = first_.x;
    y_ += first_.h + gap_ / 2;
  }
  const Rect rect{x_, y_, std::min(width, first_.w), first_.h};
  x_ += width + gap_;
  return rect;
}

bool draw_path_message(Ui& ui, const Rect& rect, const FileForm& form) {
  if (!form.problem.empty()) {
    ui.paragraph(form.problem, rect, ui.theme().error, Ui::kSmall);
  } else if (form.asked) {
    ui.paragraph("A file with this name exists. Replace it?", rect, ui.theme().text);
  } else if (form.writing) {
    ui.paragraph("The file is being written.", rect, ui.theme().text_muted, Ui::kSmall);
  }
  return form.asked || form.writing || !form.problem.empty();
}

bool draw_write_button(Ui& ui, const Rect& body, const std::string& label, const std::string& name,
                       const FileForm& form) {
  const std::string words = form.asked ? "Replace" : label;
  const float width = ui.button_width(words) + ui.u(24), height = ui.u(32);
  return ui.button({body.right() - width, body.bottom() - height, width, height}, words,
                   {.look = Ui::Look::primary,
                    .unavailable = form.path.edit.text.empty() ? "No file is named."
                                   : form.writing              ? "The file is being written."
                                                               : "",
                    .tip = form.asked ? "Overwrite the existing file" : "Write the file  Enter",
                    .name = name});
}

}  // namespace headscope::app
