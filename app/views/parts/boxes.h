#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/views/content.h"
#include "app/views/parts/list.h"
#include "viz/charts/chips.h"
#include "viz/charts/curves.h"
#include "viz/charts/heatmap.h"

// Boxes that several views are made of, besides the list.
namespace headscope::app {

/// Numbers in labelled rows and columns, as a heatmap.
class Grid final : public RoleBox {
 public:
  /// `numbers`: [rows, columns]; NaN: a cell without a number. Cells are regions of this role.
  Grid(const ViewContext& context, int role, std::vector<float> numbers, std::vector<std::string> rows,
       std::vector<std::string> cols);

  /// Its look; the numbers, labels and role are there, and a scale: that of differences on the difference
  /// side, symmetric if numbers are negative, else it begins at 0.
  viz::Heatmap map;
  /// What a cell is about. Null: nothing.
  std::function<Ref(int row, int col)> refers_to;
  std::string quantity;  ///< what a cell's number is called at the mouse; empty: it is not said
  std::string unit;      ///< its unit there
  /// Facts about a cell in addition.
  std::function<void(Facts&, int row, int col)> cell_facts;
  bool moves_heads = false;              ///< arrows select the head of the row above, the column beside
  int chosen_row = -1, chosen_col = -1;  ///< the framed cell; -1: none
  /// What cells of any shape want for their words, in ems; at most twice that is used. None: all there is.
  std::optional<viz::Point> cell;
  /// Draws over the cells. Null: nothing.
  std::function<void(Picture&, const ViewContext&, const viz::Region&)> over;

  float number(int row, int col) const { return numbers_[row * map.cells.matrix.cols + col]; }

  Wish width(const ViewContext& context) const override;
  Wish height(const ViewContext& context, float width) const override;
  bool place(const ViewContext& context, viz::Rect area) override;
  void paint(Picture& picture, const ViewContext& context) const override;
  std::optional<ViewActions> on(const ViewContext&, const Spot*, const Gesture&) const override;

 private:
  Ref ref_of(const viz::Region&, int row, int col) const override {
    return refers_to ? refers_to(row, col) : Ref();
  }
  void say(Facts&, const ViewContext&, const viz::Region&, int row, int col) const override;
  int shown_cols() const {
    return map.shown.cols > 0 ? static_cast<int>(map.shown.cols) : map.cells.matrix.cols;
  }

  std::vector<float> numbers_, drawn_;
  std::vector<std::string> row_names_, col_names_;
};

/// A number for each head, [n_layer, n_head], and for `others` in further columns: a row for each layer.
std::unique_ptr<Grid> grid_of_heads(const ViewContext& context, int role, std::vector<float> numbers,
                                    std::string quantity, std::string unit = {},
                                    std::initializer_list<const char*> others = {});

/// The prompt as chips, each shaded by a number, from the list's first row or else about the chosen token.
class ShadedPrompt final : public RoleBox {
 public:
  /// `numbers`: by position; NaN or beyond their end: a chip without a colour. Ids of the regions are
  /// positions. The context must outlive it.
  ShadedPrompt(const ViewContext& context, int role, std::span<const float> numbers,
               const viz::ColorScale& scale);

  viz::ChipFlow flow;          ///< the chips' looks
  int chosen = -1;             ///< the outlined token; -1: none
  viz::Color outline;          ///< the query's colour, unless it is another
  const List* list = nullptr;  ///< whose first row is followed, in the order of positions; null: none
  /// The first line, which the wheel and a scroll bar move, while the arrows choose the next token up or
  /// down; below 0 it is one that shows the chosen token. Null: the lines do not move.
  const Option<int>* first_line = nullptr;
  std::function<Ref(int position)> refers_to;             ///< null: the token as a query, if it is run
  std::function<void(Facts&, int position)> token_facts;  ///< what is said of a token besides

  Wish width(const ViewContext& context) const override;
  Wish height(const ViewContext& context, float width) const override;
  bool place(const ViewContext& context, viz::Rect area) override;
  void paint(Picture& picture, const ViewContext& context) const override;
  std::string note() const override;
  std::optional<ViewActions> on(const ViewContext&, const Spot*, const Gesture&) const override;
  void settle(ViewActions& actions, const ViewContext& context, const Spot& at) const override;
  void add_scrolls(std::vector<Scroll>&, const ViewContext&, const Picture&) const override;

 private:
  TableRows lines_in(const ViewContext& context) const;
  std::string shown_words(const ViewContext& context) const;  ///< "12–40 of 300"
  Ref ref_of(const viz::Region& region, int, int) const override;
  void say(Facts& facts, const ViewContext& context, const viz::Region& region, int, int) const override;

  const ViewContext& context_;
  int run_length_ = 0;
  std::vector<viz::ChipPlace> places_;
  int shown_ = 0;          ///< lines
  bool has_note_ = false;  ///< next to lines that scroll
};

/// Curves over a whole number, such as a layer, below their names. `x_title` empty: x has no numbers.
BoxPtr curve_box(viz::CurveChart chart, std::string title, std::string x_title,
                 std::function<Wish(float width)> height, DrawnPlaces places);
/// Adds a curve of these values, which the content keeps; NaN: a gap. `color`: see viz::categorical.
void add_curve(viz::CurveChart& chart, Content& it, std::string name, int color, std::vector<float> values);

}  // namespace headscope::app
