#include "compiler/segments/segment_engines.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/dump.h"
#include "base/logging.h"
#include "compiler/checking/bisection.h"
#include "compiler/inputs/size_guesses.h"
#include "compiler/inputs/size_limits.h"
#include "compiler/module/placing.h"
#include "compiler/module/source.h"
#include "compiler/reports/segment_report.h"
#include "compiler/reports/text.h"
#include "compiler/segments/binaries.h"
#include "compiler/segments/gpu_layers.h"
#include "compiler/segments/kept_segment.h"
#include "engine/schedule/optimum.h"
#include "partitioning/partitioning.h"
#include "partitioning/segment_builder.h"
#include "stitching/stitching.h"

namespace torchtrt::compiler {

using conversion::ConversionRequest;
using partitioning::Partition;
using partitioning::Segment;
using partitioning::Target;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;

namespace {

// The nodes of the segment that need the value.
void failUsers(const partitioning::Roles& roles, const Segment& segment, const Value& value, const Refusal& refusal,
               Failures& failures) {
  for (const Node* node : segment.nodes) {
    const auto& needs = roles.needsOf(*node);
    if (std::find(needs.begin(), needs.end(), &value) != needs.end()) {
      failures.emplace(node, refusal);
    }
  }
}

}  // namespace

bool isStrict() {
  const char* value = std::getenv("TORCHTRT_STRICT");
  return value != nullptr && std::string_view(value) == "1";
}

Failures SegmentEngines::convert(const Partition& partition) {
  const std::vector<const Segment*> segments = partitioning::segmentsOf(partition.segments, Target::kEngine);
  Failures failures;
  do {
    has_new_guess_ = false;
    engines_.clear();
    networks_.clear();
    failures = tryConvert(segments);
  } while (has_new_guess_);
  clock_.atEngine(0, 0);
  return failures;
}

Failures SegmentEngines::compare(const Partition& partition) {
  const bool has_borders = partition.segments.size() > 1;
  if (!has_borders || !options_.may_fall_back || !options_.checks_results || options_.samples.empty()) {
    return {};
  }
  return clock_.run(Phase::kValidation, [&] { return validate(partition, {options_.samples}); });
}

std::unique_ptr<network::Network> SegmentEngines::networkOf(const Segment& segment, const std::string& name,
                                                            const Node** failed, Undecided* undecided) {
  ConversionRequest request;
  request.name = name;
  request.is_whole = true;
  if (const auto unknown = types_.describe(segment, request)) {
    throw CompileError(ErrorCode::kInvalidInputSpec,
                       "no input specification says what %" + unknown->value->debugName() + " is", {},
                       "give one Input for every tensor");
  }
  request.failed_node = failed;
  request.undecided = undecided;
  addDevice(request);
  auto network = conversion::convert(*segment.graph->block(), request);
  rewriting::applyRewriters(network, options_.rewriters);
  return network;
}

std::unique_ptr<network::Network> SegmentEngines::wholeNetworkOf(const Segment& segment, const std::string& name,
                                                                 Failures& failures) {
  const Node* failed = nullptr;
  Undecided undecided;
  try {
    return networkOf(segment, name, &failed, &undecided);
  } catch (const conversion::ConversionRefused& error) {
    const auto origin = segment.origins.find(failed);
    if (error.refusal().code != conversion::kLateSize || origin == segment.origins.end()) {
      throw;
    }
    failures.emplace(origin->second, error.refusal());
    return nullptr;
  } catch (const CompileError& error) {
    const SizePairs sizes = undecided ? guessesFor(leaves_, undecided->first, undecided->second) : SizePairs();
    if (sizes.empty()) {
      throw;
    }
    throw CompileError(error.code(), error.message(), error.location(),
                       "if sizes are always equal, say so in the Inputs: " + sharedDims(leaves_, sizes));
  }
}

void SegmentEngines::addDevice(ConversionRequest& request) const {
  if (options_.host) {
    request.host_constant = [host = options_.host](const IValue& constant) { return onHost(constant, *host); };
  }
  if (options_.may_fall_back && options_.target.engineType() != at::kCPU) {
    request.refusal_of_layer = refusalWithoutKernel;
  }
}

Failures SegmentEngines::tryConvert(const std::vector<const Segment*>& segments) {
  Failures failures;
  for (size_t i = 0; i < segments.size() && !has_new_guess_; ++i) {
    const double before = clock_.total();
    clock_.atEngine(i + 1, segments.size());
    const std::string name = stitching::engineName(lowered_.module_name, i, segments.size());
    auto network = clock_.run(Phase::kConversion, [&]() -> std::unique_ptr<network::Network> {
      if (!options_.may_fall_back) {
        return wholeNetworkOf(*segments[i], name, failures);
      }
      ConversionRequest request;
      request.name = name;
      auto converted =
          describe(*segments[i], request, failures) ? tryConvert(*segments[i], std::move(request), failures) : nullptr;
      if (converted) {
        rewriting::applyRewriters(converted, options_.rewriters);
      }
      return converted;
    });
    if (network) {
      types_.learn(*segments[i], *network);
    }
    networks_.push_back(std::move(network));
    engines_.push_back({segments[i], {}, name, {}, clock_.total() - before, nullptr, std::nullopt, {}, {}, {}});
  }
  return failures;
}

bool SegmentEngines::describe(const Segment& segment, ConversionRequest& request, Failures& failures) {
  auto unknown = types_.describe(segment, request);
  if (unknown && !examples_.observations) {
    observe();
    request.inputs.clear();
    request.symbols.clear();
    unknown = types_.describe(segment, request);
  }
  if (unknown && !has_new_guess_) {
    failUsers(roles_, segment, *unknown->value, unknown->refusal, failures);
  }
  return !unknown && !has_new_guess_;
}

const partitioning::Observations& SegmentEngines::observe() {
  if (!examples_.observations) {
    const size_t sizes = leaves_.symbols.size();
    examples_ = runExamples(lowered_, roles_, leaves_, options_.precision, options_.self, options_.samples,
                            options_.target.device);
    has_new_guess_ = leaves_.symbols.size() != sizes;
    types_.setObservations(examples_.observations.get(), examples_.sizes_of_symbols);
  }
  return *examples_.observations;
}

std::unique_ptr<network::Network> SegmentEngines::tryConvert(const Segment& segment, ConversionRequest request,
                                                             Failures& failures) {
  const Node* failed = nullptr;
  Undecided undecided;
  request.failed_node = &failed;
  request.undecided = &undecided;
  addDevice(request);
  try {
    return conversion::convert(*segment.graph->block(), request);
  } catch (const std::exception& error) {
    const auto origin = segment.origins.find(failed);
    if (origin != segment.origins.end() && guess(undecided, *origin->second)) {
      return nullptr;
    }
    const auto* refused = dynamic_cast<const conversion::ConversionRefused*>(&error);
    Refusal refusal = refused ? refused->refusal() : refusalFor(error, "conversion-failed", "its converter fails");
    // A loop over layers has a branch for each, and which of them a trip takes, its number says.
    if (!refused && origin != segment.origins.end() && examples_.observations &&
        !examples_.observations->cameThrough(*origin->second->owningBlock())) {
      refusal = {"control-flow",
                 "no example run takes its branch, and what comes there does not fit: " + refusal.reason};
    }
    if (origin != segment.origins.end()) {
      failures.emplace(origin->second, refusal);
    } else {
      for (const Node* node : segment.nodes) {
        failures.emplace(node, refusal);
      }
    }
    return nullptr;
  }
}

bool SegmentEngines::guess(const Undecided& undecided, const Node& node) {
  const SizePairs guesses = undecided ? guessesFor(leaves_, undecided->first, undecided->second) : SizePairs();
  for (const auto& [a, b] : guesses) {
    takeForOne(leaves_, a, b, compiler::describe(node));
  }
  if (!guesses.empty() && examples_.observations) {  // the sizes of its runs are to be one, too
    types_.forgetObservations();
    examples_ = {};
  }
  const bool is_guess = !guesses.empty() || (undecided && types_.takeForOne(undecided->first, undecided->second));
  has_new_guess_ |= is_guess;
  return is_guess;
}

Refusal SegmentEngines::refusalFor(const std::exception& error, const char* code, const std::string& what) const {
  const auto* ours = dynamic_cast<const CompileError*>(&error);
  if (!ours && isStrict()) {
    throw InternalError(what + ": " + error.what());
  }
  return {code, what + ": " + firstLine(ours ? ours->message() : error.what())};
}

Failures SegmentEngines::build() {
  Failures failures;
  for (size_t i = 0; i < engines_.size(); ++i) {
    SegmentEngine& made = engines_[i];
    const Segment& segment = *made.segment;
    clock_.atEngine(i + 1, engines_.size());
    try {
      made.empty = clock_.run(Phase::kConversion, [&] { return emptyInputsOf(segment); });
      make(made, std::move(networks_[i]));
    } catch (const std::exception& error) {
      const auto* known = dynamic_cast<const Error*>(&error);
      const bool is_users_mistake =
          known != nullptr && (known->code() == ErrorCode::kInvalidOption || known->code() == ErrorCode::kOutput);
      if (!options_.may_fall_back || is_users_mistake) {
        throw;
      }
      const Refusal refusal = refusalFor(error, "build-failed", "its engine fails to build");
      const Node* culprit = firstFailing(segment, [&](const Segment& part) {
        runtime::Engine::fromPlan(options_.plan_of(*networkOf(part, made.name)), options_.target.placement);
      });
      failures.emplace(culprit, refusal);
    }
  }
  clock_.atEngine(0, 0);
  return failures;
}

// Not where the user rewrites networks: what the two would be rewritten to is nobody's business.
EmptyInputs SegmentEngines::emptyInputsOf(const Segment& segment) {
  ConversionRequest request;
  if (!examples_.first_calls || !options_.rewriters.empty() || types_.describe(segment, request)) {
    return {};
  }
  addDevice(request);
  return emptyInputs(segment, request, *examples_.first_calls);
}

void SegmentEngines::make(SegmentEngine& made, std::unique_ptr<network::Network> network) {
  const double before = clock_.total();
  plan::Plan plan = options_.plan_of(*network);
  made.only_sizes = onlySizes(plan, leaves_);
  for (const auto& [input, dims] : made.empty) {
    plan.inputs[input].empty_dims = dims;
  }
  made.network = options_.keep_networks ? std::move(network) : nullptr;
  network.reset();
  addBinaries(plan, options_.target, clock_);
  std::vector<at::Tensor> weights = runtime::Engine::weightsOf(plan);
  for (plan::Weight& weight : plan.weights) {
    weight.data = nullptr;
  }
  // Before the engine packs its weights: both copy what they fold, and need not do so at the same time.
  std::optional<runtime::KeptSegment::State> kept;
  if (options_.may_fall_back) {
    std::vector<at::Tensor> others;
    made.found = findOthers(weights, others);
    kept = keptSegment(*made.segment, weights, options_.shares_constants, others, options_.host.get(), options_.target);
    const size_t first = kept->constants.size() - others.size();
    for (auto& [number, found] : made.found) {
      for (size_t& part : found.parts) {
        part += first;
      }
    }
  }
  // Weights that are attributes of the module, too, stay in memory whether the engine holds them or not.
  const auto originals = options_.shares_constants ? runtime::Originals::kHold : runtime::Originals::kLetGo;
  made.engine = clock_.run(Phase::kLoading, [&] {
    if (options_.shares_constants) {
      return runtime::Engine::fromPlan(plan, std::move(weights), originals, {}, {}, options_.target.placement);
    }
    auto borrowed = borrowedFrom(options_.self, weights);
    for (size_t i = 0; options_.host && i < weights.size(); ++i) {
      borrowed[i] = borrowed[i] || options_.host->hold(weights[i]);  // another attempt reads them again
    }
    auto exclusive = borrowed;
    exclusive.flip();
    return runtime::Engine::fromPlan(plan, std::move(weights), originals, std::move(borrowed), std::move(exclusive),
                                     options_.target.placement);
  });
  if (dump::isOn()) {
    dump::write("schedule", plan.name, "optimum", engine::scheduleAtOptimum(made.engine->engine()));
  }
  if (kept) {
    made.engine->keep(std::move(*kept));
  }
  made.steps = plan.steps;
  made.milliseconds += clock_.total() - before;
}

// Finds other calls' constants among the weights; `parts` gets what they are made of.
std::map<size_t, FoundConstant> SegmentEngines::findOthers(const std::vector<at::Tensor>& weights,
                                                           std::vector<at::Tensor>& parts) const {
  std::map<size_t, FoundConstant> found;
  for (size_t i = 0; i < options_.other_constants.size(); ++i) {
    auto shared = sharedTensor(weights, options_.other_constants[i], options_.shares_constants);
    if (!shared) {
      continue;
    }
    found[i].scaled = shared->scaled;
    for (at::Tensor& part : shared->parts) {
      found[i].parts.push_back(parts.size());
      parts.push_back(std::move(part));
    }
  }
  return found;
}

SegmentEngine SegmentEngines::remade(size_t index, std::unique_ptr<network::Network> network) {
  SegmentEngine made;
  made.segment = engines_[index].segment;
  made.name = engines_[index].name;
  made.empty = engines_[index].empty;
  make(made, std::move(network));
  return made;
}

const Node* SegmentEngines::firstFailing(const Segment& segment, const Test& test) const {
  const auto fails = [&](size_t count) {
    partitioning::SegmentBuilder builder(Target::kEngine, roles_);
    std::unordered_set<const Value*> made;
    for (size_t i = 0; i < count; ++i) {
      builder.add(*segment.nodes[i]);
      made.insert(segment.nodes[i]->outputs().begin(), segment.nodes[i]->outputs().end());
    }
    for (const Value* output : segment.outputs) {
      if (made.count(output) != 0) {
        builder.addOutput(*output);
      }
    }
    for (const Value* output : segment.nodes[count - 1]->outputs()) {
      if (partitioning::isTensor(*output)) {
        builder.addOutput(*output);
      }
    }
    const Segment part = builder.take();
    try {
      if (!part.outputs.empty()) {
        test(part);
      }
      return false;
    } catch (const std::exception&) {
      return true;
    }
  };
  return segment.nodes[leastFailing(segment.nodes.size(), fails) - 1];
}

// Holders of copies are others, but share what they hold. Names alone may be those of the source's own engines.
const SegmentEngine* SegmentEngines::find(const runtime::Engine& engine) const {
  const auto found = std::find_if(engines_.begin(), engines_.end(), [&](const SegmentEngine& each) {
    return &each.engine->engine() == &engine.engine();
  });
  return found == engines_.end() ? nullptr : &*found;
}

}  // namespace torchtrt::compiler
