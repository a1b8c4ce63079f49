/* SPDX-License-Identifier: MIT */
#ifdef __cplusplus
extern "C"
#endif
void other_request(unsigned int id, const char *path);
