#include "compiler/calibration/weight_precision.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compiler/calibration/remade_engines.h"
#include "compiler/rejections.h"
#include "lowering/precision_pins.h"
#include "quantization/weights.h"
#include "runtime/input_views.h"
#include "torchtrt/ptq.h"

namespace torchtrt::compiler {

namespace {

using quantization::WeightOptions;
using quantization::WeightRounding;

constexpr uint64_t kLeastGroup = 32;
constexpr uint64_t kMostGroup = 128;
constexpr uint64_t kGroupStep = 8;  // weights that lie together

std::string whyPinned(const ts::CompileSpec& spec, const network::Layer& layer) {
  for (const PrecisionPin& pin : spec.precision) {
    if (lowering::covers(pin.pattern, layer.location().scope)) {
      return "precision pins '" + pin.pattern + "' to " + c10::str(pin.dtype);
    }
  }
  return "";
}

WeightOptions optionsOf(const ts::CompileSpec& spec) {
  WeightOptions options;
  options.bits = spec.weight_precision == "int4" ? 4 : 8;
  options.group_size = static_cast<int64_t>(spec.group_size);
  options.has_zero_points = spec.weight_zero_points;
  options.why_not = [&spec](const network::Layer& layer) { return whyPinned(spec, layer); };
  return options;
}

}  // namespace

void checkWeightPrecision(const ts::CompileSpec& spec, const DeviceTarget& target) {
  const std::string& precision = spec.weight_precision;
  if (precision.empty()) {
    return;
  }
  if (precision != "int8" && precision != "int4") {
    rejectOption("weight_precision is '" + precision + "'", "use 'int8' or 'int4', or leave it out");
  }
  if (spec.group_size < kLeastGroup || spec.group_size > kMostGroup || spec.group_size % kGroupStep != 0) {
    rejectOption(
        c10::str("group_size is ", spec.group_size),
        c10::str("give a multiple of ", kGroupStep, " from ", kLeastGroup, " to ", kMostGroup, ", such as 64"));
  }
  if (target.engineType() != at::kCPU) {
    rejectOption("weight_precision is given and engines are for a GPU, which has no kernels for integer weights",
                 "compile for the CPU, or leave weight_precision out");
  }
  if (spec.enabled_precisions.count(DataType::kChar) != 0) {
    rejectOption("weight_precision is given and int8 is among enabled_precisions, which rounds weights in its own way",
                 "drop one of the two");
  }
}

void roundWeights(SegmentEngines& engines, const ts::CompileSpec& spec, const CalibrationRuns& runs,
                  const std::vector<torch::jit::IValue>& samples) {
  RemadeEngines remade(engines);
  Progress progress;
  WeightOptions options = optionsOf(spec);
  options.accuracy_target = spec.accuracy_target.value_or(0);
  options.progress = [&progress](size_t done, size_t all) {
    progress.at([&] {
      return "weights: " + std::to_string(done) + " of " + std::to_string(all) + " layers of an engine measured";
    });
  };
  std::vector<std::unique_ptr<WeightRounding>> roundings;
  std::vector<Report::Calibration> reports(engines.engines().size());
  for (const SegmentEngine& made : engines.engines()) {
    roundings.push_back(std::make_unique<WeightRounding>(*made.network, options));
  }
  const auto keep = [&](const runtime::Engine& engine, std::vector<at::Tensor> inputs) {
    if (const std::optional<size_t> index = remade.indexOf(engine)) {
      if (spec.accuracy_target) {
        std::vector<at::Tensor> on_host = onHost(inputs);
        roundings[*index]->add(runtime::InputViews(on_host, engine, at::kCPU).span());
      }
      ++reports[*index].calls;
      remade.keepFirst(*index, std::move(inputs));
    }
  };
  if (spec.ptq_calibrator && spec.ptq_calibrator->batches) {
    runBatches(*spec.ptq_calibrator, runs, keep);
  } else if (!samples.empty()) {
    runOnce(runs, samples, keep);
  }
  for (size_t i = 0; i < roundings.size(); ++i) {
    Report::Calibration& report = reports[i];
    report.precision = spec.weight_precision + " weights";
    if (spec.accuracy_target && report.calls == 0 && roundings[i]->hasCandidates()) {
      report.reason = "no batch reaches it";
      engines.note(i, std::move(report));
      continue;
    }
    quantization::Quantized rounded = roundings[i]->round();
    roundings[i].reset();  // and the batches that it keeps
    addLayers(rounded.layers, report);
    if (report.quantizedLayers() > 0) {
      remade.replace(i, std::move(rounded.network), report,
                     "use int8 weights or smaller groups, or give accuracy_target and a calibrator");
      report.error = report.quantizedLayers() > 0 && rounded.error >= 0 ? rounded.error : report.error;
    }
    engines.note(i, std::move(report));
  }
}

std::unique_ptr<network::Network> withRoundedWeights(const network::Network& network, const ts::CompileSpec& spec) {
  return WeightRounding(network, optionsOf(spec)).round().network;
}

}  // namespace torchtrt::compiler
