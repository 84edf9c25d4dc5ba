#include "compiler/calibration/remade_engines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/logging.h"
#include "compiler/reports/text.h"
#include "runtime/execute.h"

namespace torchtrt::compiler {

namespace {

// Relative, in 2-norms. A result that is further from float is no longer an approximation of it.
constexpr double kGross = 0.5;

// Returns |got - expected| / |expected| in 2-norms, of the floating output that is the furthest; negative if none has
// elements. Values that are not finite, such as the -inf of a mask, have to be the same.
double relativeError(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& got) {
  double worst = -1;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].is_floating_point() || expected[i].numel() == 0) {
      continue;
    }
    const at::Tensor wanted = expected[i].to(at::kDouble);
    const at::Tensor value = got[i].to(at::kDouble);
    const at::Tensor is_same = at::isclose(value, wanted, /*rtol=*/0, /*atol=*/0, /*equal_nan=*/true);
    const double difference = (value - wanted).masked_fill(is_same, 0).norm().item<double>();
    const double norm = wanted.masked_fill(~wanted.isfinite(), 0).norm().item<double>();
    const double error = difference == 0 ? 0 : difference / norm;
    worst = std::max(worst, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  }
  return worst;
}

// An empty batch tells no error, if another follows.
bool hasEmpty(const std::vector<at::Tensor>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) { return input.numel() == 0; });
}

}  // namespace

std::vector<at::Tensor> onHost(std::vector<at::Tensor> inputs) {
  std::for_each(inputs.begin(), inputs.end(), [](at::Tensor& input) { input = input.to(at::kCPU); });
  return inputs;
}

void addLayers(const std::vector<quantization::LayerChoice>& choices, Report::Calibration& report) {
  for (const quantization::LayerChoice& choice : choices) {
    report.layers.push_back(
        {choice.layer, choice.kind, toString(choice.location), choice.is_quantized, choice.reason, choice.error});
  }
}

std::optional<size_t> RemadeEngines::indexOf(const runtime::Engine& engine) const {
  const SegmentEngine* const made = engines_.find(engine);
  return made == nullptr ? std::nullopt : std::optional(static_cast<size_t>(made - engines_.engines().data()));
}

void RemadeEngines::keepFirst(size_t index, std::vector<at::Tensor> inputs) {
  if (!inputs_[index] || (hasEmpty(*inputs_[index]) && !hasEmpty(inputs))) {
    inputs_[index] = std::move(inputs);
  }
}

void RemadeEngines::replace(size_t index, std::unique_ptr<network::Network> network, Report::Calibration& report,
                            const std::string& advice) {
  try {
    SegmentEngine made = engines_.remade(index, std::move(network));
    report.error = errorOf(index, made);
    if (report.error <= kGross) {
      engines_.replace(index, std::move(made));
      return;
    }
    report.reason = "in " + report.precision + " its results are off by " + brief(report.error) +
                    " of their norm in its first call";
  } catch (const std::exception& error) {
    if (isStrict()) {
      throw;
    }
    report.reason = std::string("its integer form fails: ") + error.what();
  }
  report.error = -1;
  for (Report::Layer& layer : report.layers) {
    layer.is_quantized = false;
    layer.reason = "the whole engine stays in float";
  }
  TORCHTRT_LOG(kWARNING,
               "engine " << engines_.engines()[index].name << " stays in float: " << report.reason << "; " << advice);
}

double RemadeEngines::errorOf(size_t index, const SegmentEngine& made) {
  if (!inputs_[index]) {
    return -1;
  }
  const std::vector<at::Tensor> expected = runtime::runEngine(*inputs_[index], *engines_.engines()[index].engine);
  return relativeError(expected, runtime::runEngine(*inputs_[index], *made.engine));
}

}  // namespace torchtrt::compiler
