#include "compiler/inputs/example_runs.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "compiler/inputs/example_arguments.h"
#include "compiler/inputs/example_sizes.h"
#include "compiler/inputs/size_guesses.h"
#include "compiler/module/module_state.h"
#include "compiler/module/placing.h"
#include "compiler/module/source.h"
#include "compiler/reports/segment_report.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::IValue;
using Sizes = RunSizes;

using Arguments = std::vector<std::optional<IValue>>;

// A call may write to its arguments.
Arguments copied(const Arguments& arguments) {
  Arguments copies;
  for (const auto& argument : arguments) {
    copies.push_back(argument ? std::optional(argument->deepcopy()) : std::nullopt);
  }
  return copies;
}

Arguments with(IValue self, const Arguments& arguments) {
  Arguments all{std::move(self)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

// Runs of the graph until one shows that sizes have to be one, if that is looked for.
class Runner {
 public:
  Runner(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles, const InputLeaves& leaves,
         DataType open_dtype, const IValue& self, const std::vector<IValue>& samples, const at::Device& device)
      : lowered_(lowered),
        roles_(roles),
        leaves_(leaves),
        open_dtype_(open_dtype),
        self_(self),
        samples_(samples),
        device_(device) {
    result_.observations = std::make_unique<partitioning::Observations>(lowered.graph, roles);
    has_state_ = callsLeaveState(lowered, roles);
    if (has_state_) {
      result_.first_calls = std::make_unique<partitioning::Observations>(lowered.graph, roles);
    }
  }

  // The node at which a run with different sizes fails, and the sizes that may have to be one there.
  struct Clash {
    const torch::jit::Node* node;
    SizePairs sizes;
  };
  std::optional<Clash> run(bool looks_for_clashes) {
    const Sizes optimum = optimumSizes(leaves_);
    findLength();
    runFirst();
    const auto first_failure = result_.observations->firstFailure();
    if (result_.sizes_of_symbols.front() != optimum) {
      runMade({optimum});
    }
    const bool has_lists = hasOpenLists(lowered_, leaves_);
    if (leaves_.symbols.empty()) {
      runWithoutSymbols(has_lists);
      return std::nullopt;
    }
    bool is_first = true;
    bool fails_always = first_failure.has_value();
    for (const Sizes& sizes : otherSizes(leaves_)) {
      runMade({sizes, false, has_lists && std::exchange(is_first, false)});
      const auto& failure = result_.observations->firstFailure();
      fails_always &= failure.has_value();
      if (looks_for_clashes && failure && (!first_failure || first_failure->node != failure->node)) {
        if (SizePairs pairs = pairsIn(leaves_, sizes, failure->sizes); !pairs.empty()) {
          return Clash{failure->node, std::move(pairs)};
        }
      }
    }
    if (fails_always && leaves_.symbols.size() > 1) {  // sizes of unlike ranges may have to be one
      runMade({commonSizes(leaves_)});
    }
    return std::nullopt;
  }

  ExampleRuns take() {
    return std::move(result_);
  }

 private:
  void runWithoutSymbols(bool has_lists) {
    if (has_lists) {
      runMade({{}, false, true});
    } else if (has_state_ || result_.observations->guesses()) {
      runFirst();
    }
  }

  // Finds the size that numbers have to be: the module fails on made-up numbers, and not if they are a size of another
  // input.
  void findLength() {
    const std::vector<Dim> lengths =
        samples_.empty() ? possibleLengths(lowered_, leaves_, open_dtype_) : std::vector<Dim>();
    const auto fails = [&](const std::optional<Dim>& length) {
      partitioning::Observations observations(lowered_.graph, roles_);
      observations.run(withSelf(makeArguments(lowered_, leaves_, open_dtype_, samples_,
                                              {optimumSizes(leaves_), true, false, length})),
                       /*are_made_up=*/true);
      return observations.firstFailure().has_value();
    };
    if (!lengths.empty() && fails(std::nullopt)) {
      const auto found = std::find_if_not(lengths.begin(), lengths.end(), fails);
      length_ = found == lengths.end() ? std::nullopt : std::optional(*found);
    }
  }

  Arguments withSelf(Arguments arguments) const {
    arguments = placed(std::move(arguments));
    if (lowered_.has_self) {
      arguments.insert(arguments.begin(), has_state_ ? self_.deepcopy() : sharingTensors(self_));
    }
    return arguments;
  }

  Arguments placed(Arguments arguments) const {
    for (auto& argument : arguments) {
      argument = argument ? std::optional(compiler::placed(*argument, device_)) : std::nullopt;
    }
    return arguments;
  }

  void runFirst() {
    WantedArguments wanted{optimumSizes(leaves_), true};
    if (samples_.empty()) {
      return runMade(wanted);
    }
    Arguments arguments(lowered_.schema.arguments().size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      arguments[i] =
          i < samples_.size() ? std::optional(samples_[i].deepcopy()) : lowered_.schema.arguments()[i].default_value();
    }
    for (const auto& [symbol, size] : sizesInSamples(leaves_, samples_)) {
      wanted.sizes[symbol] = size;
    }
    run(wanted.sizes, arguments, /*are_made_up=*/false);
  }

  void runMade(WantedArguments wanted) {
    wanted.length = length_;
    run(wanted.sizes, makeArguments(lowered_, leaves_, open_dtype_, samples_, wanted), /*are_made_up=*/true);
  }

  void run(const Sizes& sizes, const Arguments& arguments, bool are_made_up) {
    const Arguments given = placed(arguments);
    if (!has_state_) {
      result_.observations->run(withSelf(given), are_made_up);
    } else if (!runOnSettled(given, are_made_up)) {
      runAfresh(given, are_made_up);
    }
    result_.sizes_of_symbols.push_back(sizes);
  }

  // An engine is for the state that calls find, which need not be of the size or rank that the first one finds. Where
  // it grows with every call, sizes differ.
  void runAfresh(const Arguments& arguments, bool are_made_up) {
    const IValue self = self_.deepcopy();
    const int earlier_calls = result_.sizes_of_symbols.empty() ? 1 : 2;
    for (int i = 0; i < earlier_calls; ++i) {
      partitioning::Observations later(lowered_.graph, roles_);
      (i == 0 ? *result_.first_calls : later).run(with(self, copied(arguments)), are_made_up);
    }
    const std::string found = stateOf(self);
    result_.observations->run(with(self, copied(arguments)), are_made_up);
    if (result_.sizes_of_symbols.empty() && stateOf(self) == found) {
      settled_ = {self, found, result_.observations->failed()};
    }
  }

  // After a call that left the state as it had found it, another one is as good as the second of a new module. False,
  // and nothing is observed, if it changes the state, or something fails that did not: the state is of the sizes of the
  // arguments.
  bool runOnSettled(const Arguments& arguments, bool are_made_up) {
    if (!settled_) {
      return false;
    }
    auto observations = std::make_unique<partitioning::Observations>(*result_.observations);
    observations->run(with(settled_->self, copied(arguments)), are_made_up);
    const bool fails = std::any_of(observations->failed().begin(), observations->failed().end(),
                                   [&](const auto* node) { return settled_->failed.count(node) == 0; });
    if (fails || stateOf(settled_->self) != settled_->state) {
      settled_.reset();
      return false;
    }
    result_.observations = std::move(observations);
    return true;
  }

  struct Settled {
    IValue self;
    std::string state;
    std::unordered_set<const torch::jit::Node*> failed;  // in the call that left the state as it was
  };

  const lowering::LoweredGraph& lowered_;
  const partitioning::Roles& roles_;
  const InputLeaves& leaves_;
  DataType open_dtype_;
  const IValue& self_;
  const std::vector<IValue>& samples_;
  at::Device device_;
  ExampleRuns result_;
  bool has_state_ = false;
  std::optional<Settled> settled_;
  std::optional<Dim> length_;  // that numbers of an open domain are to say
};

}  // namespace

ExampleRuns runExamples(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles, InputLeaves& leaves,
                        DataType open_dtype, const IValue& self, const std::vector<IValue>& samples,
                        const at::Device& device) {
  const auto runner = [&](const InputLeaves& of) {
    return Runner(lowered, roles, of, open_dtype, self, samples, device);
  };
  while (true) {
    Runner runs = runner(leaves);
    const auto clash = runs.run(/*looks_for_clashes=*/true);
    if (!clash) {
      return runs.take();
    }
    InputLeaves guessed = leaves;
    for (const auto& [a, b] : clash->sizes) {
      takeForOne(guessed, a, b, describe(*clash->node));
    }
    Runner again = runner(guessed);
    const auto next = again.run(/*looks_for_clashes=*/true);
    if (next && next->node == clash->node) {  // it is something else
      Runner all = runner(leaves);
      all.run(/*looks_for_clashes=*/false);
      return all.take();
    }
    leaves = std::move(guessed);
    if (!next) {
      return again.take();
    }
  }
}

}  // namespace torchtrt::compiler
