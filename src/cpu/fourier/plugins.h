// The plugins behind discrete Fourier transforms. Networks have no complex numbers: real and imaginary parts are
// tensors of their own. All are of float32 or float64.
//
// torchtrt::Fourier: operands real parts and, where they are not zero, imaginary parts. Fields: form ("half": of real
// numbers, length / 2 + 1 sums; "full": of real numbers, all sums; "complex"; "real": real numbers from length / 2 + 1
// sums), inverse (of "complex"; "real" always is), length, axis, scale. Elements beyond the length that the
// transform takes are left out, and missing ones are 0. Outputs: real and imaginary parts, of "real" the numbers.
//
// torchtrt::ShortTimeFourier: operands signal [rows, samples] and window [length]. Fields: length, hop, one_sided,
// scale. Outputs: real and imaginary parts [rows, sums, frames] of the frames that begin every `hop` samples.
//
// torchtrt::InverseShortTimeFourier: operands real and imaginary parts [rows, sums, frames] and window [length].
// Fields: length, hop, scale, trim (samples left out at the begin and, without `samples`, at the end), samples (-1: all
// there are). Output: [rows, samples], frames times window added up, divided by the sum of squared windows; an
// EngineError where that is 0.
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::fourier {

std::shared_ptr<const plugin::PluginCreator> createFourierCreator();
std::shared_ptr<const plugin::PluginCreator> createShortTimeFourierCreator();
std::shared_ptr<const plugin::PluginCreator> createInverseShortTimeFourierCreator();

}  // namespace torchtrt::kernels::fourier
