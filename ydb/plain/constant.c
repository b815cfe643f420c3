#include "ydb/plain/constant.h"

#include "ydb/plain/bound_text.h"
#include "rewrite/statement/script/types.h"

static void add_cast(uint32_t type, pgw_buf *out)
{
    size_t before = out->len;
    pgw_buf_add_str(out, "::");
    if (!rw_add_type(type, out))
        out->len = before;
}

static void add_quoted(pgw_slice text, pgw_buf *out)
{
    pgw_buf_add_byte(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            pgw_buf_add_byte(out, '\'');
        pgw_buf_add_byte(out, text.ptr[i]);
    }
    pgw_buf_add_byte(out, '\'');
}

void rw_add_null(uint32_t type, pgw_buf *out)
{
    pgw_buf_add_str(out, "NULL");
    add_cast(type, out);
}

void rw_add_operand(pgw_slice expression, uint32_t type, pgw_buf *out)
{
    pgw_buf_add_byte(out, '(');
    pgw_buf_add_slice(out, expression);
    pgw_buf_add_byte(out, ')');
    add_cast(type, out);
}

static bool add_binary(const rw_param *param, const pgw_env *env, pgw_buf *out, pgw_error *error)
{
    pgw_buf text = {0};
    bool added = rw_add_bound_text(param->type, param->bytes, env, &text, error);
    if (added)
        add_quoted(pgw_slice_buf(&text), out);
    pgw_buf_free(&text);
    return added;
}

bool rw_add_bound(const rw_param *param, const pgw_env *env, pgw_buf *out, pgw_error *error)
{
    *error = PGW_ERROR_NONE;
    if (param->null) {
        rw_add_null(param->type, out);
        return true;
    }
    if (param->binary && !add_binary(param, env, out, error))
        return false;
    if (!param->binary) {
        if (!rw_check_characters(param->bytes, env, error))
            return false;
        add_quoted(param->bytes, out);
    }
    add_cast(param->type, out);
    return true;
}
