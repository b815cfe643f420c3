/*
 * scans: which statements read whole tables most, told in the log. A statement is its text without
 * constants; those that are met seldom give way to others, so that the memory is bounded.
 */
#ifndef PX_SCANS_H
#define PX_SCANS_H

typedef struct px_scans px_scans;

enum {
    PX_SCANS_KEPT = 256,       /* So many statements are counted at the same time. */
    PX_SCANS_TOLD = 10,        /* So many of them, those that scan most, are logged. */
    PX_SCANS_HOUR_MS = 3600000 /* They are logged each time so many milliseconds are over. */
};

px_scans *px_scans_new(void);
void px_scans_free(px_scans *scans); /* NULL is fine */
/* Notes that a statement of this shape has read the whole table. Any thread; both texts are copied.
 */
void px_scans_note(px_scans *scans, const char *table, const char *shape);
/* Logs a line for each of the statements that were met most since the last time, the most frequent
 * first. Any thread. */
void px_scans_log(px_scans *scans);

#endif
