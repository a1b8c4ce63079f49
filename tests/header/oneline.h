/* SPDX-License-Identifier: MIT */
#ifdef __cplusplus
extern "C"
#endif
void oneline_other(void);
