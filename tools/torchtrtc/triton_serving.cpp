// The texts of triton_config.h that are for people: how to serve a model repository, and a manifest for KServe.

#include <cctype>
#include <sstream>

#include <torch/version.h>

#include "torchtrt/version.h"
#include "triton_config.h"

namespace torchtrtc {
namespace {

constexpr const char* kLibraries = "/opt/torchtrt/lib";

std::string versionsText() {
  return std::string("torchtrt ") + TORCHTRT_VERSION_STRING + ", libtorch " + TORCH_VERSION;
}

// A name that Kubernetes takes: small letters, digits and "-".
std::string kubernetesName(const std::string& name) {
  std::string text;
  for (const unsigned char c : name) {
    text += std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '-';
  }
  const size_t start = text.find_first_not_of('-');
  const size_t end = text.find_last_not_of('-');
  return start == std::string::npos ? "model" : text.substr(start, end - start + 1);
}

// A shape for the client's example.
std::string exampleShape(const TritonTensor& input, bool is_batched) {
  std::string text;
  for (size_t i = 0; i < input.opt.size(); ++i) {
    text += (text.empty() ? "" : ", ") + std::to_string(is_batched && i == 0 ? 1 : input.opt[i]);
  }
  return "[" + text + (is_batched && input.opt.size() == 1 ? ", 1]" : "]");
}

std::string clientText(const TritonModel& model, const TritonOptions& options) {
  std::ostringstream text;
  text << "import numpy\nimport tritonclient.http as http\nfrom tritonclient.utils import triton_to_np_dtype\n\n"
       << "client = http.InferenceServerClient(\"127.0.0.1:8000\")\ninputs = [\n";
  for (const TritonTensor& input : model.inputs) {
    text << "    http.InferInput(\"" << input.name << "\", " << exampleShape(input, model.batch.has_value()) << ", \""
         << std::string(tritonType(input.dtype)).substr(sizeof("TYPE_") - 1) << "\"),\n";
  }
  text << "]\nfor each in inputs:\n"
          "    each.set_data_from_numpy(numpy.zeros(each.shape(), triton_to_np_dtype(each.datatype())))\n"
       << "print(client.infer(\"" << options.name << "\", inputs).as_numpy(\"OUTPUT__0\"))\n";
  return text.str();
}

}  // namespace

std::string serverCommand(const std::string& repository) {
  return "LD_LIBRARY_PATH=/opt/tritonserver/backends/pytorch LD_PRELOAD=" + std::string(kLibraries) +
         "/libtorchtrt_runtime.so \\\n    tritonserver --model-repository=" + repository;
}

std::string servingText(const TritonModel& model, const TritonOptions& options) {
  std::ostringstream text;
  text << "# " << options.name << ", for Triton's PyTorch backend\n\nWritten by torchtrtc triton (" << versionsText()
       << "). `model.pt` is the compiled module, unchanged.\n\n"
       << R"(## Serving it

`model.pt` is TorchScript that calls engines. Triton's PyTorch backend finds them if `libtorchtrt_runtime.so` is loaded first:

```bash
)" << serverCommand("REPOSITORY")
       << R"(
```

- REPOSITORY is the folder above this one. It may hold other models, also such without engines.
- `)" << kLibraries
       << R"(` holds `libtorchtrt_runtime.so` and `libtorchtrt_engine.so` from `lib` of an installed torchtrt)"
       << (options.is_for_gpu ? ",\n  and `libtorchtrt_cuda.so`, which runs engines on GPUs" : "") << R"(.
- The runtime has to be built with the libtorch that the backend loads, which Triton's images bring in
  `/opt/tritonserver/backends/pytorch`. Build torchtrt in the PyTorch image of the same release, whose libtorch that is.
- `torchtrtc check model.pt` in the server's image says if the file loads there.

This was not run with Triton's images. The same module was served by a Triton server through its Python backend.

## Calling it

```python
)" << clientText(model, options)
       << R"(```

)"
       << (model.batch ? "Triton joins waiting requests into batches of up to " + std::to_string(model.batch->max) +
                             ". The rows of a batch must not depend on each other in\n`forward`: one request's result "
                             "would depend on its neighbours'.\n"
                       : "Requests run alone, since " + model.unbatched + ".\n")
       << R"(
`config.pbtxt` says why each setting is there. `kserve.yaml` serves the repository on Kubernetes with KServe.
)";
  return text.str();
}

std::string kserveText(const TritonOptions& options) {
  std::ostringstream text;
  const std::string limit = options.is_for_gpu ? "\n          nvidia.com/gpu: \"1\"" : "";
  text << "# Written by torchtrtc triton (" << versionsText() << "). Not run: no test of torchtrt has a cluster.\n"
       << R"(# Words in capitals are yours to fill in:
#   IMAGE        a Triton image with torchtrt's libraries in )"
       << kLibraries << R"(, as README.md describes
#   STORAGE_URI  where the repository lies: the folder that holds ")"
       << options.name << R"(", such as pvc://models/repository
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata:
  name: torchtrt-triton
spec:
  supportedModelFormats:
    - name: torchtrt
      version: "1"
  protocolVersions: [v2, grpc-v2]
  containers:
    - name: kserve-container
      image: IMAGE
      args:
        - tritonserver
        - --model-repository=/mnt/models
        - --http-port=8080
        - --grpc-port=9000
      env:
        - {name: LD_LIBRARY_PATH, value: /opt/tritonserver/backends/pytorch}
        - {name: LD_PRELOAD, value: )"
       << kLibraries << R"(/libtorchtrt_runtime.so}
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: )"
       << kubernetesName(options.name) << R"(
spec:
  predictor:
    model:
      modelFormat:
        name: torchtrt
      runtime: torchtrt-triton
      protocolVersion: v2
      storageUri: STORAGE_URI
      resources:
        limits:
          cpu: "4"
          memory: 4Gi)"
       << limit << "\n";
  return text.str();
}

}  // namespace torchtrtc
