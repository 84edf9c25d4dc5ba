// The functions of cuDNN's graph interface that convolutions and attention call, as a table: tests put others in their
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cuda/driver/driver.h"

namespace torchtrt::cuda {

// The library's handles, codes, kinds of descriptors and their attributes, as the ABI of version 9 has them.
namespace dnn {

using Status = int;
inline constexpr Status kSuccess = 0, kNoHostMemory = 4003, kNoDeviceMemory = 4004;
using Handle = void*;
using Object = void*;  // a descriptor of any kind

enum Kind : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kConfiguration = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackward = 12,
  kPointwiseOperation = 13,
  kGraph = 15,
  kPointers = 16,
  kTensor = 17,
  kAttention = 41,  // since 9.13
};

enum Type : int {  // of attributes
  kHandle = 0,
  kDataType = 1,
  kBoolean = 2,
  kInt64 = 3,
  kFloat = 4,
  kDouble = 5,
  kPointer = 6,
  kConvolutionMode = 7,
  kHeuristicMode = 8,
  kNanPropagation = 10,
  kNumericalNote = 11,
  kPointwiseMode = 14,
  kObject = 15,
};

enum Attribute : int {
  kPointwiseModeIs = 0,
  kPointwisePrecision = 1,
  kPointwiseNan = 2,
  kPointwiseUpperClip = 4,
  kPointwiseSlope = 5,
  kConvolutionPrecision = 100,
  kConvolutionModeIs = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionDims = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigurationEngine = 300,
  kPlanHandle = 400,
  kPlanConfiguration = 401,
  kPlanWorkspace = 402,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardWeights = 703,
  kForwardX = 704,
  kForwardY = 705,
  kBackwardAlpha = 706,
  kBackwardBeta = 707,
  kBackwardConvolution = 708,
  kBackwardWeights = 709,
  kBackwardX = 710,
  kBackwardY = 711,
  kPointwiseDescription = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDims = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kPointersIds = 1000,
  kPointersData = 1001,
  kPointersWorkspace = 1003,
  kEngineNotes = 1303,
  kAttentionQ = 2800,
  kAttentionK = 2801,
  kAttentionV = 2802,
  kAttentionOut = 2803,
  kAttentionScale = 2805,
};

inline constexpr int kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBFloat16 = 9;  // of elements, and to compute in
inline constexpr int kCrossCorrelation = 1;
inline constexpr int kHeuristicsFallback = 2, kHeuristicsA = 3;
inline constexpr int kPropagateNan = 1;
inline constexpr int kAdd = 0, kMultiply = 1, kRelu = 100, kTanh = 101, kSigmoid = 102, kGeluErf = 104, kSilu = 106,
                     kGeluTanh = 107;
// Properties of an engine that change numbers.
enum Note : int {
  kTensorCore = 0,
  kConvertsInputs = 1,
  kReducesInHalf = 2,
  kFourier = 3,
  kNondeterministic = 4,
  kWinograd = 5,
  kWinograd4 = 6,
  kWinograd6 = 7,
  kWinograd13 = 8,
  kNotes = 10
};

}  // namespace dnn

// F(member, symbol, signature)
#define TORCHTRT_CUDNN_FUNCTIONS(F)                                                                  \
  F(create, cudnnCreate, dnn::Status (*)(dnn::Handle*))                                              \
  F(setStream, cudnnSetStream, dnn::Status (*)(dnn::Handle, StreamHandle))                           \
  F(statusText, cudnnGetErrorString, const char* (*)(dnn::Status))                                   \
  F(lastError, cudnnGetLastErrorString, void (*)(char*, size_t))                                     \
  F(createObject, cudnnBackendCreateDescriptor, dnn::Status (*)(int, dnn::Object*))                  \
  F(destroyObject, cudnnBackendDestroyDescriptor, dnn::Status (*)(dnn::Object))                      \
  F(finalize, cudnnBackendFinalize, dnn::Status (*)(dnn::Object))                                    \
  F(set, cudnnBackendSetAttribute, dnn::Status (*)(dnn::Object, int, int, int64_t, const void*))     \
  F(get, cudnnBackendGetAttribute, dnn::Status (*)(dnn::Object, int, int, int64_t, int64_t*, void*)) \
  F(execute, cudnnBackendExecute, dnn::Status (*)(dnn::Handle, dnn::Object, dnn::Object))

struct Cudnn {
#define TORCHTRT_DECLARE(member, symbol, ...) \
  using member##_type = __VA_ARGS__;          \
  member##_type member = nullptr;
  TORCHTRT_CUDNN_FUNCTIONS(TORCHTRT_DECLARE)
#undef TORCHTRT_DECLARE
};

// Opens the library at the first call; that touches no driver. Null, with the reason, where there is none.
const Cudnn* findCudnn(std::string& reason);
// Lets tests replace the table: kernels that are created from now on call this one; with a reason, they find no
// library.
void useCudnn(const Cudnn& table, const std::string& reason = "");

// Throws EngineError that says what failed, by the library's own words.
void check(const Cudnn& api, dnn::Status status, std::string_view purpose);

}  // namespace torchtrt::cuda
