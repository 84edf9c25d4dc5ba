#include <algorithm>

#include "base/check.h"
#include "rewriting/driver.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {

Pattern::Pattern(std::string name, std::vector<LayerType> root_layers, int benefit)
    : name_(std::move(name)), root_layers_(std::move(root_layers)), benefit_(benefit) {}

bool PatternRewriter::match(const Layer&) const {
  throw InternalError("pattern '" + name() + "' overrides neither match() nor matchAndRewrite()");
}

void PatternRewriter::rewrite(Layer&, Rewriter&) {
  throw InternalError("pattern '" + name() + "' overrides match() but neither rewrite() nor matchAndRewrite()");
}

bool PatternRewriter::matchAndRewrite(Layer& layer, Rewriter& rewriter) {
  if (!match(layer)) {
    return false;
  }
  rewrite(layer, rewriter);
  return true;
}

template <typename P>
P& PatternManager<P>::add(const std::string& label, std::unique_ptr<P> pattern) {
  const int benefit = pattern->benefit();
  return add(label, std::move(pattern), benefit);
}

template <typename P>
P& PatternManager<P>::add(const std::string& label, std::unique_ptr<P> pattern, int benefit) {
  if (get(label)) {
    throw CompileError(ErrorCode::kInvalidOption, "a pattern labelled '" + label + "' is in the manager already", {},
                       "give each pattern its own label");
  }
  P& added = *pattern;
  const auto after =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.benefit < benefit; });
  entries_.insert(after, Entry{label, benefit, std::move(pattern)});
  return added;
}

template <typename P>
P* PatternManager<P>::get(std::string_view label) const {
  for (const Entry& entry : entries_) {
    if (entry.label == label) {
      return entry.pattern.get();
    }
  }
  return nullptr;
}

template class PatternManager<PatternRewriter>;
template class PatternManager<PatternAnalyzer>;

namespace {

// Gives patterns the caller's arguments for as long as it lives.
class ArgumentScope {
 public:
  ArgumentScope(std::vector<Pattern*> patterns, const Arguments& args) : patterns_(std::move(patterns)) {
    for (Pattern* pattern : patterns_) {
      pattern->setArgs(args);
    }
  }
  ~ArgumentScope() {
    for (Pattern* pattern : patterns_) {
      pattern->setArgs({});
    }
  }
  ArgumentScope(const ArgumentScope&) = delete;
  ArgumentScope& operator=(const ArgumentScope&) = delete;

 private:
  std::vector<Pattern*> patterns_;
};

template <typename Entries>
std::vector<Pattern*> patternsOf(const Entries& entries) {
  std::vector<Pattern*> patterns;
  for (const auto& entry : entries) {
    patterns.push_back(entry.pattern.get());
  }
  return patterns;
}

}  // namespace

RewriteSummary RewritePatternManager::rewrite(Network& network, const Arguments& args, const RewriteOptions& options) {
  const ArgumentScope scope(patternsOf(entries_), args);
  std::vector<Driver::Candidate> candidates;
  for (const Entry& entry : entries_) {
    candidates.push_back({entry.label, entry.pattern.get()});
  }
  return Driver(network, std::move(candidates), options).run();
}

void AnalysisPatternManager::analyze(const Network& network, const Arguments& args) {
  const ArgumentScope scope(patternsOf(entries_), args);
  for (const Layer* layer : network.layers()) {
    for (const Entry& entry : entries_) {
      const std::vector<LayerType>& roots = entry.pattern->rootLayers();
      if (!roots.empty() && std::find(roots.begin(), roots.end(), layer->getType()) == roots.end()) {
        continue;
      }
      withPatternNamed(entry.label, layer->getName(), layer->location(), [&] {
        PatternAnalyzer::Subgraph subgraph = {layer};
        if (entry.pattern->match(*layer, subgraph)) {
          entry.pattern->analyze(subgraph);
        }
      });
    }
  }
}

}  // namespace torchtrt::rewriting
