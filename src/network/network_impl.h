// The members of a network. Only for the files of src/network that edit it.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::network {

// Names in use, with what carries them.
template <typename Holder>
class NameTable {
 public:
  // The name itself if it is free, else the first free one of name_1, name_2, ...
  std::string claim(const std::string& name, Holder* holder) {
    std::string unique = name;
    if (by_name_.count(name) != 0) {
      int& suffix = last_suffix_[name];
      do {
        unique = name + "_" + std::to_string(++suffix);
      } while (by_name_.count(unique) != 0);
    }
    by_name_.emplace(unique, holder);
    return unique;
  }
  void release(const std::string& name) {
    by_name_.erase(name);
  }
  Holder* find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string, Holder*> by_name_;
  std::unordered_map<std::string, int> last_suffix_;
};

struct Network::Impl {
  struct Output {
    std::string name;
    Tensor* tensor;
  };

  std::string name = "network";
  std::vector<Symbol> symbols;
  std::vector<std::unique_ptr<Tensor>> inputs;
  std::vector<Output> outputs;
  std::list<std::unique_ptr<Layer>> layers;  // in topological order
  std::vector<Layer*> layers_by_index;       // the same, made when a layer is asked for by index; empty: not made
  std::unordered_map<int64_t, Layer*> layers_by_id;
  std::unordered_map<int64_t, Tensor*> tensors_by_id;
  NameTable<Tensor> tensor_names;
  NameTable<Layer> layer_names;
  int64_t next_id = 0;
  int64_t next_tensor_id = 0;
  Location location;
  std::shared_ptr<NetworkObserver> observer;

  void admit(Tensor& tensor, const std::string& name);  // gives it id and name
  void dismiss(Tensor& tensor);
};

// Name of output i of a layer nobody named: the layer's, with the output's number where there are several.
std::string defaultOutputName(const std::string& layer_name, int index, int count);

}  // namespace torchtrt::network
