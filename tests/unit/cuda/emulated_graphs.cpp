#include "cuda/emulated_graphs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "cuda/emulation.h"

namespace torchtrt::cuda::testing {

namespace {

constexpr Result kInvalidValue = 1;
constexpr Result kCaptureInvalidated = 901;
constexpr int kOtherNode = 1;  // as a copy

struct Node {
  EmulatedLaunch launch;       // of a kernel
  std::function<void()> work;  // of anything else
  MemsetParameters memset;     // of one
  int type = kKernelNode;
  Node* before = nullptr;
  std::vector<void*> list;  // what kernelNode() gave last
};

struct EmulatedGraph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct EmulatedExec {
  std::vector<std::pair<const Node*, Node>> nodes;  // by the node that each was made of
};

struct State {
  std::mutex mutex;
  LaunchFunctions functions{};
  std::map<StreamHandle, std::unique_ptr<EmulatedGraph>> captures;
  std::set<StreamHandle> strict;            // of the captures, those that forbid unsafe calls meanwhile
  std::map<StreamHandle, NodeHandle> last;  // what captureInfo() points to
  std::set<void*> alive;                    // graphs and executables
};

State& state() {
  static State state;
  return state;
}

// Stands for a library's function in a node's parameters; the work is then its one argument.
FunctionHandle libraryFunction() {
  static char function;
  return &function;
}

EmulatedLaunch copyOf(FunctionHandle function, unsigned blocks, unsigned threads, void** arguments) {
  EmulatedLaunch launch{function, blocks, threads, {}};
  const std::vector<size_t> sizes = state().functions.sizesOf(function);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(arguments[i]);
    launch.arguments.emplace_back(bytes, bytes + sizes[i]);
  }
  return launch;
}

std::vector<void*> listOf(EmulatedLaunch& launch) {
  std::vector<void*> list;
  for (std::vector<std::byte>& argument : launch.arguments) {
    list.push_back(argument.data());
  }
  return list;
}

void append(StreamHandle stream, Node node) {
  const std::lock_guard lock(state().mutex);
  EmulatedGraph& graph = *state().captures.at(stream);
  node.before = graph.nodes.empty() ? nullptr : graph.nodes.back().get();
  graph.nodes.push_back(std::make_unique<Node>(std::move(node)));
}

template <typename T>
T* keep(T* made) {
  const std::lock_guard lock(state().mutex);
  state().alive.insert(made);
  return made;
}

void drop(void* handle) {
  const std::lock_guard lock(state().mutex);
  if (state().alive.erase(handle) == 0) {
    std::abort();
  }
}

Result beginCapture(StreamHandle stream, int mode) {
  const std::lock_guard lock(state().mutex);
  if (stream == nullptr || state().captures.count(stream) != 0) {
    return kInvalidValue;  // the default stream cannot be captured
  }
  state().captures[stream] = std::make_unique<EmulatedGraph>();
  if (mode != kCaptureRelaxed) {
    state().strict.insert(stream);
  }
  return kSuccess;
}

Result endCapture(StreamHandle stream, GraphHandle* graph) {
  std::unique_ptr<EmulatedGraph> made;
  {
    const std::lock_guard lock(state().mutex);
    const auto found = state().captures.find(stream);
    if (found == state().captures.end()) {
      return kCaptureInvalidated;
    }
    made = std::move(found->second);
    state().captures.erase(found);
    state().strict.erase(stream);
  }
  *graph = keep(made.release());
  return kSuccess;
}

Result captureInfo(StreamHandle stream, int* status, unsigned long long* id, GraphHandle* graph,
                   const NodeHandle** last, const EdgeData** edges, size_t* count) {
  static const EdgeData kNone{};
  const std::lock_guard lock(state().mutex);
  const auto found = state().captures.find(stream);
  *status = found == state().captures.end() ? 0 : 1;
  *id = 1;
  if (*status == 0) {
    return kSuccess;
  }
  *graph = found->second.get();
  NodeHandle& newest = state().last[stream];
  newest = found->second->nodes.empty() ? nullptr : found->second->nodes.back().get();
  *last = &newest;
  *edges = &kNone;
  *count = newest == nullptr ? 0 : 1;
  return kSuccess;
}

Result nodeDependencies(NodeHandle node, NodeHandle* before, EdgeData*, size_t* count) {
  NodeHandle const one = static_cast<const Node*>(node)->before;
  std::fill_n(before, *count, nullptr);
  *count = one == nullptr ? 0 : 1;
  before[0] = one;
  return kSuccess;
}

Result nodeType(NodeHandle node, int* type) {
  *type = static_cast<const Node*>(node)->type;
  return kSuccess;
}

Result kernelNode(NodeHandle handle, KernelNodeParameters* parameters) {
  Node& node = *static_cast<Node*>(handle);
  *parameters = {};
  if (node.work) {
    parameters->function = libraryFunction();
    node.list = {&node.work};
    parameters->arguments = node.list.data();
    return node.type == kKernelNode ? kSuccess : kInvalidValue;
  }
  node.list = listOf(node.launch);
  parameters->function = node.launch.function;
  parameters->grid[0] = node.launch.blocks;
  parameters->block[0] = node.launch.threads;
  parameters->arguments = node.list.data();
  return kSuccess;
}

Result instantiate(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  auto* const made = new EmulatedExec;
  for (const std::unique_ptr<Node>& node : static_cast<const EmulatedGraph*>(graph)->nodes) {
    made->nodes.emplace_back(node.get(), *node);
  }
  *exec = keep(made);
  return kSuccess;
}

Result setKernelNode(GraphExecHandle exec, NodeHandle node, const KernelNodeParameters* parameters) {
  for (auto& [original, copy] : static_cast<EmulatedExec*>(exec)->nodes) {
    if (original == node && parameters->function == libraryFunction() && copy.type == kKernelNode) {
      copy.work = *static_cast<const std::function<void()>*>(parameters->arguments[0]);
      return kSuccess;
    }
    if (original == node && copy.type == kKernelNode && !copy.work) {
      copy.launch = copyOf(parameters->function, parameters->grid[0], parameters->block[0], parameters->arguments);
      return kSuccess;
    }
  }
  return kInvalidValue;
}

Result memsetNode(NodeHandle node, MemsetParameters* parameters) {
  *parameters = static_cast<const Node*>(node)->memset;
  return static_cast<const Node*>(node)->type == kMemsetNode ? kSuccess : kInvalidValue;
}

std::function<void()> workOf(const MemsetParameters& parameters) {
  return [parameters] {
    std::memset(reinterpret_cast<void*>(parameters.to), static_cast<int>(parameters.value), parameters.width);
  };
}

Result setMemsetNode(GraphExecHandle exec, NodeHandle node, const MemsetParameters* parameters, ContextHandle) {
  for (auto& [original, copy] : static_cast<EmulatedExec*>(exec)->nodes) {
    if (original == node && copy.type == kMemsetNode) {
      copy.work = workOf(*parameters);
      return kSuccess;
    }
  }
  return kInvalidValue;
}

Result launchGraph(GraphExecHandle exec, StreamHandle stream) {
  if (isCaptured(stream)) {
    return kInvalidValue;  // nothing of torchtrt does that
  }
  for (auto& [original, node] : static_cast<EmulatedExec*>(exec)->nodes) {
    if (node.work) {
      node.work();
      continue;
    }
    std::vector<void*> list = listOf(node.launch);
    if (const Result result =
            state().functions.run(node.launch.function, node.launch.blocks, node.launch.threads, list.data());
        result != kSuccess) {
      return result;
    }
  }
  return kSuccess;
}

}  // namespace

