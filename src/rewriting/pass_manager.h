// Passes and the manager that runs them: logging, timing, dumps, switching off and verification are the manager's,
// never a pass's. A pass is any change to a network; most are a set of patterns (PatternPass).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torchtrt/export.h"
#include "torchtrt/network.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {

class TORCHTRT_API Pass {
 public:
  virtual ~Pass() = default;
  virtual const std::string& name() const = 0;
  // True if it changed anything. The options are for whatever patterns it applies.
  virtual bool run(Network& network, const RewriteOptions& options) = 0;
};

// A pass made of patterns, labelled by their own names.
class TORCHTRT_API PatternPass : public Pass {
 public:
  explicit PatternPass(std::string name) : name_(std::move(name)) {}
  template <typename P, typename... Args>
  PatternPass& add(Args&&... args) {
    auto pattern = std::make_unique<P>(std::forward<Args>(args)...);
    const std::string label = pattern->name();
    patterns_.add(label, std::move(pattern));
    return *this;
  }
  const std::string& name() const override {
    return name_;
  }
  bool run(Network& network, const RewriteOptions& options) override {
    return patterns_.rewrite(network, {}, options).changed();
  }

 private:
  std::string name_;
  RewritePatternManager patterns_;
};

// A pass that is one function.
class TORCHTRT_API FunctionPass : public Pass {
 public:
  FunctionPass(std::string name, std::function<bool(Network&)> body) : name_(std::move(name)), body_(std::move(body)) {}
  const std::string& name() const override {
    return name_;
  }
  bool run(Network& network, const RewriteOptions&) override {
    return body_(network);
  }

 private:
  std::string name_;
  std::function<bool(Network&)> body_;
};

struct PassManagerOptions {
  std::vector<std::string> disabled;  // names of passes to leave out; an unknown one is CompileError(kInvalidOption)
  std::string dump_after;             // regular expression over names: print the network after those passes
  std::function<void(const std::string& pass, const std::string& text)> dump;  // where to; standard error if empty
  bool verify = false;         // at the start, after every rewrite, and after every changing pass
  bool check_changed = false;  // compare printed text, so that a pass cannot lie about "changed"
  int max_rounds = 20;         // of run(); then CompileError(kRewriteBudget)
};

class TORCHTRT_API PassManager {
 public:
  explicit PassManager(std::string name, PassManagerOptions options = {});
  void add(std::unique_ptr<Pass> pass);
  const std::vector<std::unique_ptr<Pass>>& passes() const {
    return passes_;
  }
  // All passes in order, again and again until a whole round changes nothing. True if anything changed.
  bool run(Network& network);
  // All passes in order, once.
  bool runOnce(Network& network);

 private:
  bool runPass(Pass& pass, Network& network);

  std::string name_;
  PassManagerOptions options_;
  std::vector<std::unique_ptr<Pass>> passes_;
};

}  // namespace torchtrt::rewriting
