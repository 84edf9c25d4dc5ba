// Recordings as CUDA graphs: a call's launches, captured once, which the driver then starts as a whole.
#pragma once

#include <memory>
#include <vector>

#include "cuda/device/cuda_device.h"

namespace torchtrt::cuda {

// The driver's nodes of one part. All nodes of a graph form a chain, since one stream gave them.
struct GraphPart {
  std::vector<NodeHandle> nodes;
  bool is_own = false;    // every node is a launch that passed Capture::take()
  bool is_fixed = false;  // its nodes are no chain, so that nobody can tell which is which
};

// The capture of a stream by the calling thread, from construction to end().
class Capture {
 public:
  explicit Capture(StreamHandle stream);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // The next launches of this thread are parameters of these nodes, as long as there are any; none = all are captured.
  void beginPart(GraphExecHandle graph = nullptr, const std::vector<NodeHandle>* nodes = nullptr);
  // Takes what was captured since then.
  GraphPart endPart();
  // True if every node got its parameters.
  bool hasSetAll() const;
  GraphHandle end();

  // Launches ask it. True if the launch was taken as a node's parameters.
  static bool take(FunctionHandle function, const unsigned* grid, const unsigned* block, unsigned shared_bytes,
                   void** arguments);

 private:
  bool takeLaunch(FunctionHandle function, const unsigned* grid, const unsigned* block, unsigned shared_bytes,
                  void** arguments);

  StreamHandle stream_;
  Capture* before_;
  bool is_open_ = false;
  GraphExecHandle graph_ = nullptr;
  const std::vector<NodeHandle>* nodes_ = nullptr;
  size_t launches_ = 0;  // of this part
  bool has_failed_ = false;
  NodeHandle last_ = nullptr;
};

class Graph final : public device::PartRecording {
 public:
  // Null where the driver cannot.
  static std::unique_ptr<Graph> record(const CudaDevice& device, size_t parts, const device::PartBody& body);
  ~Graph() override;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void replay(device::Stream stream) const override;
  bool renew(const std::vector<size_t>& parts, const device::PartBody& body) override;

 private:
  explicit Graph(const CudaDevice& device) : device_(device) {}
  bool renewPart(size_t part, Capture& capture, device::Stream stream, const device::PartBody& body);

  const CudaDevice& device_;
  GraphHandle graph_ = nullptr;  // its nodes are the names of those in `exec_`
  GraphExecHandle exec_ = nullptr;
  std::vector<GraphPart> parts_;
};

}  // namespace torchtrt::cuda
