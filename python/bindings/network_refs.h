// Python holds networks, layers and tensors by id and looks them up at every use. A removed one is an error and never a
// dangling pointer.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

#include "torchtrt/error.h"
#include "torchtrt/net_guard.h"
#include "torchtrt/network.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::bindings {

// A network that Python owns, or one that it sees while a callback runs.
class NetworkBox {
 public:
  explicit NetworkBox(std::unique_ptr<network::Network> owned) : network_(owned.get()), owned_(std::move(owned)) {}
  explicit NetworkBox(network::Network& borrowed) : network_(&borrowed) {}
  network::Network& get() const {
    if (network_ == nullptr) {
      throw CompileError(ErrorCode::kInvalidNetwork, "the network is gone", {},
                         "use the network of a rewriter only while the rewriter runs");
    }
    return *network_;
  }
  // Returns the network for a change; CompileError if it may not be changed.
  network::Network& edit() const {
    if (read_only_) {
      throw CompileError(ErrorCode::kInvalidOption, "network '" + get().name() + "' may not be changed here", {},
                         "match() and analyze() only look: change networks in rewrite() or match_and_rewrite()");
    }
    return get();
  }
  bool readOnly() const {
    return read_only_;
  }
  void setReadOnly(bool read_only) {
    read_only_ = read_only;
  }
  void release() {  // of a borrowed network
    network_ = nullptr;
  }
  void replace(std::unique_ptr<network::Network> other) {  // same ids, so references stay valid
    owned_ = std::move(other);
    network_ = owned_.get();
  }
  bool isOwned() const {
    return owned_ != nullptr;
  }
  // A borrowed network that a pattern left half changed cannot be put back from here: nobody may use it any more.
  void fail(std::exception_ptr error) {
    failure_ = std::move(error);
    release();
  }
  void rethrowFailure() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  network::Network* network_;
  std::unique_ptr<network::Network> owned_;
  std::exception_ptr failure_;
  bool read_only_ = false;
};
using BoxPtr = std::shared_ptr<NetworkBox>;

struct TensorRef {
  BoxPtr box;
  int64_t id;
  static TensorRef of(const BoxPtr& box, const network::Tensor& tensor) {
    return {box, tensor.id()};
  }
  network::Tensor& get() const {
    network::Tensor* tensor = box->get().tensorById(id);
    if (tensor == nullptr) {
      throw CompileError(ErrorCode::kInvalidNetwork, "the tensor is no longer in network '" + box->get().name() + "'",
                         {}, "what produced it was removed: take it from the network anew");
    }
    return *tensor;
  }
};

struct LayerRef {
  BoxPtr box;
  int64_t id;
  static LayerRef of(const BoxPtr& box, const network::Layer& layer) {
    return {box, layer.id()};
  }
  network::Layer& get() const {
    network::Layer* layer = box->get().layerById(id);
    if (layer == nullptr) {
      throw CompileError(ErrorCode::kInvalidNetwork, "the layer is no longer in network '" + box->get().name() + "'",
                         {}, "it was removed: do not keep layers across rewrites");
    }
    return *layer;
  }
};

// The operand's tensor; a tensor of another network is an error.
network::Tensor* tensorOf(const BoxPtr& box, const pybind11::handle& object);
AttributeValue attributeOf(const pybind11::handle& object, const std::string& name, const std::string& declared);
pybind11::object toPython(const AttributeValue& value);
Dims dimsOf(const pybind11::handle& sequence);
DType dtypeNamed(const std::string& name);

// Runs the body with the rewriter of the patterns in progress, or with one of its own.
template <typename Body>
auto withRewriter(network::Network& network, Body body) {
  if (rewriting::Rewriter* running = rewriting::NetGuard::rewriterOf(network)) {
    return body(*running);
  }
  rewriting::Rewriter own(network);
  return body(own);
}

// The same for edits of the readers of tensors. Outside of patterns new layers stand at the end of the network, and
// whoever reads them now moves behind them.
template <typename Body>
void rewire(network::Network& network, Body body) {
  withRewriter(network, body);
  if (rewriting::NetGuard::rewriterOf(network) == nullptr) {
    network.sortTopologically();
  }
}

}  // namespace torchtrt::bindings
