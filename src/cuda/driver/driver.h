// The functions of the CUDA driver that this backend calls, as a table: tests put others in their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace torchtrt::cuda {

// The driver's handles and codes, as its ABI has them.
using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
using DeviceId = int;
using DevicePointer = unsigned long long;
using ContextHandle = void*;
using StreamHandle = void*;
using EventHandle = void*;
using ModuleHandle = void*;
using FunctionHandle = void*;
using GraphHandle = void*;
using GraphExecHandle = void*;
using NodeHandle = void*;

inline constexpr int kAttributeComputeMajor = 75;
inline constexpr int kAttributeComputeMinor = 76;
inline constexpr int kAttributeProcessors = 16;
inline constexpr int kAttributeL2Bytes = 38;
inline constexpr unsigned kHostAllocMapped = 2;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr int kKernelNode = 0;
inline constexpr int kMemsetNode = 2;
inline constexpr int kFunctionSharedBytes = 8;  // the most dynamic shared memory of its launches

// CUlaunchAttribute and CUlaunchConfig
inline constexpr int kLaunchBeginsEarly = 6;  // programmatic stream serialization
struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  union {
    char all[64] = {};
    int is_set;
  };
};
struct LaunchConfiguration {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNodeParameters {
  FunctionHandle function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void** arguments = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  ContextHandle context = nullptr;
};

// CUDA_MEMSET_NODE_PARAMS_v1
struct MemsetParameters {
  DevicePointer to = 0;
  size_t pitch = 0;
  unsigned value = 0;
  unsigned element_bytes = 1;
  size_t width = 0, height = 1;
};

// CUgraphEdgeData
struct EdgeData {
  unsigned char bytes[8];
};

// TORCHTRT_CUDA_DRIVER(member, symbol, signature)
#define TORCHTRT_CUDA_DRIVER_FUNCTIONS(F)                                                                            \
  F(init, cuInit, Result (*)(unsigned))                                                                              \
  F(driverVersion, cuDriverGetVersion, Result (*)(int*))                                                             \
  F(errorString, cuGetErrorString, Result (*)(Result, const char**))                                                 \
  F(deviceCount, cuDeviceGetCount, Result (*)(int*))                                                                 \
  F(deviceGet, cuDeviceGet, Result (*)(DeviceId*, int))                                                              \
  F(deviceName, cuDeviceGetName, Result (*)(char*, int, DeviceId))                                                   \
  F(deviceAttribute, cuDeviceGetAttribute, Result (*)(int*, int, DeviceId))                                          \
  F(deviceMemory, cuDeviceTotalMem_v2, Result (*)(size_t*, DeviceId))                                                \
  F(retainContext, cuDevicePrimaryCtxRetain, Result (*)(ContextHandle*, DeviceId))                                   \
  F(releaseContext, cuDevicePrimaryCtxRelease_v2, Result (*)(DeviceId))                                              \
  F(currentContext, cuCtxGetCurrent, Result (*)(ContextHandle*))                                                     \
  F(setContext, cuCtxSetCurrent, Result (*)(ContextHandle))                                                          \
  F(allocate, cuMemAllocAsync, Result (*)(DevicePointer*, size_t, StreamHandle))                                     \
  F(free, cuMemFreeAsync, Result (*)(DevicePointer, StreamHandle))                                                   \
  F(allocateHost, cuMemHostAlloc, Result (*)(void**, size_t, unsigned))                                              \
  F(freeHost, cuMemFreeHost, Result (*)(void*))                                                                      \
  F(hostPointer, cuMemHostGetDevicePointer_v2, Result (*)(DevicePointer*, void*, unsigned))                          \
  F(copyIn, cuMemcpyHtoDAsync_v2, Result (*)(DevicePointer, const void*, size_t, StreamHandle))                      \
  F(copyOut, cuMemcpyDtoHAsync_v2, Result (*)(void*, DevicePointer, size_t, StreamHandle))                           \
  F(copyWithin, cuMemcpyDtoDAsync_v2, Result (*)(DevicePointer, DevicePointer, size_t, StreamHandle))                \
  F(fillBytes, cuMemsetD8Async, Result (*)(DevicePointer, unsigned char, size_t, StreamHandle))                      \
  F(synchronize, cuStreamSynchronize, Result (*)(StreamHandle))                                                      \
  F(synchronizeAll, cuCtxSynchronize, Result (*)())                                                                  \
  F(isCapturing, cuStreamIsCapturing, Result (*)(StreamHandle, int*))                                                \
  F(exchangeCaptureMode, cuThreadExchangeStreamCaptureMode, Result (*)(int*))                                        \
  F(createEvent, cuEventCreate, Result (*)(EventHandle*, unsigned))                                                  \
  F(destroyEvent, cuEventDestroy_v2, Result (*)(EventHandle))                                                        \
  F(recordEvent, cuEventRecord, Result (*)(EventHandle, StreamHandle))                                               \
  F(waitEvent, cuEventSynchronize, Result (*)(EventHandle))                                                          \
  F(elapsed, cuEventElapsedTime, Result (*)(float*, EventHandle, EventHandle))                                       \
  F(loadModule, cuModuleLoadData, Result (*)(ModuleHandle*, const void*))                                            \
  F(findFunction, cuModuleGetFunction, Result (*)(FunctionHandle*, ModuleHandle, const char*))                       \
  F(setFunctionAttribute, cuFuncSetAttribute, Result (*)(FunctionHandle, int, int))                                  \
  F(launch, cuLaunchKernelEx, Result (*)(const LaunchConfiguration*, FunctionHandle, void**, void**))                \
  F(encodeTensor, cuTensorMapEncodeTiled,                                                                            \
    Result (*)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*, int, \
               int, int, int))

