#pragma once
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"
#include "viz/charts/table.h"

// Tables for tests: one column of every kind.
namespace headscope::viz::testing {

using Kind = TableColumn::Kind;

inline constexpr int kRows = 23, kComponents = 16;
inline constexpr int kRowRole = 4, kVectorRole = 9;
enum Column { kIndex, kWord, kScore, kVector, kProduct };

/// The data that a table refers to.
struct Data {
  std::vector<std::string> words;
  std::vector<std::vector<float>> vectors;
  std::vector<float> scores;
  std::vector<float> sum;

  explicit Data(int rows = kRows) : sum(kComponents, 0.25F) {
    for (int row = 0; row < rows; ++row) {
      words.push_back(row % 7 == 6 ? "·extraordinarily·long·" + std::to_string(row)
                                   : "·w" + std::to_string(row));
      scores.push_back(0.7F * static_cast<float>(row * 5 % 23) - 4);
      std::vector<float>& vector = vectors.emplace_back();
      for (int i = 0; i < kComponents; ++i) vector.push_back(std::sin(static_cast<float>(3 * row + i)));
    }
  }
};

inline TableColumn column_of(Kind kind, std::string heading, int importance) {
  TableColumn column;
  column.kind = kind;
  column.heading = std::move(heading);
  column.importance = importance;
  column.color = column.heading_color = kLight.text;
  return column;
}

inline FixedCell cell_of(int column, std::string text = "") {
  FixedCell cell;
  cell.column = column;
  cell.text = std::move(text);
  return cell;
}

/// A table with one column of every kind.
inline Table table_of(const Data& data) {
  Table table;
  table.rows = static_cast<int>(data.words.size());
  table.columns.resize(kProduct + 1);
  TableColumn& index = table.columns[kIndex] = column_of(Kind::number, "no", 3);
  index.numbers.resize(data.words.size());
  std::iota(index.numbers.begin(), index.numbers.end(), 0.F);
  index.decimals = 0;
  table.columns[kWord] = column_of(Kind::text, "word", 5);
  table.columns[kWord].texts = data.words;
  TableColumn& score = table.columns[kScore] = column_of(Kind::bar, "score", 4);
  score.numbers = data.scores;
  score.low = -20, score.high = 20;
  score.axis = true;
  TableColumn& vector = table.columns[kVector] = column_of(Kind::strip, "vector v", 2);
  vector.vectors.assign(data.vectors.begin(), data.vectors.end());
  vector.scale = diverging_scale(1);
  vector.vector_row = kVector;
  TableColumn& product = table.columns[kProduct] = vector;
  product.heading = "score × v";
  product.importance = 1;
  product.factors = data.scores;
  product.scale = diverging_scale(12);
  product.vector_row = kProduct;
  FixedCell own_word = cell_of(kWord, "·own"), own_vector = cell_of(kVector), sum = cell_of(kProduct);
  own_vector.vector = sum.vector = data.sum;
  own_vector.vector_id = 100;
  own_vector.vector_row = 7;
  own_vector.beside = "its own";
  sum.vector_id = 101;
  sum.beside = "z";
  table.header = {{own_word, own_vector}};
  table.footer = {{cell_of(kWord, "sum"), cell_of(kScore, "12.345"), sum}};
  table.row_names = "rows";
  table.row_role = kRowRole;
  table.vector_role = kVectorRole;
  return table;
}

struct PaintedTable {
  TableLayout layout;
  Picture picture;
};
inline PaintedTable paint(const Table& table, float width, float height, const Style& s = style_of()) {
  constexpr float kMargin = 16;
  PaintedTable result;
  result.picture.scene = testing::blank(width + 2 * kMargin, height + 2 * kMargin, s.theme.surface);
  result.layout = lay_out_table(table, {kMargin, kMargin, width, height}, s);
  paint_table(result.picture, table, result.layout, s);
  return result;
}

}  // namespace headscope::viz::testing
