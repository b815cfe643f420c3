#include "ydb/endpoint/endpoint.h"

#include "ydb/endpoint/connection.h"
#include "ydb/endpoint/writer.h"

const px_backend px_backend_ydb = {
    .name = "ydb",
    .by_file = true,
    .by_partition = true,
    .link = &px_ydb_link,
    .writer = &px_ydb_writer,
};
