// Operators that write to a list, and what makes one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torch/script.h>

namespace torchtrt::lowering {

enum class ListWrite : uint8_t { kNone, kAppend, kExtend, kSetItem, kInsert, kPop, kClear };

// Returns what the node does to the list; kNone if it does something else, or writes to another list.
ListWrite writeOf(const torch::jit::Node& node, const torch::jit::Value* list);
// True if the block, or one inside of it, writes to the list.
bool writesWithin(const torch::jit::Block& block, const torch::jit::Value* list);
// True if somebody writes to the list under the name of this value.
bool isListWritten(const torch::jit::Value* list);
// True if the node keeps no list that it is given, as far as it does not write to one.
bool onlyReadsList(const torch::jit::Node& node);
// True if the node makes a list that nobody else has.
bool makesList(const torch::jit::Node& node);
// append and its like give the list back, which would be a second name of it.
bool givesItsOperand(const torch::jit::Node& node);
// The place that the node names, counted from the front, among so many elements.
std::optional<size_t> placeIn(const torch::jit::Node& node, size_t length);
// Does to the elements what the node, which names places by constants and does not extend, does to their list. Others
// read what pop takes out in place of its result.
void applyWrite(torch::jit::Node& node, std::vector<torch::jit::Value*>& elements);

}  // namespace torchtrt::lowering
