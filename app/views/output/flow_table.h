#pragma once
#include "app/run/analyses/logit_flow.h"
#include "app/views/view.h"

namespace headscope::app::flow_picture {

/// One row for each edge and each source; the sources add up to the logit. Sorted by magnitude after the
/// first.
Table table_of(const ViewContext& context, const LogitFlow& flow);

}  // namespace headscope::app::flow_picture
