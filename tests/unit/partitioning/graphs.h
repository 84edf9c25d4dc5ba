// What the tests of partitioning share: graphs as text, and a question that refuses some operators.
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

}  // namespace torchtrt::partitioning
