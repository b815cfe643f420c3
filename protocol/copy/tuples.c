#include "protocol/copy/tuples.h"

static const pgw_copy_fault bad_header = {"invalid COPY file header (wrong length)", ""};

/* Takes bytes of a number of `size` bytes. False: more of it has to come. */
static bool take_number(pgw_copy_chunk *in, size_t size, int32_t *value)
{
    binary *it = &in->copy->binary;
    while (it->have < size && in->at < in->end)
        it->number[it->have++] = (unsigned char)*in->at++;
    if (it->have < size)
        return false;
    uint32_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | it->number[i];
    *value = size == 2 ? (int16_t)bits : (int32_t)bits;
    it->have = 0;
    return true;
}

static void add_to_tuple(pgw_copy_chunk *in)
{
    pgw_copy *copy = in->copy;
    copy->odd = copy->column != copy->options->columns;
    for (size_t i = 0; !copy->odd && i < copy->options->wanted_count; i++) {
        copy->fields[i].unknown = copy->overlong;
        copy->fields[i].bytes =
            (pgw_slice){copy->raw.ptr + copy->begins[i], copy->ends[i] - copy->begins[i]};
    }
    put(in, in->at);
    if (!copy->fill(copy->context, copy->fields, in->out))
        pgw_buf_add_i32(in->out, -1);
    copy->rows++;
    copy->odd = false;
}

/* A field has ended, or the tuple had none. */
static void next_of_tuple(pgw_copy_chunk *in)
{
    pgw_copy *copy = in->copy;
    bool more = (int32_t)copy->column < copy->binary.count;
    copy->binary.place = more ? IN_LENGTH : IN_COUNT;
    if (more)
        return;
    if (copy->column == copy->options->columns)
        add_to_tuple(in);
    copy->line++;
    begin_row(copy);
}

/* Of as many fields as it should have, or more, the added ones are told, too: too many are an error
 * then, as well. */
static void begin_tuple(pgw_copy_chunk *in, int32_t count)
{
    pgw_copy *copy = in->copy;
    int32_t added = copy->options->added_count > 1 ? (int32_t)copy->options->added_count : 1;
    bool more = count >= (int32_t)copy->options->columns && count <= INT16_MAX - added;
    pgw_buf_add_i16(in->out, (int16_t)(count + (more ? added : 0)));
    in->put = in->at;
    copy->binary.count = count;
    static const pgw_copy_fault wrong = {"invalid number of fields", ""};
    if (count < -1)
        blame(copy, &wrong);
    bool odd = copy->options->every_row && count != (int32_t)copy->options->columns;
    if (count >= 0 && odd) { /* PostgreSQL reads none of its fields. */
        copy->column = (size_t)count;
        add_to_tuple(in);
    }
    if (count < 0 || odd)
        copy->binary.place = IN_TRAILER;
    else
        next_of_tuple(in);
}

static void begin_value(pgw_copy_chunk *in, int32_t len)
{
    pgw_copy *copy = in->copy;
    begin_field(copy);
    if (copy->wanted > 0)
        copy->fields[copy->wanted - 1].null = len == -1;
    static const pgw_copy_fault wrong = {"invalid field size", ""};
    if (len < -1)
        blame(copy, &wrong);
    copy->binary.left = len > 0 ? (size_t)len : 0;
    copy->binary.place = len < -1 ? IN_TRAILER : IN_VALUE;
}

/* Bytes of what has a length; true if that was all of it. */
static bool pass_bytes(pgw_copy_chunk *in)
{
    binary *it = &in->copy->binary;
    size_t here = (size_t)(in->end - in->at), part = here < it->left ? here : it->left;
    if (it->place == IN_VALUE && in->copy->wanted > 0)
        keep(in->copy, in->at, part);
    in->at += part;
    it->left -= part;
    return it->left == 0;
}

/* One step of it; false if more must come first. */
static bool read_tuples(pgw_copy_chunk *in)
{
    binary *it = &in->copy->binary;
    int32_t number;
    switch (it->place) {
    case IN_SIGNATURE:
        it->place = pass_bytes(in) ? IN_EXTENSION_LENGTH : IN_SIGNATURE;
        return it->place != IN_SIGNATURE;
    case IN_EXTENSION_LENGTH:
        if (!take_number(in, 4, &number))
            return false;
        if (number < 0)
            blame(in->copy, &bad_header);
        it->left = number > 0 ? (size_t)number : 0;
        it->place = number < 0 ? IN_TRAILER : IN_EXTENSION;
        return true;
    case IN_EXTENSION:
        it->place = pass_bytes(in) ? IN_COUNT : IN_EXTENSION;
        return it->place != IN_EXTENSION;
    case IN_COUNT:
        put(in, in->at);
        if (!take_number(in, 2, &number)) {
            in->put = in->at;
            return false;
        }
        begin_tuple(in, number);
        return true;
    case IN_LENGTH:
        if (!take_number(in, 4, &number))
            return false;
        begin_value(in, number);
        return true;
    case IN_VALUE:
        if (!pass_bytes(in))
            return false;
        end_field(in->copy);
        next_of_tuple(in);
        return true;
    case IN_TRAILER:
        break;
    }
    return false;
}

void pgw_copy_read_tuples(pgw_copy_chunk *in)
{
    while (read_tuples(in))
        ;
}
