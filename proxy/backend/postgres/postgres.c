#include "proxy/backend/postgres/postgres.h"

#include "proxy/backend/postgres/connection.h"
#include "proxy/backend/postgres/writer.h"

const px_backend px_backend_postgres = {
    .name = "postgres",
    .link = &px_postgres_link,
    .writer = &px_postgres_writer,
};
