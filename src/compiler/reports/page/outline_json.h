// An engine's outline as JSON for the page. Numbers stand for names where a page would repeat them.
#pragma once

#include <string>

#include "engine/calls/outline.h"

namespace torchtrt {

std::string outlineJson(const std::string& name, const engine::Outline& outline);

}  // namespace torchtrt
