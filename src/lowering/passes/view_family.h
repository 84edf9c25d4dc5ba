// All names of one tensor's memory, where every one of them is known: the tensor that was made, views of it, views of
// those, and what in-place operators give back. Nothing else can see what is written through one of them.
#pragma once

#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <torch/script.h>

namespace torchtrt::lowering {

class ViewFamily {
 public:
  // kGraph: the root is memory of its own when it is made. kElsewhere: it is a buffer that has no other name in the
  // graph.
  enum class Owner : uint8_t { kGraph, kElsewhere };

  // Nothing where some name cannot be followed, where what is
  // written through a view cannot be put back into what the view was taken from, or where a write stands in a loop
  // whose number of trips only a run knows.
  static std::optional<ViewFamily> of(torch::jit::Value& root, Owner owner = Owner::kGraph);

  torch::jit::Value& root() const {
    return *members_.front();
  }
  bool has(const torch::jit::Value* value) const {
    return parents_.count(value) != 0;
  }
  // The member that the value is a view of, of a piece the tensor that was split; null for the root.
  torch::jit::Value* parentOf(const torch::jit::Value* value) const {
    return parents_.at(value);
  }
  // Returns the members in the order in which they were found; parents first. Lists of pieces are no members.
  const std::vector<torch::jit::Value*>& members() const {
    return members_;
  }
  const std::vector<torch::jit::Node*>& writes() const {
    return writes_;
  }
  // Nodes that use a member or a list of pieces, and nodes with such a node in a block of theirs.
  bool isUser(const torch::jit::Node& node) const {
    return users_.count(&node) != 0;
  }
  bool hasWriteInside(const torch::jit::Node& node) const;

 private:
  // The maker and the user of a value. It may be made of the family's memory or of a copy; that must not matter, so
  // nobody writes in between.
  struct Reading {
    const torch::jit::Node* maker;
    const torch::jit::Node* user;
  };

  bool follow();
  bool followMember(torch::jit::Value& member, const torch::jit::Use& use);
  bool followPieces(torch::jit::Value& pieces, torch::jit::Value& whole);
  bool followSnapshot(torch::jit::Value& snapshot);
  bool takeSnapshots(const torch::jit::Use& use);
  void addMember(torch::jit::Value& value, torch::jit::Value* parent);
  void addSnapshot(torch::jit::Value& value, const torch::jit::Node& maker);
  void addUser(const torch::jit::Node& user);
  bool isWrittenIn(const Reading& reading) const;
  bool canMove(const torch::jit::Node& write) const;

  std::map<const torch::jit::Value*, torch::jit::Value*> parents_;
  std::vector<torch::jit::Value*> members_;
  std::map<const torch::jit::Value*, const torch::jit::Node*> makers_;  // of snapshots
  std::vector<torch::jit::Value*> snapshots_;
  std::vector<Reading> readings_;
  std::vector<torch::jit::Node*> writes_;
  std::unordered_set<const torch::jit::Node*> users_;
};

}  // namespace torchtrt::lowering
