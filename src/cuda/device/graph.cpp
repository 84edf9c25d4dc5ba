#include "cuda/device/graph.h"

#include <algorithm>
#include <utility>

#include "base/logging.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

namespace {

thread_local Capture* running = nullptr;

// A stream for as long as this lives.
class PrivateStream {
 public:
  explicit PrivateStream(const CudaDevice& device) : device_(device), stream_(device.takeStream()) {}
  // A stream that is still captured is of no use any more.
  ~PrivateStream() {
    int status = 0;
    if (driver().isCapturing(stream_, &status) == kSuccess && status == 0) {
      device_.giveStream(stream_);
    } else {
      driver().destroyStream(stream_);
    }
  }
  PrivateStream(const PrivateStream&) = delete;
  PrivateStream& operator=(const PrivateStream&) = delete;
  StreamHandle handle() const {
    return stream_;
  }

 private:
  const CudaDevice& device_;
  StreamHandle stream_;
};

bool isOfType(int type, NodeHandle node) {
  int got = -1;
  return driver().nodeType(node, &got) == kSuccess && got == type;
}

// A library may choose another function for other pointers, which may need attributes that a node keeps as they were
// recorded.
bool copyKernel(GraphExecHandle graph, NodeHandle from, NodeHandle to) {
  KernelNodeParameters now, recorded;
  return driver().kernelNode(from, &now) == kSuccess && driver().kernelNode(to, &recorded) == kSuccess &&
         now.function == recorded.function && now.kernel == recorded.kernel &&
         driver().setKernelNode(graph, to, &now) == kSuccess;
}

bool copyMemset(GraphExecHandle graph, NodeHandle from, NodeHandle to, ContextHandle context) {
  MemsetParameters now;
  return driver().memsetNode(from, &now) == kSuccess && driver().setMemsetNode(graph, to, &now, context) == kSuccess;
}

// Copies the parameters of a captured node to the node that it stands for. False if that is not possible.
bool copyNode(GraphExecHandle graph, NodeHandle from, NodeHandle to, ContextHandle context) {
  if (isOfType(kMemsetNode, from) && isOfType(kMemsetNode, to)) {
    return copyMemset(graph, from, to, context);
  }
  return isOfType(kKernelNode, from) && isOfType(kKernelNode, to) && copyKernel(graph, from, to);
}

}  // namespace

Capture::Capture(StreamHandle stream) : stream_(stream), before_(running) {
  check(driver().beginCapture(stream_, kCaptureRelaxed), "beginning to capture a stream");
  is_open_ = true;
  running = this;
}

Capture::~Capture() {
  running = before_;
  if (is_open_) {
    GraphHandle graph = nullptr;
    driver().endCapture(stream_, &graph);
    if (graph != nullptr) {
      driver().destroyGraph(graph);
    }
  }
}

GraphHandle Capture::end() {
  GraphHandle graph = nullptr;
  is_open_ = false;
  check(driver().endCapture(stream_, &graph), "capturing a stream");
  return graph;
}

void Capture::beginPart(GraphExecHandle graph, const std::vector<NodeHandle>* nodes) {
  graph_ = graph;
  nodes_ = nodes;
  launches_ = 0;
  has_failed_ = false;
}

GraphPart Capture::endPart() {
  int status = 0;
  unsigned long long id = 0;
  GraphHandle graph = nullptr;
  const NodeHandle* last = nullptr;
  const EdgeData* edges = nullptr;
  size_t count = 0;
  check(driver().captureInfo(stream_, &status, &id, &graph, &last, &edges, &count), "asking for captured work");
  GraphPart part;
  part.is_fixed = count > 1;
  NodeHandle const newest = count == 0 ? nullptr : last[0];
  for (NodeHandle node = newest; node != last_ && !part.is_fixed;) {
    part.nodes.push_back(node);
    NodeHandle before[2] = {nullptr, nullptr};
    EdgeData data[2];
    size_t many = 2;
    check(driver().nodeDependencies(node, before, data, &many), "asking for captured work");
    node = many == 0 ? nullptr : before[0];
    part.is_fixed = many > 1 || (node == nullptr && last_ != nullptr);
  }
  std::reverse(part.nodes.begin(), part.nodes.end());
  part.is_own = !part.is_fixed && part.nodes.size() == launches_;
  last_ = newest;
  return part;
}

