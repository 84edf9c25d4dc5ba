// High-level records of the functions that layers came from: which function, with which tensors and attributes, gave
// which outputs. A plugin layer is opaque; its record says what it was asked for. Records follow every edit of the
// network.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "torchtrt/export.h"
#include "torchtrt/network.h"
#include "torchtrt/types.h"

namespace torchtrt::rewriting {

// An argument: absent, a tensor, tensors, an attribute, or an object that only the recording language understands.
using FValue = std::variant<std::monostate, network::Tensor*, std::vector<network::Tensor*>, AttributeValue,
                            std::shared_ptr<void>>;

// Arguments by name, in the function's order.
class TORCHTRT_API FInputs {
 public:
  FInputs() = default;
  FInputs(std::initializer_list<std::pair<std::string, FValue>> values) : values_(values) {}
  const FValue* find(std::string_view name) const;
  void set(const std::string& name, FValue value);
  network::Tensor* tensor(std::string_view name) const;  // null when absent; throws for anything but a tensor
  const std::vector<std::pair<std::string, FValue>>& values() const {
    return values_;
  }

 private:
  friend class FLayerInfoMemo;
  std::vector<std::pair<std::string, FValue>> values_;
};

class FLayerInfoMemo;

// One call of a recorded function. Tensors that leave the network become absent in it.
class TORCHTRT_API FLayerInfo {
 public:
  const std::string& function() const {
    return function_;
  }
  FInputs cloneInputs() const;
  network::Tensor* getInput(std::string_view name) const;  // as FInputs::tensor; throws for a name it has not
  std::vector<network::Tensor*> outputs() const;
  std::vector<int64_t> layerIds() const;  // of the layers that the call added, as far as they are still there

  // Both the record and the operands of its layers: what read `from` reads `to`.
  void replaceInputWith(network::Tensor& from, network::Tensor& to);
  // Lets the readers of the output read `to`, which may have another type if its readers take it.
  void replaceOutputUsesWith(network::Tensor& output, network::Tensor& to);
  void replaceOutputsUsesWith(const std::vector<network::Tensor*>& replacements);  // one for each, null keeps

 private:
  friend class FLayerInfoMemo;
  FLayerInfo(network::Network* network, std::string function, std::shared_ptr<std::mutex> mutex);
  network::Network& networkOrThrow() const;

  network::Network* network_;  // null when the network is gone
  std::string function_;
  FInputs inputs_;
  std::vector<network::Tensor*> outputs_;
  std::vector<int64_t> layer_ids_;
  std::shared_ptr<std::mutex> mutex_;  // the memo's
};

// The records of one network. Safe to use from several threads.
class TORCHTRT_API FLayerInfoMemo final : public network::NetworkObserver {
 public:
  static FLayerInfoMemo& instance();                     // of NetGuard's network; CompileError outside of guards
  static FLayerInfoMemo& of(network::Network& network);  // made when it is asked for first
  ~FLayerInfoMemo() override;

  // The record of the innermost recorded function that added the layer; null when there is none.
  std::shared_ptr<FLayerInfo> get(std::string_view layer_name) const;
  std::shared_ptr<FLayerInfo> get(const network::Layer& layer) const;
  size_t size() const;  // records

 private:
  friend class FLayerInfo;
  friend class SignatureRecorder;
  explicit FLayerInfoMemo(network::Network* network);
  void layerAdded(network::Layer& layer) override;
  void layerRemoved(network::Layer& layer) override;
  void operandChanged(network::Layer& layer, network::Tensor* from, network::Tensor* to) override;
  void usesReplaced(network::Tensor& from, network::Tensor& to) override;
  void tensorRemoved(network::Tensor& tensor) override;
  std::shared_ptr<NetworkObserver> cloneFor(const network::Network& copy) const override;

  void rename(FLayerInfo& info, const network::Tensor* from, network::Tensor* to);
  void index(const std::shared_ptr<FLayerInfo>& info);
  void open(std::vector<int64_t>& layer_ids);
  void close(std::vector<int64_t>& layer_ids);
  void add(std::string function, FInputs inputs, std::vector<network::Tensor*> outputs, std::vector<int64_t> layer_ids);

  network::Network* network_;
  std::shared_ptr<std::mutex> mutex_;
  std::unordered_map<int64_t, std::shared_ptr<FLayerInfo>> by_layer_;                             // by the layer's id
  std::unordered_map<const network::Tensor*, std::vector<std::weak_ptr<FLayerInfo>>> by_tensor_;  // that name it
  std::vector<std::vector<int64_t>*> open_;  // layers added by calls in progress, innermost last
};

// Records a call: layers added between construction and finish() belong to it, unless a recorded function inside added
// them. Without finish() (an error) nothing is recorded.
class TORCHTRT_API SignatureRecorder {
 public:
  SignatureRecorder(network::Network& network, std::string function, FInputs inputs);
  ~SignatureRecorder();
  SignatureRecorder(const SignatureRecorder&) = delete;
  SignatureRecorder& operator=(const SignatureRecorder&) = delete;
  void finish(std::vector<network::Tensor*> outputs);

 private:
  FLayerInfoMemo& memo_;
  std::string function_;
  FInputs inputs_;
  std::vector<int64_t> layer_ids_;
};

}  // namespace torchtrt::rewriting
