// Names of TensorRT's that converters, plugins and calibrators of the reference system use, for what this system has in
// their place. Not to be included beside TensorRT's own headers.
#pragma once

#include <string>

#include "torchtrt/network.h"
#include "torchtrt/ptq.h"
#include "torchtrt/types.h"

namespace nvinfer1 {

using torchtrt::Dims;
using torchtrt::network::LayerType;
using torchtrt::network::Weights;
using INetworkDefinition = torchtrt::network::Network;
using ITensor = torchtrt::network::Tensor;
using ILayer = torchtrt::network::Layer;

// There is one class of layers; its setters and attributes serve all kinds.
using IActivationLayer = ILayer;
using ICastLayer = ILayer;
using IConcatenationLayer = ILayer;
using IConstantLayer = ILayer;
using IConvolutionLayer = ILayer;
using IDeconvolutionLayer = ILayer;
using IElementWiseLayer = ILayer;
using IGatherLayer = ILayer;
using IIdentityLayer = ILayer;
using IMatrixMultiplyLayer = ILayer;
using IPoolingLayer = ILayer;
using IReduceLayer = ILayer;
using ISelectLayer = ILayer;
using IShuffleLayer = ILayer;
using ISliceLayer = ILayer;
using ISoftMaxLayer = ILayer;
using ITopKLayer = ILayer;
using IUnaryLayer = ILayer;

// An element type under TensorRT's names.
class DataType {
 public:
  static constexpr torchtrt::DType kFLOAT = torchtrt::DType::kFloat32;
  static constexpr torchtrt::DType kHALF = torchtrt::DType::kFloat16;
  static constexpr torchtrt::DType kBF16 = torchtrt::DType::kBFloat16;
  static constexpr torchtrt::DType kINT8 = torchtrt::DType::kInt8;
  static constexpr torchtrt::DType kINT32 = torchtrt::DType::kInt32;
  static constexpr torchtrt::DType kINT64 = torchtrt::DType::kInt64;
  static constexpr torchtrt::DType kUINT8 = torchtrt::DType::kUInt8;
  static constexpr torchtrt::DType kBOOL = torchtrt::DType::kBool;

  constexpr DataType(torchtrt::DType type) : type_(type) {}  // NOLINT(google-explicit-constructor)
  constexpr operator torchtrt::DType() const {               // NOLINT(google-explicit-constructor)
    return type_;
  }

 private:
  torchtrt::DType type_;
};

// The text that a layer's attribute `op` has here.
class Operation {
 public:
  constexpr Operation(const char* name) : name_(name) {}  // NOLINT(google-explicit-constructor)
  operator std::string() const {                          // NOLINT(google-explicit-constructor)
    return name_;
  }

 private:
  const char* name_;
};

struct ElementWiseOperation : Operation {
  using Operation::Operation;
  static constexpr const char* kSUM = "sum";
  static constexpr const char* kSUB = "sub";
  static constexpr const char* kPROD = "prod";
  static constexpr const char* kDIV = "div";
  static constexpr const char* kFLOOR_DIV = "floor_div";
  static constexpr const char* kPOW = "pow";
  static constexpr const char* kMAX = "max";
  static constexpr const char* kMIN = "min";
  static constexpr const char* kAND = "and";
  static constexpr const char* kOR = "or";
  static constexpr const char* kXOR = "xor";
  static constexpr const char* kEQUAL = "equal";
  static constexpr const char* kLESS = "less";
  static constexpr const char* kGREATER = "greater";
};

struct UnaryOperation : Operation {
  using Operation::Operation;
  static constexpr const char* kEXP = "exp";
  static constexpr const char* kLOG = "log";
  static constexpr const char* kSQRT = "sqrt";
  static constexpr const char* kABS = "abs";
  static constexpr const char* kNEG = "neg";
  static constexpr const char* kSIN = "sin";
  static constexpr const char* kCOS = "cos";
  static constexpr const char* kTAN = "tan";
  static constexpr const char* kSINH = "sinh";
  static constexpr const char* kCOSH = "cosh";
  static constexpr const char* kASIN = "asin";
  static constexpr const char* kACOS = "acos";
  static constexpr const char* kATAN = "atan";
  static constexpr const char* kASINH = "asinh";
  static constexpr const char* kACOSH = "acosh";
  static constexpr const char* kATANH = "atanh";
  static constexpr const char* kCEIL = "ceil";
  static constexpr const char* kFLOOR = "floor";
  static constexpr const char* kERF = "erf";
  static constexpr const char* kNOT = "not";
  static constexpr const char* kSIGN = "sign";
  static constexpr const char* kROUND = "round";
  static constexpr const char* kISINF = "isinf";
  static constexpr const char* kISNAN = "isnan";
  static constexpr const char* kRECIP = "reciprocal";
};

struct ActivationType : Operation {
  using Operation::Operation;
  static constexpr const char* kRELU = "relu";
  static constexpr const char* kSIGMOID = "sigmoid";
  static constexpr const char* kTANH = "tanh";
  static constexpr const char* kLEAKY_RELU = "leaky_relu";
  static constexpr const char* kELU = "elu";
  static constexpr const char* kSELU = "selu";
  static constexpr const char* kSOFTSIGN = "softsign";
  static constexpr const char* kSOFTPLUS = "softplus";
  static constexpr const char* kCLIP = "clip";
  static constexpr const char* kHARD_SIGMOID = "hard_sigmoid";
  static constexpr const char* kSCALED_TANH = "scaled_tanh";
  static constexpr const char* kTHRESHOLDED_RELU = "thresholded_relu";
  static constexpr const char* kGELU_ERF = "gelu_erf";
  static constexpr const char* kGELU_TANH = "gelu_tanh";
};

struct ReduceOperation : Operation {
  using Operation::Operation;
  static constexpr const char* kSUM = "sum";
  static constexpr const char* kPROD = "prod";
  static constexpr const char* kMAX = "max";
  static constexpr const char* kMIN = "min";
  static constexpr const char* kAVG = "avg";
};

struct PoolingType : Operation {
  using Operation::Operation;
  static constexpr const char* kMAX = "max";
  static constexpr const char* kAVERAGE = "average";
};

// addMatrixMultiply(a, MatrixOperation::kNONE, b, MatrixOperation::kTRANSPOSE)
struct MatrixOperation {
  static constexpr bool kNONE = false;
  static constexpr bool kTRANSPOSE = true;
};

// Methods of calibration, for make_int8_calibrator<Method> and make_int8_cache_calibrator<Method>.
struct IInt8EntropyCalibrator {
  static constexpr auto kAlgo = torchtrt::ptq::CalibrationAlgo::kENTROPY_CALIBRATION;
};
struct IInt8EntropyCalibrator2 {
  static constexpr auto kAlgo = torchtrt::ptq::CalibrationAlgo::kENTROPY_CALIBRATION_2;
};
struct IInt8LegacyCalibrator {
  static constexpr auto kAlgo = torchtrt::ptq::CalibrationAlgo::kLEGACY_CALIBRATION;
};
struct IInt8MinMaxCalibrator {
  static constexpr auto kAlgo = torchtrt::ptq::CalibrationAlgo::kMINMAX_CALIBRATION;
};

}  // namespace nvinfer1
