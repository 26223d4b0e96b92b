#pragma once
#include "app/views/table.h"
#include "app/views/view.h"

namespace headscope::app {

/// A view's numbers as exported and copied. On the difference side, the last column of every row names the
/// subtraction: "edited - unedited", "first - second prompt".
Table exported_table(const View& view, const ViewContext& context);

}  // namespace headscope::app
