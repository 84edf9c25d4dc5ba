// Makes an engine of every engine segment of a partition. A segment is a transaction: what fails to convert, to build,
// or to agree with PyTorch is found and told, so that it can be moved to PyTorch and the rest be tried again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/checking/trial_call.h"
#include "compiler/inputs/example_arguments.h"
#include "compiler/inputs/example_runs.h"
#include "compiler/inputs/size_limits.h"
#include "compiler/phase_clock.h"
#include "compiler/segments/empty_state.h"
#include "compiler/segments/value_types.h"
#include "compiler/target.h"
#include "lowering/lowering.h"
#include "partitioning/partition.h"
#include "partitioning/roles.h"
#include "plan/plan.h"
#include "runtime/engine_class.h"
#include "runtime/host_copies.h"
#include "torchtrt/compile.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::compiler {

using Failures = std::unordered_map<const torch::jit::Node*, Refusal>;

// A constant of calls that the engines are not for, in what one of them keeps.
struct FoundConstant {
  std::vector<size_t> parts;  // numbers of kept constants
  bool scaled = false;
};

struct SegmentEngine {
  const partitioning::Segment* segment = nullptr;
  c10::intrusive_ptr<runtime::Engine> engine;
  std::string name;
  std::vector<plan::Step> steps;
  double milliseconds = 0;                    // conversion, build and load
  std::unique_ptr<network::Network> network;  // that it was made of, where those are kept
  std::optional<Report::Calibration> calibration;
  std::map<size_t, FoundConstant> found;  // by number of SegmentOptions::other_constants
  EmptyInputs empty;
  std::vector<OnlySize> only_sizes;
};

struct SegmentOptions {
  DataType precision;             // of weights, and of inputs whose dtype is open
  bool may_fall_back = true;      // else the first failure is thrown
  bool shares_constants = false;  // of the graph with attributes of the compiled module
  torch::jit::IValue self;        // the module, where the graph takes it
  std::vector<torch::jit::IValue> samples;
  bool checks_results = true;
  bool keep_networks = false;
  DeviceTarget target;
  std::shared_ptr<runtime::HostCopies> host;          // of the graph's constants; null where those are on the CPU
  std::vector<at::Tensor> other_constants;            // of calls that the engines are not for
  std::vector<rewriting::NetworkRewriter> rewriters;  // of the user; what they throw ends the compile
  std::function<plan::Plan(const network::Network&)> plan_of;
};

class SegmentEngines {
 public:
  SegmentEngines(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles, InputLeaves leaves,
                 SegmentOptions options, PhaseClock& clock)
      : lowered_(lowered),
        roles_(roles),
        leaves_(std::move(leaves)),
        options_(std::move(options)),
        clock_(clock),
        types_(leaves_, lowered, options_.precision) {
    leaves_.sample_sizes = sizesInSamples(leaves_, options_.samples);
  }

  // The three steps to the engines of a partition, in order. Each returns what has to run in PyTorch for another
  // attempt to get further; then the next step is not to be taken.
  Failures convert(const partitioning::Partition& partition);
  // Optimization, building and loading of one engine after the other, as plans hold copies of weights.
  Failures build();
  // Engine by engine on the samples, where there are borders between segments: one engine of everything is compared
  // when the module is.
  Failures compare(const partitioning::Partition& partition);
  const std::vector<SegmentEngine>& engines() const {
    return engines_;
  }
  // Returns what the example runs saw, or null. Runs them now if nothing asked for them before.
  const partitioning::Observations& observe();
  const partitioning::Observations* observations() const {
    return examples_.observations.get();
  }
  // Returns the seconds that PyTorch took for the nodes it ran: in an example run, or beside the engines on the
  // samples.
  const std::unordered_map<const torch::jit::Node*, double>& seconds() const {
    return examples_.observations ? examples_.observations->seconds() : seconds_;
  }
  // Returns the leaves, with the sizes that were taken to be one while converting.
  const InputLeaves& leaves() const {
    return leaves_;
  }
  // Returns the engine that a call ran, in the module or a copy of it; null for an engine that the source itself came
  // with.
  const SegmentEngine* find(const runtime::Engine& engine) const;
  // Returns the nodes to leave to PyTorch: all of an engine's segment, if it is slower than they are on its inputs.
  // Nothing for what find() does not know.
  Failures timed(const runtime::Engine& engine, const std::vector<at::Tensor>& inputs);
  // An engine of another network in the place of one: same inputs and outputs, same operators kept.
  SegmentEngine remade(size_t index, std::unique_ptr<network::Network> network);
  void replace(size_t index, SegmentEngine made) {
    engines_[index] = std::move(made);
  }
  void note(size_t index, Report::Calibration calibration) {
    engines_[index].calibration = std::move(calibration);
  }
  // Returns null, with a failure, if another partition has to know that a size is data-dependent. Other errors are
  // thrown.
  std::unique_ptr<network::Network> wholeNetworkOf(const partitioning::Segment& segment, const std::string& name,
                                                   Failures& failures);

  // Runs every engine beside PyTorch in the call; returns the node to blame for the first difference.
  Failures validate(const partitioning::Partition& partition, const TrialCall& call);

 private:
  using Undecided = std::optional<std::pair<Dim, Dim>>;                    // dims that kept a layer from broadcasting
  using Test = std::function<void(const partitioning::Segment& segment)>;  // throws where the segment fails

  std::unique_ptr<network::Network> networkOf(const partitioning::Segment& segment, const std::string& name,
                                              const torch::jit::Node** failed = nullptr,
                                              Undecided* undecided = nullptr);
  Failures tryConvert(const std::vector<const partitioning::Segment*>& segments);
  // Takes sizes to be one where that lets the node's operands be broadcast. False where no sizes do.
  bool guess(const Undecided& undecided, const torch::jit::Node& node);
  bool describe(const partitioning::Segment& segment, conversion::ConversionRequest& request, Failures& failures);
  std::unique_ptr<network::Network> tryConvert(const partitioning::Segment& segment,
                                               conversion::ConversionRequest request, Failures& failures);
  // Adds to a conversion's request what it has to know of the device.
  void addDevice(conversion::ConversionRequest& request) const;
  EmptyInputs emptyInputsOf(const partitioning::Segment& segment);
  void make(SegmentEngine& made, std::unique_ptr<network::Network> network);
  std::map<size_t, FoundConstant> findOthers(const std::vector<at::Tensor>& weights,
                                             std::vector<at::Tensor>& parts) const;
  // The last node of the shortest beginning of the segment that fails.
  const torch::jit::Node* firstFailing(const partitioning::Segment& segment, const Test& test) const;
  // Code of PyTorch's or ours that threw what no refusal is; strict: ends the compile.
  Refusal refusalFor(const std::exception& error, const char* code, const std::string& what) const;

  const lowering::LoweredGraph& lowered_;
  const partitioning::Roles& roles_;
  InputLeaves leaves_;
  SegmentOptions options_;
  PhaseClock& clock_;
  ValueTypes types_;
  ExampleRuns examples_;
  bool has_new_guess_ = false;  // by which what was converted before it is not
  std::vector<SegmentEngine> engines_;
  std::vector<std::unique_ptr<network::Network>> networks_;      // of the engines that are still to be built
  std::unordered_map<const torch::jit::Node*, double> seconds_;  // in PyTorch on the samples, by a node of each segment
  std::map<std::vector<const torch::jit::Node*>, std::optional<Refusal>> timed_;  // segments, by their nodes
};

bool isStrict();

}  // namespace torchtrt::compiler
