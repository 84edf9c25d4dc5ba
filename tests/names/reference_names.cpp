// Names of the reference systems' C++ interfaces, as users write them, in a program of C++17. A missing name fails to
// compile; main() checks values and returns the number of those that are wrong.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <torch/script.h>

#include "all_public_headers.h"

namespace {

int wrong = 0;

void check(bool is_right, const char* what) {
  if (!is_right) {
    std::cerr << "wrong: " << what << "\n";
    ++wrong;
  }
}

void checkInputs() {
  using torch_tensorrt::Input;
  const at::Tensor tensor = torch::ones({1, 2});
  check(Input().shape.empty(), "Input()");
  check(Input({1, 1, 32, 32}).shape.size() == 4, "Input of sizes in braces");
  check(std::vector<Input>{{{1, 1, 32, 32}}}.front().shape.size() == 4, "a vector of sizes in braces");
  check(Input({1, 2}, torch::kHalf).dtype == torch_tensorrt::DataType::kHalf, "Input of sizes and dtype");
  check(Input({1, 2}, {2, 2}, {3, 2}).max_shape[0] == 3, "Input of a range in braces");
  check(Input({1, 2}, {2, 2}, {3, 2}, torch::kHalf, {0.0, 1.0}).tensor_domain[1] == 1, "Input of all");
  check(
      Input({1, 2}, torch_tensorrt::TensorFormat::kChannelsLast).format == torch_tensorrt::TensorFormat::kChannelsLast,
      "format");
  check(Input({1, 2}, std::vector<double>{0, 1}).tensor_domain[1] == 1, "domain");
  check(Input(std::vector<int64_t>{1, 2}).shape[1] == 2, "Input of a vector");
  check(Input(tensor.sizes()).shape[1] == 2, "Input of sizes()");
  check(Input(tensor.sizes(), torch::kHalf).dtype == torch::kHalf, "Input of sizes() and dtype");
  check(Input(tensor).sample.defined(), "Input of a tensor");
  check(Input({1, 2}).isDynamic() == false, "isDynamic");
}

void checkOptions() {
  using torch_tensorrt::DataType;
  check(DataType(torch::kHalf) == torch::kHalf && DataType::kFloat != DataType(torch::kHalf), "DataType == ScalarType");
  check(DataType(DataType::kFloat) != torch::kHalf && DataType() != torch::kComplexFloat, "DataType != ScalarType");
  torch_tensorrt::Device device;
  device.device_type = torch_tensorrt::Device::DeviceType::kGPU;
  device.device_type = torch::kCUDA;
  device.gpu_id = 0;
  device.dla_core = 0;
  device.allow_gpu_fallback = false;
  torch_tensorrt::ts::CompileSpec spec(std::vector<std::vector<int64_t>>{{1, 3, 224, 224}});
  spec.enabled_precisions.insert(torch::kHalf);
  spec.disable_tf32 = spec.sparse_weights = spec.refit = spec.debug = spec.truncate_long_and_double = false;
  spec.allow_shape_tensors = spec.require_full_compilation = false;
  spec.capability = torch_tensorrt::EngineCapability::kSTANDARD;
  spec.num_avg_timing_iters = 1;
  spec.workspace_size = spec.dla_sram_size + spec.dla_local_dram_size + spec.dla_global_dram_size;
  spec.min_block_size = 2;
  spec.torch_executed_ops.push_back("aten::relu");
  spec.torch_executed_modules.emplace_back("layer1");
  check(spec.graph_inputs.inputs.size() == 1, "graph_inputs");
  const std::vector<c10::ArrayRef<int64_t>> sizes = {torch::ones({1, 2}).sizes()};
  check(torchtrt::torchscript::CompileSpec(sizes).graph_inputs.inputs.size() == 1, "CompileSpec of ArrayRefs");
  check(torchtrt::ts::CompileSpec(torch::jit::IValue(c10::make_intrusive<torchtrt::Input>(std::vector<int64_t>{1, 2})))
                .graph_inputs.inputs.size() == 1,
        "CompileSpec of a signature");
  check(!torch_tensorrt::get_build_info().empty(), "get_build_info");
}

void checkFunctions() {
  torch::jit::Module module("names");
  module.define("def forward(self, x):\n  return torch.relu(x)\n");
  module.eval();
  const at::Tensor x = torch::randn({1, 2});
  const torchtrt::ts::CompileSpec spec(std::vector<torchtrt::Input>{{{1, 2}}});
  check(torch_tensorrt::ts::check_method_operator_support(module, "forward"), "check_method_operator_support");
  check(torch_tensorrt::ts::compile(module, spec).forward({x}).toTensor().equal(x.relu()), "compile");
  const std::string engine = torch_tensorrt::ts::convert_method_to_trt_engine(module, "forward", spec);
  auto embedded = torch_tensorrt::ts::embed_engine_in_new_module(engine, torch_tensorrt::Device());
  check(embedded.forward({x}).toTensor().equal(x.relu()), "embed_engine_in_new_module");
  trtorch::ExtraInfo info(std::vector<trtorch::ExtraInfo::InputRange>{{x.sizes()}});
  info.op_precision = trtorch::ExtraInfo::DataType::kFloat;
  check(trtorch::CompileGraph(module, info).forward({x}).toTensor().equal(x.relu()), "CompileGraph");
  check(trtorch::CompileGraph(module, std::vector<trtorch::ExtraInfo::InputRange>{{x.sizes()}}).forward({x}).isTensor(),
        "CompileGraph of ranges");
  check(!trtorch::ConvertGraphToTRTEngine(module, "forward", info).empty(), "ConvertGraphToTRTEngine");
  check(trtorch::CheckMethodOperatorSupport(module, "forward"), "CheckMethodOperatorSupport");
  check(trtorch::ExtraInfo::InputRange({1, 2}, {2, 2}, {3, 2}).max[0] == 3, "InputRange of braces");
  bool is_refused = false;
  try {
    torch_tensorrt::set_device(0);
  } catch (const torchtrt::CompileError& error) {
    is_refused = std::string(error.what()).find("[C003]") != std::string::npos;
  }
  check(is_refused, "set_device is refused");
}

void checkConverterNames() {
  namespace converters = trtorch::core::conversion::converters;
  torchtrt::network::Network network;
  trtorch::core::conversion::ConversionCtx ctx(network);
  nvinfer1::INetworkDefinition& net = *ctx.net;
  nvinfer1::ITensor* x = net.addInput("x", nvinfer1::DataType::kFLOAT, nvinfer1::Dims{2, 3});
  const nvinfer1::ElementWiseOperation sum = nvinfer1::ElementWiseOperation::kSUM;
  nvinfer1::ILayer* layer = net.addElementWise(*x, *x, nvinfer1::ElementWiseOperation::kPROD);
  layer = net.addElementWise(*layer->getOutput(0), *x, sum);
  const nvinfer1::DataType type = layer->getOutput(0)->getType();
  check(type == nvinfer1::DataType::kFLOAT, "nvinfer1::DataType");
  check(layer->getType() == nvinfer1::LayerType::kELEMENTWISE, "nvinfer1::LayerType");
  nvinfer1::IUnaryLayer* unary = net.addUnary(*x, nvinfer1::UnaryOperation::kEXP);
  net.addActivation(*unary->getOutput(0), nvinfer1::ActivationType::kRELU);
  net.addReduce(*x, nvinfer1::ReduceOperation::kSUM, {1}, true);
  const converters::Weights weights(&ctx, torch::arange(6.0, torch::kFloat));
  nvinfer1::IConstantLayer* constant = net.addConstant(weights);
  check(constant->getOutput(0)->getDimensions() == nvinfer1::Dims{6}, "addConstant of weights");
  net.addMatrixMultiply(*x, nvinfer1::MatrixOperation::kNONE, *x, nvinfer1::MatrixOperation::kTRANSPOSE);
  std::ostringstream text;
  text << weights;
  check(text.str() == "float32[6], 6 output maps, 1 input maps, kernel []", text.str().c_str());
  net.markOutput(*layer->getOutput(0));
  torchtrt::network::verify(network);
}

void checkCalibrators() {
  namespace ptq = torch_tensorrt::ptq;
  using Algo = torchtrt::ptq::CalibrationAlgo;
  const std::vector<at::Tensor> batches = {torch::ones({1, 2})};
  check(ptq::make_int8_calibrator<nvinfer1::IInt8MinMaxCalibrator>(batches, "file", true)->algo ==
            Algo::kMINMAX_CALIBRATION,
        "make_int8_calibrator<>");
  check(
      ptq::make_int8_cache_calibrator<nvinfer1::IInt8EntropyCalibrator2>("file")->algo == Algo::kENTROPY_CALIBRATION_2,
      "make_int8_cache_calibrator<>");
  check(ptq::make_int8_calibrator(batches, "file", false)->cache_file == "file", "make_int8_calibrator");
  check(ptq::make_int8_cache_calibrator("file")->use_cache, "make_int8_cache_calibrator");
  check(trtorch::ptq::make_int8_cache_calibrator<nvinfer1::IInt8LegacyCalibrator>("file")->algo ==
            Algo::kLEGACY_CALIBRATION,
        "trtorch::ptq");
}

void checkLogging() {
  namespace logging = torch_tensorrt::logging;
  const logging::Level before = logging::get_reportable_log_level();
  logging::set_reportable_log_level(logging::Level::kERROR);
  check(logging::get_reportable_log_level() == logging::Level::kERROR, "log level");
  logging::set_logging_prefix("[names] ");
  check(logging::get_logging_prefix() == "[names] ", "prefix");
  logging::set_is_colored_output_on(false);
  check(!logging::get_is_colored_output_on(), "colour");
  logging::log(logging::Level::kGRAPH, "not shown");
  logging::set_reportable_log_level(before);
}

#ifndef TORCH_TENSORRT_VERSION
#error "torch_tensorrt/macros.h defines the version"
#endif
static_assert(TORCH_TENSORRT_MAJOR_VERSION >= 0 && TORCH_TENSORRT_MINOR_VERSION >= 0 &&
                  TORCH_TENSORRT_PATCH_VERSION >= 0,
              "version");

}  // namespace

int main() {
  checkInputs();
  checkOptions();
  checkFunctions();
  checkConverterNames();
  checkCalibrators();
  checkLogging();
  return wrong;
}