// Recordings need these: a driver for CUDA 12.3. Older ones run every call launch by launch.
#define TORCHTRT_CUDA_GRAPH_FUNCTIONS(F)                                                                              \
  F(createStream, cuStreamCreate, Result (*)(StreamHandle*, unsigned))                                                \
  F(destroyStream, cuStreamDestroy_v2, Result (*)(StreamHandle))                                                      \
  F(beginCapture, cuStreamBeginCapture_v2, Result (*)(StreamHandle, int))                                             \
  F(endCapture, cuStreamEndCapture, Result (*)(StreamHandle, GraphHandle*))                                           \
  F(captureInfo, cuStreamGetCaptureInfo_v3,                                                                           \
    Result (*)(StreamHandle, int*, unsigned long long*, GraphHandle*, const NodeHandle**, const EdgeData**, size_t*)) \
  F(nodeDependencies, cuGraphNodeGetDependencies_v2, Result (*)(NodeHandle, NodeHandle*, EdgeData*, size_t*))         \
  F(nodeType, cuGraphNodeGetType, Result (*)(NodeHandle, int*))                                                       \
  F(kernelNode, cuGraphKernelNodeGetParams_v2, Result (*)(NodeHandle, KernelNodeParameters*))                         \
  F(instantiate, cuGraphInstantiateWithFlags, Result (*)(GraphExecHandle*, GraphHandle, unsigned long long))          \
  F(setKernelNode, cuGraphExecKernelNodeSetParams_v2,                                                                 \
    Result (*)(GraphExecHandle, NodeHandle, const KernelNodeParameters*))                                             \
  F(memsetNode, cuGraphMemsetNodeGetParams, Result (*)(NodeHandle, MemsetParameters*))                                \
  F(setMemsetNode, cuGraphExecMemsetNodeSetParams,                                                                    \
    Result (*)(GraphExecHandle, NodeHandle, const MemsetParameters*, ContextHandle))                                  \
  F(launchGraph, cuGraphLaunch, Result (*)(GraphExecHandle, StreamHandle))                                            \
  F(destroyGraph, cuGraphDestroy, Result (*)(GraphHandle))                                                            \
  F(destroyGraphExec, cuGraphExecDestroy, Result (*)(GraphExecHandle))

struct Driver {
#define TORCHTRT_DECLARE(member, symbol, ...) \
  using member##_type = __VA_ARGS__;          \
  member##_type member = nullptr;
  TORCHTRT_CUDA_DRIVER_FUNCTIONS(TORCHTRT_DECLARE)
  TORCHTRT_CUDA_GRAPH_FUNCTIONS(TORCHTRT_DECLARE)
#undef TORCHTRT_DECLARE

  // True if it has all functions of recordings.
  bool hasGraphs() const;
};

// Opens the driver at the first call. Null, with the reason, where there is none or it is too old.
const Driver* findDriver(std::string& reason);
// The driver, where findDriver() found one.
const Driver& driver();
// Fills the table from this machine's driver and starts that. Returns what is missing; empty if nothing is.
std::string openDriver(Driver& table);
// Starts the driver of a whole table.
std::string startDriver(const Driver& table);
// Lets tests replace the table: calls go to this one from now on, or, with a reason, there is no driver.
void useDriver(const Driver& table, const std::string& reason = "");

// Throws EngineError that says what failed, by the driver's own words. `purpose`: "launching softmax".
void check(Result result, std::string_view purpose);

}  // namespace torchtrt::cuda
