#include "proxy/backend/ydb/ydb.h"

#include "proxy/backend/ydb/connection.h"
#include "proxy/backend/ydb/writer.h"

const px_backend px_backend_ydb = {
    .name = "ydb",
    .by_file = true,
    .link = &px_ydb_link,
    .writer = &px_ydb_writer,
};
