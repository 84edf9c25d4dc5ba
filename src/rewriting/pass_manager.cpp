#include "rewriting/pass_manager.h"

#include <algorithm>
#include <iostream>

#include "base/pass_run.h"

namespace torchtrt::rewriting {

namespace {

void checkNames(const std::vector<std::string>& wanted, const std::vector<std::unique_ptr<Pass>>& passes) {
  for (const std::string& name : wanted) {
    if (std::none_of(passes.begin(), passes.end(), [&](const auto& pass) { return pass->name() == name; })) {
      std::string known;
      for (const auto& pass : passes) {
        known += (known.empty() ? "" : ", ") + pass->name();
      }
      throw CompileError(ErrorCode::kInvalidOption, "there is no pass named '" + name + "' to disable", {},
                         "the passes are " + known);
    }
  }
}

void verifyAfter(const std::string& what, const Network& network) {
  try {
    network::verify(network);
  } catch (const Error& error) {
    throw InternalError(what + " left network '" + network.name() + "' invalid: " + error.message(), error.location());
  }
}

}  // namespace

PassManager::PassManager(std::string name, PassManagerOptions options)
    : name_(std::move(name)), options_(std::move(options)) {
  if (!options_.dump) {
    options_.dump = [](const std::string& pass, const std::string& text) {
      std::cerr << "# after " << pass << "\n" << text;
    };
  }
}

void PassManager::add(std::unique_ptr<Pass> pass) {
  passes_.push_back(std::move(pass));
}

bool PassManager::run(Network& network) {
  bool changed = false;
  for (int round = 0; round < options_.max_rounds; ++round) {
    if (!runOnce(network)) {
      return changed;
    }
    changed = true;
  }
  throw CompileError(ErrorCode::kRewriteBudget,
                     "pipeline '" + name_ + "' still changes network '" + network.name() + "' after " +
                         std::to_string(options_.max_rounds) + " rounds",
                     {}, "disable passes by name to find those that undo each other");
}

bool PassManager::runOnce(Network& network) {
  checkNames(options_.disabled, passes_);
  if (options_.verify) {
    network::verify(network);
  }
  bool changed = false;
  for (const auto& pass : passes_) {
    const std::vector<std::string>& disabled = options_.disabled;
    if (std::find(disabled.begin(), disabled.end(), pass->name()) == disabled.end()) {
      changed = runPass(*pass, network) || changed;
    }
  }
  return changed;
}

bool PassManager::runPass(Pass& pass, Network& network) {
  PassRun run{"network", network.name(), pass.name(), [&] { return network::print(network); }};
  if (options_.verify) {
    run.verify = [&] { verifyAfter("pass '" + pass.name() + "'", network); };
  }
  run.check_changed = options_.check_changed;
  run.dump_after = options_.dump_after;
  run.dump = [&](const std::string& text) { options_.dump(pass.name(), text); };
  RewriteOptions rewriting;
  rewriting.verify = options_.verify;
  return torchtrt::runPass(run, [&] { return pass.run(network, rewriting); });
}

}  // namespace torchtrt::rewriting