bool Capture::hasSetAll() const {
  return nodes_ != nullptr && !has_failed_ && launches_ == nodes_->size();
}

bool Capture::take(FunctionHandle function, const unsigned* grid, const unsigned* block, unsigned shared_bytes,
                   void** arguments) {
  return running != nullptr && running->takeLaunch(function, grid, block, shared_bytes, arguments);
}

bool Capture::takeLaunch(FunctionHandle function, const unsigned* grid, const unsigned* block, unsigned shared_bytes,
                         void** arguments) {
  const size_t index = launches_++;
  if (nodes_ == nullptr || index >= nodes_->size()) {
    return false;
  }
  KernelNodeParameters parameters;
  parameters.function = function;
  std::copy_n(grid, 3, parameters.grid);
  std::copy_n(block, 3, parameters.block);
  parameters.shared_bytes = shared_bytes;
  parameters.arguments = arguments;
  if (driver().setKernelNode(graph_, (*nodes_)[index], &parameters) != kSuccess) {
    has_failed_ = true;
  }
  return true;
}

std::unique_ptr<Graph> Graph::record(const CudaDevice& device, size_t parts, const device::PartBody& body) {
  if (!driver().hasGraphs()) {
    return nullptr;
  }
  std::unique_ptr<Graph> made(new Graph(device));
  try {
    const ContextScope scope(device);
    const PrivateStream stream(device);
    Capture capture(stream.handle());
    for (size_t part = 0; part < parts; ++part) {
      capture.beginPart();
      body(part, {stream.handle()});
      made->parts_.push_back(capture.endPart());
    }
    made->graph_ = capture.end();
    check(driver().instantiate(&made->exec_, made->graph_, 0), "making a CUDA graph");
  } catch (const EngineError& error) {
    TORCHTRT_LOG(kDEBUG, "no CUDA graph replays this call: " << error.message());
    return nullptr;
  }
  return made;
}

Graph::~Graph() {
  if (isForkedChild()) {
    return;
  }
  if (exec_ != nullptr) {
    driver().destroyGraphExec(exec_);  // where it runs, when that has ended
  }
  if (graph_ != nullptr) {
    driver().destroyGraph(graph_);
  }
}

void Graph::replay(device::Stream stream) const {
  const ContextScope scope(device_);
  check(driver().launchGraph(exec_, stream.handle), "launching a CUDA graph");
}

bool Graph::renew(const std::vector<size_t>& parts, const device::PartBody& body) {
  try {
    const ContextScope scope(device_);
    const PrivateStream stream(device_);
    Capture capture(stream.handle());  // so that nothing runs, whatever the body gives
    return std::all_of(parts.begin(), parts.end(),
                       [&](size_t part) { return renewPart(part, capture, {stream.handle()}, body); });
  } catch (const EngineError& error) {
    TORCHTRT_LOG(kDEBUG, "a CUDA graph takes no other pointers: " << error.message());
    return false;
  }
}

bool Graph::renewPart(size_t part, Capture& capture, device::Stream stream, const device::PartBody& body) {
  const GraphPart& before = parts_[part];
  if (before.is_fixed) {
    return false;
  }
  capture.beginPart(exec_, before.is_own ? &before.nodes : nullptr);
  body(part, stream);
  const GraphPart now = capture.endPart();
  if (before.is_own) {
    return now.nodes.empty() && !now.is_fixed && capture.hasSetAll();
  }
  if (now.is_fixed || now.nodes.size() != before.nodes.size()) {
    return false;
  }
  for (size_t i = 0; i < now.nodes.size(); ++i) {
    if (!copyNode(exec_, now.nodes[i], before.nodes[i], device_.context())) {
      return false;
    }
  }
  return true;
}

}  // namespace torchtrt::cuda
