// Engines that are made again of quantized networks, and compared with what they were.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "compiler/segments/segment_engines.h"
#include "quantization/quantization.h"
#include "torchtrt/compile.h"

namespace torchtrt::compiler {

// Copies of tensors that are on another device: neither ranges nor errors depend on the device.
std::vector<at::Tensor> onHost(std::vector<at::Tensor> inputs);

// Puts the choices of a quantization into a report.
void addLayers(const std::vector<quantization::LayerChoice>& choices, Report::Calibration& report);

// The engines of a compile, all of which keep their networks. It has to outlive this.
class RemadeEngines {
 public:
  explicit RemadeEngines(SegmentEngines& engines) : engines_(engines), inputs_(engines.engines().size()) {}

  // Nothing for engines that the source itself came with.
  std::optional<size_t> indexOf(const runtime::Engine& engine) const;

  // Keeps the inputs of an engine's first call that has any element: what its error is measured on.
  void keepFirst(size_t index, std::vector<at::Tensor> inputs);

  // Puts an engine of the network into the place of one, and its error into the report. It stays as it is if the new
  // one fails, or if its results are off by more than half of their norm. Then the report says why and no layer of it
  // is quantized, and a warning gives the advice.
  void replace(size_t index, std::unique_ptr<network::Network> network, Report::Calibration& report,
               const std::string& advice);

 private:
  double errorOf(size_t index, const SegmentEngine& made);

  SegmentEngines& engines_;
  std::vector<std::optional<std::vector<at::Tensor>>> inputs_;  // by engine
};

}  // namespace torchtrt::compiler
