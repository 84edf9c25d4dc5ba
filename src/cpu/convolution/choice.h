// Chooses among the implementations that can compute a convolution or deconvolution: the rules of thumb of the list in
// families.cpp. Each returns the reason to leave a problem to the implementations behind it, or nothing. A rule says
// nothing of a problem that an implementation cannot compute.
#pragma once

#include <optional>

#include "cpu/convolution/geometry.h"
#include "cpu/convolution/winograd/winograd_form.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::convolution {

std::optional<Refusal> leaveTiles(const Problem& problem);
std::optional<Refusal> leaveOneDnnBFloat16(const Problem& problem);
std::optional<Refusal> leaveFewOutputs(const Problem& problem);
std::optional<Refusal> leaveWinograd(const Problem& problem);
std::optional<Refusal> leavePackedGemm(const Problem& problem);

// Parts of a deconvolution ask this one, too.
bool isFasterWithFewOutputs(const Geometry& geometry);

struct WinogradChoice {
  bool pays = false;  // false: plain sums are faster
  WinogradForm form = WinogradForm::kSmall;
};
// Chooses the form of a 3x3 convolution with stride 1 or 2 and output images of `size`: batch, channels, height, width.
WinogradChoice chooseForm(const Geometry& geometry, const std::vector<int64_t>& size);

}  // namespace torchtrt::kernels::convolution
