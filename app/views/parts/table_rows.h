#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "app/views/view.h"

namespace headscope::app {

/// Which row of a table is the first that shows, where the picture is scrolled to. `usual` -1: "auto", as the
/// view wants it. `follows`: as usual again with another query or prompt.
Option<int> first_row_option(std::string_view name, std::string_view label, std::string_view help,
                             bool follows = false, int usual = 0);
/// The first of `shown` rows, so that one of them is in sight.
int first_row_showing(int row, int shown);

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
