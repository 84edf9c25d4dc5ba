// The layer of antialiased resizing, for tests of any device.
#pragma once

#include <string>
#include <vector>

#include "cpu/harness.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {

inline Case antialiased(const std::string& mode, DType dtype, const Ints& dims, const Values& values, const Ints& size,
                        const std::vector<double>& scales = {0, 0}) {
  plugin::registerBuiltinPlugins();
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("AntialiasedResize")},
                          {"mode", mode},
                          {"size", size},
                          {"align_corners", false},
                          {"scales", scales}}),
          {makeTensor(dtype, dims, values)},
          {{dtype, {dims[0], dims[1], size[0], size[1]}}}};
}

}  // namespace torchtrt::kernels::testing
