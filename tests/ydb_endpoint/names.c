#include "tests/ydb_endpoint/names.h"

#include <stdlib.h>

ye_named *ye_named_find(ye_named *list, pgw_slice name)
{
    while (list != NULL && !pgw_slice_eq_str(name, list->name))
        list = list->next;
    return list;
}

void ye_named_put(ye_named **list, ye_named *named)
{
    ye_named_remove(list, pgw_slice_str(named->name));
    named->next = *list;
    *list = named;
}

void ye_named_remove(ye_named **list, pgw_slice name)
{
    while (*list != NULL && !pgw_slice_eq_str(name, (*list)->name))
        list = &(*list)->next;
    ye_named *found = *list;
    if (found == NULL)
        return;
    *list = found->next;
    ye_named_free(found);
}

ye_named *ye_named_new(pgw_slice name, pgw_slice text)
{
    ye_named *named = pgw_calloc(1, sizeof *named);
    named->name = pgw_strndup(name.ptr, name.len);
    pgw_buf_add_slice(&named->text, text);
    pgw_buf_add_byte(&named->text, '\0');
    return named;
}

void ye_named_free(ye_named *named)
{
    free(named->name);
    pgw_buf_free(&named->text);
    pgw_buf_free(&named->types);
    pgw_buf_free(&named->row);
    pgw_buf_free(&named->bind);
    free(named);
}
