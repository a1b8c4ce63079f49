// SPDX-License-Identifier: MIT
// The same header, the same calls, the same bytes.
#include "test_events.c"
