// Puts the operators into libtorch when the library is loaded: as torchtrt_vision::* always, and as torchvision::*
// those that no other library has registered. libtorch ends the process when a name is registered twice, so each is
// looked up.
#include <torch/library.h>

#include "vision/vision.h"

namespace torchtrt::vision {
namespace {

/// Defines an operator by its schema, with the given function for the CPU, unless the name is taken.
template <typename Function>
void add(torch::Library& library, const std::string& space, const std::string& name, const std::string& signature,
         Function* function) {
  if (!c10::Dispatcher::singleton().findSchema({space + "::" + name, ""})) {
    library.def((name + signature).c_str());
    library.impl(name.c_str(), torch::dispatch(c10::DispatchKey::CPU, function));
  }
}

class Registration {
 public:
  explicit Registration(const std::string& space)
      : library_(torch::Library::FRAGMENT, space, std::nullopt, __FILE__, __LINE__) {
    const std::string regions =
        "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width";
    add(library_, space, "nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", nms);
    add(library_, space, "box_iou_rotated", "(Tensor boxes1, Tensor boxes2) -> Tensor", boxIouRotated);
    add(library_, space, "roi_align", regions + ", int sampling_ratio, bool aligned) -> Tensor", roiAlign);
    add(library_, space, "ps_roi_align", regions + ", int sampling_ratio) -> (Tensor, Tensor)", psRoiAlign);
    add(library_, space, "roi_pool", regions + ") -> (Tensor, Tensor)", roiPool);
    add(library_, space, "ps_roi_pool", regions + ") -> (Tensor, Tensor)", psRoiPool);
    add(library_, space, "deform_conv2d",
        "(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, "
        "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, "
        "bool use_mask) -> Tensor",
        deformConv2d);
  }

 private:
  torch::Library library_;
};

const Registration own_names("torchtrt_vision");
const Registration torchvision_names("torchvision");

}  // namespace
}  // namespace torchtrt::vision
