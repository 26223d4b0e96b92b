#pragma once
// The EditKind of every kind of edit. Code that visits edits includes this.
#include "app/run/edits/kinds/cells.h"
#include "app/run/edits/kinds/inputs.h"
#include "app/run/edits/kinds/patch.h"
#include "app/run/edits/kinds/values.h"
