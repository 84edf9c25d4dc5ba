// Writes files whole or not at all: the old content stays until the new one is complete, and nobody else's file is
// touched on the way. For what users find again: modules, engines, caches. Not for dumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include "torchtrt/export.h"

namespace torchtrt {

// Takes the next piece of the content. Returns its size, as libtorch's archive writer expects.
using FileSink = std::function<size_t(const void* data, size_t bytes)>;

// kNamed is what file systems without unnamed files get, and what tests ask for.
enum class DraftKind : uint8_t { kUnnamed, kNamed };

// Replaces the file by what `write` gives to the sink, in one step: a reader gets the old or the new content.
// - A link is followed to its target, which is replaced. A link that another user has put into a folder that everybody
//   may write to is refused, as the kernel refuses to open one.
// - A file that was there keeps its permissions, and its owner where the system allows that.
// - The draft has no name until it is complete, so a killed process leaves nothing. On a file system without unnamed
//   files it has a name that cannot be guessed. The next call for that folder removes drafts of dead processes.
// Returns the system's error; then the old content is untouched. An exception of `write` passes, with the same effect.
TORCHTRT_API std::error_code replaceFile(const std::string& path,
                                         const std::function<void(const FileSink& sink)>& write,
                                         DraftKind kind = DraftKind::kUnnamed);
TORCHTRT_API std::error_code replaceFile(const std::string& path, std::string_view content);

// The error that replaceFile() would meet before it writes: a folder that is missing or closed, a target that is no
// regular file (is_a_directory, or invalid_argument for a device).
TORCHTRT_API std::error_code checkReplaceable(const std::string& path);

}  // namespace torchtrt
