#include "app/run/analyses/measured_cells.h"

#include <limits>

#include "app/run/analyses/next_token.h"
#include "app/run/analyses/sweep.h"
#include "app/run/place_names.h"

namespace headscope::app {

MeasuredCells cells_of(const SweepOf& question, const Sweep& sweep, SweepMetric metric, bool estimated,
                       const SweepReading* source) {
  const bool shares = source != nullptr;
  const std::string unit = metric == SweepMetric::divergence && !shares ? "bits" : "";
  MeasuredCells all;
  for (int layer = 0; layer < sweep.layers; ++layer)
    for (int column = 0; column < sweep.columns; ++column) {
      const SweepPlace place = question.place_of(layer, column);
      MeanCell cell{
          part_name(place), {.layer = place.layer, .head = place.head, .position = place.position}, unit};
      if (place.position) cell.name += " at " + std::to_string(*place.position);
      if (place.is_mlp) cell.place.part = "mlp";
      const double change =
          estimated ? sweep.estimate(metric, layer, column) : sweep.difference(metric, layer, column);
      all.add(std::move(cell), shares ? restored(sweep, *source, metric, change) : change);
    }
  all.add({"in the run", {}, unit}, sweep.before.of(metric));
  if (shares) all.add({"in the second one", {}, unit}, source->of(metric));
  return all;
}

MeasuredCells cells_of(const LogitLens& lens, int position) {
  const int n_layer = lens.places / 2;
  MeasuredCells all;
  for (int place = 0; place < lens.places; ++place) {
    const model::LensReading& at = lens.at(position, place);
    const auto add = [&](const char* quantity, const char* words, double number, const char* unit = "") {
      all.add({lens_place_name(place, n_layer) + " " + words,
               {.hook = lens_hook_name(place, n_layer), .quantity = quantity},
               unit},
              number);
    };
    const int rank = at.guesses.next_rank;
    add("probability", "probability", at.guesses.next_probability);
    add("rank", "rank", rank < 0 ? std::numeric_limits<double>::quiet_NaN() : rank + 1);
    add("kl", "KL", bits(at.divergence), "bits");
  }
  return all;
}

MeasuredCells cells_of(const Attribution& a) {
  MeasuredCells all;
  all.add({"token embedding", {.part = "token_embedding"}}, a.token_embedding);
  all.add({"position embedding", {.part = "position_embedding"}}, a.position_embedding);
  for (int layer = 0; layer < a.layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    for (int head = 0; head < a.n_head(); ++head)
      all.add({head_name(layer, head), {.layer = layer, .head = head}}, a.head(layer, head));
    all.add({name + " attention bias", {.layer = layer, .part = "attention_bias"}}, a.attention_bias[layer]);
    all.add({name + " MLP", {.layer = layer, .part = "mlp"}}, a.mlps[layer]);
  }
  all.add({"ln_f bias", {.part = "ln_f_bias"}}, a.final_bias);
  all.add({"edits", {.part = "edits"}}, a.edits);
  all.add({"the model's"}, a.logit);
  return all;
}

}  // namespace headscope::app
