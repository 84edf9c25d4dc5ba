// SIGINT and SIGTERM end the program within a moment, wherever it is: files are replaced as a whole, so none is half
// written then.
#pragma once

namespace torchtrtc {

// Call it first: threads that are made later leave these signals to the one that waits for them. A signal that the
// program's caller ignores stays ignored.
void endOnSignals();

}  // namespace torchtrtc
