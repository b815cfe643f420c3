/*
 * metrics_text: the name, kind, help and labels of all that is counted, and the text made of them.
 */
#ifndef PX_METRICS_TEXT_H
#define PX_METRICS_TEXT_H

#include "proxy/base/metrics.h"

/* Appends all of it in Prometheus' text format 0.0.4. */
void px_metrics_write(const px_metrics *sum, const double gauges[PX_GAUGES], const char *version,
                      pgw_buf *out);

#endif
