#pragma once
#include "app/run/analyses/logit_flow.h"
#include "app/views/view.h"

namespace headscope::app::flow_picture {

/// One row for each edge and each source, sorted by magnitude; the sources and the rounding error add up to
/// the logit.
Table table_of(const ViewContext& context, const LogitFlow& flow);

}  // namespace headscope::app::flow_picture
