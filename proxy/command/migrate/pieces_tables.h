/*
 * pieces_tables: the tables that are migrated and their foreign keys, as all pieces see them.
 */
#ifndef PX_MIGRATE_PIECES_TABLES_H
#define PX_MIGRATE_PIECES_TABLES_H

/* Parts of the SQL that makes the temporary tables asked (filled by plan.c), plan and obstacle; and
 * then, of what is in asked, the tables t, fk and mv, and views of them. The last is NULL. */
extern const char *const px_pieces_tables[];

#endif
