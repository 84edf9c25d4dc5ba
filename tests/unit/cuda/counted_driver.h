// The driver in use, with counts of some calls and with failures on demand, for the life of a test.
#pragma once

#include <atomic>

#include "cuda/driver/driver.h"

namespace torchtrt::cuda::testing {

class CountedDriver {
 public:
  CountedDriver() : before_(driver()) {
    reset();
    base() = before_;
    Driver table = before_;
    table.launch = [](const LaunchConfiguration* launch, FunctionHandle f, void** arguments, void** extra) -> Result {
      ++counts().launches;
      counts().early += launch->attribute_count > 0 ? 1 : 0;
      return base().launch(launch, f, arguments, extra);
    };
    table.fillBytes = [](DevicePointer to, unsigned char value, size_t bytes, StreamHandle stream) -> Result {
      ++counts().filled;
      return base().fillBytes(to, value, bytes, stream);
    };
    table.launchGraph = [](GraphExecHandle exec, StreamHandle stream) -> Result {
      ++counts().graphs;
      return fails().launchGraph ? 999 : base().launchGraph(exec, stream);
    };
    table.setKernelNode = [](GraphExecHandle exec, NodeHandle node, const KernelNodeParameters* p) -> Result {
      ++counts().set;
      return fails().setKernelNode ? 999 : base().setKernelNode(exec, node, p);
    };
    table.instantiate = [](GraphExecHandle* exec, GraphHandle graph, unsigned long long flags) -> Result {
      ++counts().instantiated;
      return fails().instantiate ? kOutOfMemory : base().instantiate(exec, graph, flags);
    };
    table.beginCapture = [](StreamHandle stream, int mode) -> Result {
      return fails().beginCapture ? 999 : base().beginCapture(stream, mode);
    };
    table.endCapture = [](StreamHandle stream, GraphHandle* graph) -> Result {
      const Result result = base().endCapture(stream, graph);
      if (fails().endCapture && *graph != nullptr) {
        base().destroyGraph(*graph);
        return *graph = nullptr, 901;
      }
      return result;
    };
    useDriver(table);
  }
  ~CountedDriver() {
    useDriver(before_);
  }
  CountedDriver(const CountedDriver&) = delete;
  CountedDriver& operator=(const CountedDriver&) = delete;

  struct Counts {
    std::atomic<int> launches = 0, early = 0, filled = 0, graphs = 0, set = 0, instantiated = 0;
  };
  struct Fails {
    bool launchGraph = false, setKernelNode = false, instantiate = false, beginCapture = false, endCapture = false;
  };
  static Counts& counts() {
    static Counts counts;
    return counts;
  }
  static void reset() {
    counts().launches = counts().early = counts().filled = counts().graphs = counts().set = counts().instantiated = 0;
    fails() = Fails();
  }
  static Fails& fails() {
    static Fails fails;
    return fails;
  }

 private:
  static Driver& base() {
    static Driver table;
    return table;
  }
  Driver before_;
};

}  // namespace torchtrt::cuda::testing
