// The worklist driver behind RewritePatternManager: which layer is offered to which pattern next, and when to give up.
// It decides nothing about what patterns do; users see only the manager.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {

class Driver : private RewriteListener {
 public:
  struct Candidate {
    std::string label;
    PatternRewriter* pattern;
  };
  // Candidates in the order they are to be tried.
  Driver(Network& network, std::vector<Candidate> candidates, const RewriteOptions& options);

  // Sweeps until a whole sweep changes nothing: a pattern may look further than the neighbours that an edit puts on the
  // list.
  RewriteSummary run();

 private:
  void fill();
  bool drain();
  bool offer(Layer& layer);
  void recordRewrite(size_t candidate);

  void push(Layer* layer);
  void pushUsers(const Tensor& tensor, size_t count);

  void layerCreated(Layer& layer) override;
  void layerChanged(Layer& layer) override;
  void usesReplaced(Tensor& from, Tensor& to, size_t moved) override;
  void layerMarkedAsRemoved(Layer& layer) override;
  void layerRemoved(Layer& layer) override;

  Network& network_;
  std::vector<Candidate> candidates_;
  std::vector<std::vector<size_t>> by_kind_;  // candidates for each kind of root
  Rewriter rewriter_;
  size_t budget_;
  bool verify_;
  bool trace_;
  std::string offered_name_;  // of the layer that is offered, which may be gone when its name is asked for
  Location offered_location_;
  // Ids are never reused, so an id that is not in `state_` marks a stale entry whose pointer must not be followed.
  std::deque<std::pair<int64_t, Layer*>> worklist_;
  enum class State : uint8_t { kListed, kMarkedAsRemoved };
  std::unordered_map<int64_t, State> state_;
  std::vector<size_t> counts_;  // rewrites per candidate
  size_t rewrites_ = 0;
  std::deque<std::string> recent_;  // "pattern on layer", for the budget's error
};

// Runs the body; an error of torchtrt that it throws gets the pattern and the layer in front of its message.
template <typename Body>
void withPatternNamed(const std::string& label, const std::string& layer_name, const Location& location, Body&& body) {
  const auto message = [&](const Error& error) {
    return "pattern '" + label + "' on layer '" + layer_name + "': " + error.message();
  };
  const auto place = [&](const Error& error) { return error.location().empty() ? location : error.location(); };
  try {
    body();
  } catch (const InternalError& error) {
    throw InternalError(message(error), place(error));
  } catch (const EngineError& error) {
    throw EngineError(error.code(), message(error), place(error), error.advice());
  } catch (const CompileError& error) {
    throw CompileError(error.code(), message(error), place(error), error.advice());
  } catch (const std::exception& error) {  // of a user's pattern
    throw CompileError(ErrorCode::kConversionFailed,
                       "pattern '" + label + "' on layer '" + layer_name + "' failed: " + error.what(), location);
  }
}

}  // namespace torchtrt::rewriting
