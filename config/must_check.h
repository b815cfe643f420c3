/*
 * must_check: what may fail has a result, and nobody goes on without having looked at it. protocol
 * has the same for itself.
 */
#ifndef CFG_MUST_CHECK_H
#define CFG_MUST_CHECK_H

#define CFG_MUST_CHECK __attribute__((warn_unused_result))

#endif
