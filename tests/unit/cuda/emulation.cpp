#include "cuda/emulation.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/compile/program.h"
#include "cuda/driver/driver.h"
#include "cuda/emulated_block.h"
#include "cuda/emulated_contexts.h"
#include "cuda/emulated_graphs.h"
#include "cuda/fake_cublaslt.h"
#include "cuda/fake_cudnn.h"
#include "cuda/kept_files.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda::testing {

namespace {

// The prelude gives the host's compiler what device code finds in a compiler for GPUs. It includes no header, so that a
// text compiles in a tenth of a second.
constexpr const char* kPrelude = R"(
#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define INFINITY __builtin_inff()
struct Index { unsigned x, y, z; };
extern "C" { Index threadIdx, blockIdx, blockDim, gridDim; void (*emulated_barrier)(); }
static inline void __syncthreads() { emulated_barrier(); }
static inline void __syncwarp() { emulated_barrier(); }  // all warps of the block are at the same one
template <class T> T __shfl_xor_sync(unsigned, T value, int apart) {  // all warps of the block are at the same one
  static T values[1024];
  values[threadIdx.x] = value;
  __syncthreads();
  const T other = values[threadIdx.x ^ apart];
  __syncthreads();
  return other;
}
static inline unsigned __float_as_uint(float x) { unsigned y; __builtin_memcpy(&y, &x, 4); return y; }
static inline long long __double_as_longlong(double x) { long long y; __builtin_memcpy(&y, &x, 8); return y; }
template <class T> static inline T atomicMax(T* p, T x) { T old = *p; if (old < x) *p = x; return old; }
static inline float __uint_as_float(unsigned x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
#define ONE(name) \
  static inline float name(float x) { return __builtin_##name##f(x); } \
  static inline double name(double x) { return __builtin_##name(x); }
#define TWO(name) \
  static inline float name(float x, float y) { return __builtin_##name##f(x, y); } \
  static inline double name(double x, double y) { return __builtin_##name(x, y); }
ONE(exp) ONE(log) ONE(sqrt) ONE(fabs) ONE(sin) ONE(cos) ONE(tan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asin) ONE(acos)
ONE(atan) ONE(asinh) ONE(acosh) ONE(atanh) ONE(ceil) ONE(floor) ONE(rint) ONE(trunc) ONE(erf) ONE(erfc) ONE(expm1)
ONE(log1p) ONE(log2) ONE(log10) ONE(exp2) ONE(lgamma)
TWO(fmod) TWO(pow) TWO(atan2) TWO(copysign)
template <int... I> struct Places {};
template <int N, int... I> struct Count : Count<N - 1, N - 1, I...> {};
template <int... I> struct Count<0, I...> { typedef Places<I...> type; };
template <class... A, int... I> void callWith(void (*f)(A...), void** a, Places<I...>) { f(*(A*)a[I]...); }
template <class... A> void call(void (*f)(A...), void** a) { callWith(f, a, typename Count<sizeof...(A)>::type()); }
template <class... A> int sizes(void (*)(A...), int* out) { return ((*out++ = sizeof(A)), ...), sizeof...(A); }
)";

// The names behind "__global__ void".
std::vector<std::string> functionsOf(const std::string& text) {
  static const std::string kMark = "__global__ void ";
  std::vector<std::string> names;
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const size_t begin = at + kMark.size();
    names.push_back(text.substr(begin, text.find('(', begin) - begin));
  }
  return names;
}

constexpr Result kInvalidValue = 1;
constexpr const char* kCompiler = "g++ -std=c++17 -O1 -w -shared -fPIC -ffp-contract=off";

std::vector<std::string>& texts() {
  static std::vector<std::string> texts;
  return texts;
}

// The path of a library in place of machine code.
std::string compile(const std::string& text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  texts().push_back(text);
  std::string all = kPrelude + text;
  for (const std::string& name : functionsOf(text)) {
    all += "extern \"C\" void call_" + name + "(void** a) { call(&" + name + ", a); }\n";
    all += "extern \"C\" int sizes_" + name + "(int* out) { return sizes(&" + name + ", out); }\n";
  }
  if (text.find("__syncthreads") != std::string::npos || text.find("_sync(") != std::string::npos) {
    all += "extern \"C\" { int has_barrier; }\n";
  }
  const std::string library = keptFile("emulated", std::string(kCompiler) + " " + __VERSION__ + "\n" + all, ".so");
  if (isKept(library)) {
    return library;
  }
  const std::string own = library + "." + std::to_string(getpid());
  std::ofstream(own + ".cpp") << all;
  const std::string command = std::string(kCompiler) + " -o " + own + ".so " + own + ".cpp 2> " + own + ".log";
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(own + ".log");
    throw InternalError("device code does not compile: " + std::string(std::istreambuf_iterator<char>(log), {}));
  }
  std::filesystem::rename(own + ".so", library);
  std::filesystem::remove(own + ".cpp");
  std::filesystem::remove(own + ".log");
  return library;
}

// Ends the program if a kernel that may begin early does not wait for its inputs once in each thread.
void expectWaits(const Function& function, long long threads) {
  if (function.waits != nullptr && std::exchange(*function.waits, 0) != threads) {
    std::abort();
  }
}

Result runLaunch(FunctionHandle handle, unsigned blocks, unsigned threads, void** arguments) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const Function& function = *static_cast<const Function*>(handle);
  *function.grid_size = {blocks, 1, 1};
  *function.block_size = {threads, 1, 1};
  const auto cluster = static_cast<unsigned>(Cluster::blocksOf(function));
  if (blocks % cluster != 0) {
    return kInvalidValue;
  }
  for (unsigned block = 0; block < blocks; block += cluster) {
    if (function.has_barrier) {
      Cluster(function, arguments, threads).run(block);
      continue;
    }
    *function.block = {block, 0, 0};
    for (unsigned thread = 0; thread < threads; ++thread) {
      *function.thread = {thread, 0, 0};
      function.call(arguments);
    }
  }
  expectWaits(function, static_cast<long long>(blocks) * threads);
  return kSuccess;
}

Result launch(const LaunchConfiguration* launch, FunctionHandle handle, void** arguments, void**) {
  const auto& [grid, block] = std::tie(launch->grid, launch->block);
  if (grid[1] != 1 || grid[2] != 1 || block[1] != 1 || block[2] != 1) {
    return kInvalidValue;  // no text of torchtrt uses them
  }
  if (launch->attribute_count > 0 && static_cast<const Function*>(handle)->waits == nullptr) {
    return kInvalidValue;  // it would begin early, and wait for nothing
  }
  if (isCaptured(launch->stream)) {
    return captureLaunch(launch->stream, handle, grid[0], block[0], arguments), kSuccess;
  }
  return runLaunch(handle, grid[0], block[0], arguments);
}

// Does the work, or makes it a node of what the stream captures.
template <typename Work>
Result give(StreamHandle stream, Work work) {
  if (isCaptured(stream)) {
    return captureWork(stream, work), kSuccess;
  }
  return work(), kSuccess;
}

std::vector<size_t> sizesOf(FunctionHandle function) {
  int sizes[64];
  const int count = static_cast<const Function*>(function)->sizes(sizes);
  return {sizes, sizes + count};
}

// The emulated GPU's memory in use, so that what is freed twice or never is found.
std::set<DevicePointer>& allocations() {
  static std::set<DevicePointer> set;
  return set;
}

std::mutex& memoryMutex() {
  static std::mutex mutex;
  return mutex;
}

// TensorMap of text/tensor_maps.cuh
struct EncodedMap {
  unsigned char* begin;
  long long strides[4];
  int dims[4], box[4];
  short steps[4];
};
static_assert(sizeof(EncodedMap) <= 128);

// Refuses what the driver would.
Result encodeTensor(void* to, int type, uint32_t rank, void* begin, const uint64_t* dims, const uint64_t* strides,
                    const uint32_t* box, const uint32_t* steps, int, int order, int, int) {
  constexpr uint64_t kUnit = 16;
  EncodedMap map = {static_cast<unsigned char*>(begin), {0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  bool is_right = type == 0 && rank <= 4 && reinterpret_cast<uint64_t>(begin) % kUnit == 0;
  for (uint32_t i = 0; i < rank && is_right; ++i) {
    map.dims[i] = static_cast<int>(dims[i]);
    map.box[i] = static_cast<int>(box[i]);
    map.steps[i] = static_cast<short>(steps[i]);
    map.strides[i] = i == 0 ? 1 : static_cast<long long>(strides[i - 1]);
    is_right = box[i] <= 256 && steps[i] <= 8 && (i == 0 || strides[i - 1] % kUnit == 0);
  }
  std::memcpy(to, &map, sizeof(map));
  return is_right && map.box[0] == (order == 3 ? 128 : 64) ? kSuccess : kInvalidValue;
}

constexpr Result kUnsupportedInCapture = 900;
Driver emulatedDriver() {
  Driver d;
  d.init = [](unsigned) -> Result { return kSuccess; };
  d.driverVersion = [](int* version) -> Result { return *version = 13000, kSuccess; };
  d.errorString = [](Result, const char** text) -> Result { return *text = "emulated error", kSuccess; };
  d.deviceCount = [](int* count) -> Result { return *count = 1, kSuccess; };
  d.deviceGet = [](DeviceId* id, int) -> Result { return *id = 0, kSuccess; };
  d.deviceName = [](char* name, int, DeviceId) -> Result { return std::strcpy(name, "emulated GPU"), kSuccess; };
  d.deviceAttribute = [](int* value, int which, DeviceId) -> Result {
    *value = which == kAttributeComputeMajor ? 9 : which == kAttributeProcessors ? 132 : 0;
    return kSuccess;
  };
  d.deviceMemory = [](size_t* bytes, DeviceId) -> Result { return *bytes = size_t{1} << 30, kSuccess; };
  d.retainContext = [](ContextHandle* context, DeviceId) -> Result {
    static int one;
    return *context = &one, kSuccess;
  };
  d.releaseContext = [](DeviceId) -> Result { return kSuccess; };
  d.currentContext = [](ContextHandle* context) -> Result { return *context = emulatedContext(), kSuccess; };
  d.setContext = [](ContextHandle context) -> Result { return emulatedContext() = context, kSuccess; };
  d.allocate = [](DevicePointer* data, size_t bytes, StreamHandle) -> Result {
    if (bytes > size_t{1} << 30) {
      return kOutOfMemory;
    }
    void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0x55, bytes);
    *data = reinterpret_cast<DevicePointer>(memory);
    const std::lock_guard lock(memoryMutex());
    allocations().insert(*data);
    return kSuccess;
  };
  d.free = [](DevicePointer data, StreamHandle) -> Result {
    const std::lock_guard lock(memoryMutex());
    if (allocations().erase(data) == 0) {
      std::abort();
    }
    std::free(reinterpret_cast<void*>(data));
    return kSuccess;
  };
  d.exchangeCaptureMode = [](int* mode) -> Result { return std::swap(*mode, capture_mode), kSuccess; };
  d.allocateHost = [](void** data, size_t bytes, unsigned) -> Result {
    if (isAnyCapturedStrictly() && capture_mode != kCaptureRelaxed) {
      return kUnsupportedInCapture;
    }
    return *data = std::calloc(1, bytes), kSuccess;
  };
  d.freeHost = [](void* data) -> Result { return std::free(data), kSuccess; };
  d.hostPointer = [](DevicePointer* device, void* host, unsigned) -> Result {
    return *device = reinterpret_cast<DevicePointer>(host), kSuccess;
  };
  d.copyIn = [](DevicePointer to, const void* from, size_t bytes, StreamHandle) -> Result {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), kSuccess;
  };
  d.copyOut = [](void* to, DevicePointer from, size_t bytes, StreamHandle) -> Result {
    return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), kSuccess;
  };
  d.copyWithin = [](DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) -> Result {
    return give(stream, [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); });
  };
  d.fillBytes = [](DevicePointer to, unsigned char value, size_t bytes, StreamHandle stream) -> Result {
    if (isCaptured(stream)) {
      return captureMemset(stream, to, value, bytes), kSuccess;
    }
    return std::memset(reinterpret_cast<void*>(to), value, bytes), kSuccess;
  };
  d.synchronize = [](StreamHandle stream) -> Result { return isCaptured(stream) ? kUnsupportedInCapture : kSuccess; };
  d.isCapturing = [](StreamHandle stream, int* capturing) -> Result {
    return *capturing = isCaptured(stream) ? 1 : 0, kSuccess;
  };
  d.synchronizeAll = []() -> Result { return kSuccess; };
  d.createEvent = [](EventHandle* event, unsigned) -> Result { return *event = event, kSuccess; };
  d.destroyEvent = [](EventHandle) -> Result { return kSuccess; };
  d.recordEvent = [](EventHandle, StreamHandle) -> Result { return kSuccess; };
  d.waitEvent = [](EventHandle) -> Result { return kSuccess; };
  d.elapsed = [](float* milliseconds, EventHandle, EventHandle) -> Result { return *milliseconds = 1, kSuccess; };
  d.loadModule = [](ModuleHandle* module, const void* path) -> Result {
    *module = dlopen(static_cast<const char*>(path), RTLD_NOW | RTLD_LOCAL);
    return *module == nullptr ? 1 : kSuccess;
  };
  d.findFunction = [](FunctionHandle* function, ModuleHandle module, const char* name) -> Result {
    // The same handle each time, which lives as long as the program, as a module's functions do.
    static auto* const functions = new std::map<std::pair<ModuleHandle, std::string>, Function*>;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    Function*& found = (*functions)[{module, name}];
    if (found != nullptr && found->call != nullptr) {
      return *function = found, kSuccess;
    }
    found = new Function;
    const auto find = [&](auto& target, const std::string& symbol) {
      target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(dlsym(module, symbol.c_str()));
    };
    find(found->call, "call_" + std::string(name));
    find(found->sizes, "sizes_" + std::string(name));
    find(found->thread, "threadIdx");
    find(found->block, "blockIdx");
    find(found->block_size, "blockDim");
    find(found->grid_size, "gridDim");
    find(found->barrier, "emulated_barrier");
    find(found->cluster_barrier, "emulated_cluster_barrier");
    find(found->cluster, "emulated_cluster");
    *function = found;
    if (found->call == nullptr) {
      return 1;
    }
    *found->barrier = Cluster::barrier;
    if (found->cluster_barrier != nullptr) {
      *found->cluster_barrier = Cluster::clusterBarrier;
    }
    find(found->waits, "emulated_waits");
    found->has_barrier = dlsym(module, "has_barrier") != nullptr;
    return kSuccess;
  };
  d.setFunctionAttribute = [](FunctionHandle, int which, int bytes) -> Result {
    constexpr int kMost = 227 << 10;  // as an H100
    return which == kFunctionSharedBytes && bytes <= kMost ? kSuccess : kInvalidValue;
  };
  d.launch = launch;
  d.encodeTensor = encodeTensor;
  addGraphs(d, {runLaunch, sizesOf});
  needContexts(d);
  return d;
}

}  // namespace

std::string compileByHost(const std::string& text, const std::string&) {
  return compile(text);
}

size_t livingMemory() {
  const std::lock_guard lock(memoryMutex());
  return allocations().size();
}

void keepLivingMemory() {
  static auto* const kept = new std::set<DevicePointer>;
  const std::lock_guard lock(memoryMutex());
  kept->insert(allocations().begin(), allocations().end());
}

std::vector<std::string> compiledTexts() {
  return texts();
}

WithoutCompiler::WithoutCompiler() {
  useCompiler([](const std::string&, const std::string&) -> std::string {
    throw EngineError(ErrorCode::kInputDevice, "NVRTC is missing");
  });
}

WithoutCompiler::~WithoutCompiler() {
  useCompiler(compileByHost);
}

bool isEmulated() {
  return std::getenv("TORCHTRT_TEST_DEVICE") == nullptr;
}

void installEmulation() {
  if (isEmulated()) {
    useDriver(emulatedDriver());
    useCompiler(compileByHost);
    useCublasLt(tableOfFakeCublasLt());
    useCudnn(tableOfFakeCudnn());
  }
}

}  // namespace torchtrt::cuda::testing
