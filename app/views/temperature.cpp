#include "app/views/temperature.h"

namespace headscope::app {

const Option<double> kTemperature{{.name = "temperature",
                                   .label = "Temperature",
                                   .help = "what logits are divided by before the softmax",
                                   .usual = 1.0,
                                   .low = 0.05,
                                   .high = 2,
                                   .step = 0.05,
                                   .keys = ".,"}};

}  // namespace headscope::app