bool isCaptured(StreamHandle stream) {
  const std::lock_guard lock(state().mutex);
  return state().captures.count(stream) != 0;
}

bool isAnyCapturedStrictly() {
  const std::lock_guard lock(state().mutex);
  return !state().strict.empty();
}

void captureLaunch(StreamHandle stream, FunctionHandle function, unsigned blocks, unsigned threads, void** arguments) {
  append(stream, {copyOf(function, blocks, threads, arguments), nullptr, {}, kKernelNode, nullptr, {}});
}

void captureWork(StreamHandle stream, std::function<void()> work) {
  append(stream, {{}, std::move(work), {}, kOtherNode, nullptr, {}});
}

void captureKernel(StreamHandle stream, std::function<void()> work) {
  append(stream, {{}, std::move(work), {}, kKernelNode, nullptr, {}});
}

void captureMemset(StreamHandle stream, DevicePointer to, unsigned char value, size_t bytes) {
  const MemsetParameters parameters{to, bytes, value, 1, bytes, 1};
  append(stream, {{}, workOf(parameters), parameters, kMemsetNode, nullptr, {}});
}

size_t livingGraphs() {
  const std::lock_guard lock(state().mutex);
  return state().alive.size();
}

void addGraphs(Driver& table, LaunchFunctions functions) {
  state().functions = functions;
  table.createStream = [](StreamHandle* stream, unsigned) -> Result { return *stream = new char, kSuccess; };
  table.destroyStream = [](StreamHandle stream) -> Result {
    const std::lock_guard lock(state().mutex);
    state().captures.erase(stream);
    return delete static_cast<char*>(stream), kSuccess;
  };
  table.beginCapture = beginCapture;
  table.endCapture = endCapture;
  table.captureInfo = captureInfo;
  table.nodeDependencies = nodeDependencies;
  table.nodeType = nodeType;
  table.kernelNode = kernelNode;
  table.instantiate = instantiate;
  table.setKernelNode = setKernelNode;
  table.memsetNode = memsetNode;
  table.setMemsetNode = setMemsetNode;
  table.launchGraph = launchGraph;
  table.destroyGraph = [](GraphHandle graph) -> Result {
    drop(graph);
    return delete static_cast<EmulatedGraph*>(graph), kSuccess;
  };
  table.destroyGraphExec = [](GraphExecHandle exec) -> Result {
    drop(exec);
    return delete static_cast<EmulatedExec*>(exec), kSuccess;
  };
}

}  // namespace torchtrt::cuda::testing
