#pragma once

// The parts that nearly every view is made of.
#include "app/views/parts/comparison_words.h"  // IWYU pragma: begin_exports
#include "app/views/parts/difference.h"
#include "app/views/parts/file_rows.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/options.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"  // IWYU pragma: end_exports
