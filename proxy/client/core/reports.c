#include "proxy/client/core/reports.h"

#include "protocol/backend.h"

#include <stdlib.h>
#include <string.h>

/* The value before a report of on or off; NULL: the setting has others. */
static const char *other_than(pgw_slice now)
{
    if (pgw_slice_eq_str(now, "on"))
        return "off";
    return pgw_slice_eq_str(now, "off") ? "on" : NULL;
}

static px_report *add(px_reports *reports, pgw_slice name, const char *before)
{
    reports->all = pgw_realloc(reports->all, (reports->count + 1) * sizeof *reports->all);
    px_report *report = &reports->all[reports->count++];
    *report = (px_report){.name = pgw_strndup(name.ptr, name.len)};
    if (before != NULL)
        report->before = pgw_strndup(before, strlen(before));
    return report;
}

void px_reports_keep(px_reports *reports, pgw_slice name, const char *before, pgw_slice now)
{
    px_report *report = NULL;
    for (size_t i = 0; i < reports->count; i++)
        if (pgw_slice_eq_str(name, reports->all[i].name))
            report = &reports->all[i];
    if (report == NULL)
        report = add(reports, name, before != NULL ? before : other_than(now));
    free(report->now);
    report->now = pgw_strndup(now.ptr, now.len);
}

void px_reports_write(const px_reports *reports, pgw_buf *out)
{
    for (size_t i = 0; i < reports->count; i++) {
        const px_report *report = &reports->all[i];
        if (report->before == NULL || strcmp(report->before, report->now) != 0)
            pgw_write_parameter_status(pgw_slice_str(report->name), pgw_slice_str(report->now),
                                       out);
    }
}

void px_reports_free(px_reports *reports)
{
    for (size_t i = 0; i < reports->count; i++) {
        free(reports->all[i].name);
        free(reports->all[i].before);
        free(reports->all[i].now);
    }
    free(reports->all);
    *reports = (px_reports){0};
}
