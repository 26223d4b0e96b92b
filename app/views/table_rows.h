#pragma once
#include <optional>
#include <vector>

#include "app/views/view.h"

namespace headscope::app {

/// Of tables with a row for each key.
extern const Option<bool> kStrongestFirst;

/// The rows of a table in a picture that can be scrolled: which of them show, and where.
struct TableRows {
  const Option<int>* option = nullptr;  ///< which row is the first
  int first = 0;
  int shown = 0;  ///< 0: there is no table
  int all = 0;
  viz::Rect place;

  bool scrolls() const { return shown > 0 && shown < all; }
  /// Scrolled to a row, as far as there are some.
  SetOption from(double row) const;
  ViewActions by_wheel(const Gesture& gesture) const;
  /// What a key means: lines, pages, both ends. Nothing: it is none of those, or there is no table.
  std::optional<ViewActions> by_key(Key key) const;
  /// None where all rows are in sight; the bar stands at `right`.
  std::vector<Scroll> bars(float right) const;
};

/// Those of the regions of a role, of `all` there are; `first` as the table has it.
TableRows table_rows_of(const Picture& picture, int role, int all, int first, const Option<int>& option);

}  // namespace headscope::app
