#include "rewriting/driver.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "base/checkpoint.h"
#include "base/logging.h"
#include "torchtrt/net_guard.h"

namespace torchtrt::rewriting {

namespace {

constexpr size_t kRecentNamed = 6;  // rewrites that the budget's error names

size_t defaultBudget(const Network& network) {
  return 1000 + 32 * static_cast<size_t>(network.getNbLayers());
}

bool isTraced() {
  const char* value = std::getenv("TORCHTRT_REWRITE");
  return value != nullptr && std::string_view(value) == "trace";
}

}  // namespace

Driver::Driver(Network& network, std::vector<Candidate> candidates, const RewriteOptions& options)
    : network_(network),
      candidates_(std::move(candidates)),
      by_kind_(network::layerTable().size()),
      rewriter_(network),
      budget_(options.max_rewrites != 0 ? options.max_rewrites : defaultBudget(network)),
      verify_(options.verify),
      trace_(isTraced()),
      counts_(candidates_.size(), 0) {
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const std::vector<LayerType>& roots = candidates_[i].pattern->rootLayers();
    for (size_t kind = 0; kind < by_kind_.size(); ++kind) {
      if (roots.empty() || std::find(roots.begin(), roots.end(), static_cast<LayerType>(kind)) != roots.end()) {
        by_kind_[kind].push_back(i);
      }
    }
  }
  rewriter_.addListener(*this);
  for (RewriteListener* listener : options.listeners) {
    rewriter_.addListener(*listener);
  }
}

RewriteSummary Driver::run() {
  const NetGuard guard(network_, rewriter_);
  do {
    fill();
  } while (drain());
  RewriteSummary summary;
  summary.rewrites = rewrites_;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    summary.by_label.emplace_back(candidates_[i].label, counts_[i]);
  }
  return summary;
}

void Driver::fill() {
  for (Layer* layer : network_.layers()) {
    push(layer);
  }
}

// True if anything changed.
bool Driver::drain() {
  const size_t before = rewrites_;
  while (!worklist_.empty()) {
    const auto [id, layer] = worklist_.front();
    worklist_.pop_front();
    const auto entry = state_.find(id);
    if (entry == state_.end() || entry->second != State::kListed) {
      continue;
    }
    state_.erase(entry);
    while (offer(*layer)) {
      // A layer that survived its rewriting is offered again at once, from the first pattern on.
      const auto listed = state_.find(id);
      if (listed == state_.end() || listed->second != State::kListed) {
        break;
      }
      state_.erase(listed);
    }
  }
  return rewrites_ != before;
}

// True if a pattern applied. A layer that is still there afterwards is then listed.
bool Driver::offer(Layer& layer) {
  checkpoint();
  const int64_t id = layer.id();
  offered_name_ = layer.getName();
  offered_location_ = layer.location();
  for (const size_t candidate : by_kind_[static_cast<size_t>(layer.getType())]) {
    bool applied = false;
    state_[id] = State::kListed;  // erased when the layer is removed, so it tells whether `layer` may still be touched
    withPatternNamed(candidates_[candidate].label, offered_name_, offered_location_, [&] {
      rewriter_.begin(layer);
      applied = candidates_[candidate].pattern->matchAndRewrite(layer, rewriter_);
      rewriter_.end();
      if (applied && verify_) {
        network::verify(network_);
      }
    });
    if (applied) {
      recordRewrite(candidate);
      return true;
    }
  }
  state_.erase(id);
  return false;
}

void Driver::recordRewrite(size_t candidate) {
  const std::string& label = candidates_[candidate].label;
  TORCHTRT_LOG(kGRAPH, "rewrote layer '" << offered_name_ << "' by pattern '" << label << "'");
  if (trace_) {
    const std::string place = offered_location_.empty() ? "" : " # " + toString(offered_location_);
    std::cerr << "rewrite: '" + label + "' on '" + offered_name_ + "' of '" + network_.name() + "'" + place + "\n";
  }
  ++counts_[candidate];
  recent_.push_back("'" + label + "' on '" + offered_name_ + "'");
  if (recent_.size() > kRecentNamed) {
    recent_.pop_front();
  }
  if (++rewrites_ <= budget_) {
    return;
  }
  std::string recent;
  for (const std::string& one : recent_) {
    recent += (recent.empty() ? "" : ", ") + one;
  }
  throw CompileError(ErrorCode::kRewriteBudget,
                     "rewriting network '" + network_.name() + "' did not come to an end within " +
                         std::to_string(budget_) + " rewrites; the last were " + recent,
                     offered_location_, "make sure that no pattern matches what it or another pattern creates");
}

void Driver::push(Layer* layer) {
  if (by_kind_[static_cast<size_t>(layer->getType())].empty()) {
    return;
  }
  if (state_.emplace(layer->id(), State::kListed).second) {
    worklist_.emplace_back(layer->id(), layer);
  }
}

// The last `count` of them.
void Driver::pushUsers(const Tensor& tensor, size_t count) {
  const std::vector<Tensor::Use>& uses = tensor.uses();
  for (size_t i = uses.size() - count; i < uses.size(); ++i) {
    push(uses[i].layer);
  }
}

void Driver::layerCreated(Layer& layer) {
  push(&layer);
}

void Driver::layerChanged(Layer& layer) {
  push(&layer);
  for (int i = 0; i < layer.getNbOutputs(); ++i) {
    pushUsers(*layer.getOutput(i), layer.getOutput(i)->uses().size());
  }
}

void Driver::usesReplaced(Tensor&, Tensor& to, size_t moved) {
  if (to.producer()) {
    push(to.producer());
  }
  pushUsers(to, moved);
}

void Driver::layerMarkedAsRemoved(Layer& layer) {
  state_[layer.id()] = State::kMarkedAsRemoved;
}

void Driver::layerRemoved(Layer& layer) {
  for (int i = 0; i < layer.getNbInputs(); ++i) {
    Tensor* input = layer.getInput(i);
    if (!input) {
      continue;
    }
    if (input->producer()) {
      push(input->producer());
    }
    // Patterns that absorb a producer ask for a single use: the one that is left may now match.
    if (input->uses().size() <= 2) {
      pushUsers(*input, input->uses().size());
    }
  }
  state_.erase(layer.id());  // last, since it still counts among the users of its operands
}

}  // namespace torchtrt::rewriting
