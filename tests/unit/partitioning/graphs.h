// The tests of partitioning share graphs as text, and a question that refuses some operators.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include <torch/csrc/jit/ir/irparser.h>
#include <torch/script.h>

#include "partitioning/partitioning.h"

namespace torchtrt::partitioning {

inline std::shared_ptr<torch::jit::Graph> graphOf(const std::string& ir) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, graph.get());
  return graph;
}

// Everything converts but these, branches and loops.
inline ConvertibleQuestion allBut(std::set<std::string> kinds) {
  return [kinds = std::move(kinds)](const torch::jit::Node& node) -> std::optional<Refusal> {
    const std::string kind = node.kind().toQualString();
    if (!node.blocks().empty()) {
      return Refusal{"control-flow", "it depends on data"};
    }
    return kinds.count(kind) != 0 ? std::optional(Refusal{"no-converter", "no converter is registered for " + kind})
                                  : std::nullopt;
  };
}

inline PartitioningOptions withMinBlockSize(uint64_t size) {
  PartitioningOptions options;
  options.min_block_size = size;
  options.what = "__torch__.Net.forward";
  return options;
}

// Values renamed by where they first appear, in each segment anew.
inline std::string renamed(const std::string& text) {
  std::ostringstream out;
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 7, "Segment") == 0) {
      numbers.clear();
    }
    out << text[i];
    if (text[i] == '%') {
      const size_t end = text.find_first_of(" ,:)", i);
      const size_t number = numbers.try_emplace(text.substr(i, end - i), numbers.size()).first->second;
      out << number;
      i = end - 1;
    }
  }
  return out.str();
}

// "engine(add mul) torch(lgamma) alone(If[engine(relu)][])": the segments with their nodes.
inline std::string outline(const std::vector<Segment>& segments) {
  std::ostringstream out;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    out << (i == 0 ? "" : " ")
        << (segment.do_not_merge                ? "alone("
            : segment.target == Target::kEngine ? "engine("
                                                : "torch(");
    for (size_t n = 0; n < segment.nodes.size(); ++n) {
      out << (n == 0 ? "" : " ") << segment.nodes[n]->kind().toUnqualString();
    }
    for (const auto& block : segment.blocks) {
      out << "[" << outline(block) << "]";
    }
    out << ")";
  }
  return out.str();
}

inline std::string outlined(const std::string& ir, const PartitioningOptions& options = withMinBlockSize(1),
                            const std::set<std::string>& refused = {"aten::lgamma"}) {
  return outline(partition(graphOf(ir), allBut(refused), options).segments);
}

// The reason of the first node of this kind.
inline Refusal refusalOf(const Partition& partition, const std::string& kind) {
  for (const Verdict& verdict : partition.verdicts) {
    if (verdict.node->kind().toQualString() == kind && verdict.refusal) {
      return *verdict.refusal;
    }
  }
  return {"none", ""};
}

// Document 001's test plan: two convolutions, log_sigmoid, a third convolution.
inline std::string convolutions() {
  return R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %one : int = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %ones : int[] = prim::ListConstruct(%one, %one)
  %zeros : int[] = prim::ListConstruct(%zero, %zero)
  %a : Tensor = aten::conv2d(%x, %w, %none, %ones, %zeros, %ones, %one)
  %b : Tensor = aten::conv2d(%a, %w, %none, %ones, %zeros, %ones, %one)
  %c : Tensor = aten::log_sigmoid(%b)
  %d : Tensor = aten::conv2d(%c, %w, %none, %ones, %zeros, %ones, %one)
  return (%d))IR";
}

}  // namespace torchtrt::partitioning
