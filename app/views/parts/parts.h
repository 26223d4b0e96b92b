#pragma once
#include <algorithm>
#include <cmath>

#include "app/views/parts/attention_maps.h"
#include "app/views/parts/boxes.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/edited.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/list.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/parts/prompt_list_words.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/strips.h"
#include "app/views/parts/weight_colors.h"
#include "viz/charts/axis.h"
#include "viz/charts/heatmap.h"
#include "viz/charts/number_axis.h"
#include "viz/scene/colormap.h"

// All that views are made of.
