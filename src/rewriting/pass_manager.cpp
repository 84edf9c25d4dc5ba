#include "rewriting/pass_manager.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <regex>

#include "base/checkpoint.h"
#include "base/logging.h"

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

bool matchesName(const std::string& expression, const std::string& name) {
  try {
    return std::regex_search(name, std::regex(expression));
  } catch (const std::regex_error&) {
    throw CompileError(ErrorCode::kInvalidOption, "'" + expression + "' is no regular expression over pass names");
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
  const std::string before = options_.check_changed ? network::print(network) : std::string();
  checkpoint();
  const auto start = std::chrono::steady_clock::now();
  RewriteOptions rewriting;
  rewriting.verify = options_.verify;
  const bool changed = pass.run(network, rewriting);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  TORCHTRT_LOG(kDEBUG, name_ << ": pass " << pass.name() << (changed ? " changed" : " kept") << " network '"
                             << network.name() << "' (" << network.getNbLayers() << " layers) in " << elapsed.count()
                             << " ms");
  if (options_.check_changed && (network::print(network) != before) != changed) {
    throw InternalError("pass '" + pass.name() + "' says that it " + (changed ? "changed" : "kept") +
                        " the network, and its text says otherwise");
  }
  if (changed && options_.verify) {
    verifyAfter("pass '" + pass.name() + "'", network);
  }
  if (!options_.dump_after.empty() && matchesName(options_.dump_after, pass.name())) {
    options_.dump(pass.name(), network::print(network));
  }
  return changed;
}

}  // namespace torchtrt::rewriting
