#include "ydb/places/described.h"

#include "protocol/base64.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEEPEST = 32,
    WRAPPED = 4 /* how often a value may be wrapped, as in {"Optional": {"Int64": 1}} */
};

#define TOP_BIT (UINT64_C(1) << 63)

typedef struct boundaries {
    rw_hash_type type;
    uint32_t buckets; /* number of hash buckets, held in 2 or 4 bytes; 0: hashes in 8 bytes */
    uint64_t *at;
    size_t count;
    bool swapped; /* bytes are read with the most significant first */
} boundaries;

/* -- JSON -- */

static json_object *member(json_object *object, const char *name)
{
    json_object *value = NULL;
    if (!json_object_is_type(object, json_type_object))
        return NULL;
    return json_object_object_get_ex(object, name, &value) ? value : NULL;
}

static json_object *list(json_object *object, const char *name)
{
    json_object *value = member(object, name);
    return json_object_is_type(value, json_type_array) ? value : NULL;
}

static size_t length(json_object *array)
{
    return array != NULL ? json_object_array_length(array) : 0;
}

static bool is_text(json_object *value, const char *text)
{
    return json_object_is_type(value, json_type_string) &&
           strcmp(json_object_get_string(value), text) == 0;
}

/* -- one value -- */

/* Reads a decimal number: JSON has 64-bit ones as strings, or as numbers if the server is so set.
 */
static bool read_decimal(const char *text, rw_hash_type type, uint64_t *out)
{
    char *end;
    bool negative = *text == '-';
    if (strspn(text + negative, "0123456789") != strlen(text + negative) || text[negative] == '\0')
        return false;
    errno = 0;
    *out = type == RW_HASH_INT8 ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    return errno == 0 && !(negative && type == RW_HASH_UINT64);
}

/* Reads a number of `size` bytes without a sign, which a bucket never has. */
static uint64_t read_bytes(const uint8_t *bytes, size_t size, bool swapped)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[swapped ? i : size - 1 - i];
    return value;
}

static bool is_size(const boundaries *read, size_t size)
{
    return read->buckets > 0 ? size == sizeof(int16_t) || size == sizeof(int32_t)
                             : size == sizeof(int64_t);
}

/* Decodes `cap` bytes at most of a base64 text; returns their number, 0 if the text is no base64.
 */
static size_t decode(json_object *value, uint8_t *bytes, size_t cap)
{
    pgw_slice text = {json_object_get_string(value), (size_t)json_object_get_string_len(value)};
    size_t len;
    if (text.len > cap / 3 * 4)
        text.len = cap / 3 * 4;
    return pgw_base64_decode(text, bytes, cap, &len) ? len : 0;
}

/* Reads a base64 value: the bytes of a hash or bucket, in the order that is being tried, or digits.
 */
static bool read_base64(json_object *value, const boundaries *read, uint64_t *out)
{
    char bytes[25] = "";
    size_t len = decode(value, (uint8_t *)bytes, sizeof bytes - 1);
    if (!is_size(read, len))
        return strlen(bytes) == len && read_decimal(bytes, read->type, out);
    *out = read_bytes((uint8_t *)bytes, len, read->swapped);
    return true;
}

/* Reads a value that stands alone, or is wrapped in objects of one member of any name. */
static bool read_value(json_object *value, const boundaries *read, uint64_t *out)
{
    bool bytes = false;
    for (int i = 0; i < WRAPPED && json_object_is_type(value, json_type_object); i++) {
        if (json_object_object_length(value) != 1)
            return false;
        json_object_object_foreach(value, name, inner)
        {
            bytes = strcmp(name, "Bytes") == 0;
            value = inner;
            break;
        }
    }
    if (json_object_is_type(value, json_type_int))
        return read_decimal(json_object_get_string(value), read->type, out);
    if (!json_object_is_type(value, json_type_string))
        return false;
    return bytes ? read_base64(value, read, out)
                 : read_decimal(json_object_get_string(value), read->type, out);
}

/* -- all of them -- */

/* Reads a boundary such as {"KeyPrefix": {"Tuple": [value of the hash, …]}} */
static bool read_split(json_object *item, const boundaries *read, uint64_t *out)
{
    json_object *tuple = list(member(item, "KeyPrefix"), "Tuple");
    return length(tuple) > 0 && read_value(json_object_array_get_idx(tuple, 0), read, out);
}

/* Reads a boundary in {"EndOfRangeKeyPrefix": base64}: the number of cells (2 bytes), and for each
 * its size (4 bytes) and its bytes; the first cell is the hash. */
static bool read_end(json_object *item, const boundaries *read, uint64_t *out)
{
    enum { COUNT = 2, SIZE = 4, HEAD = COUNT + SIZE, MOST = HEAD + 8 };
    json_object *end = member(item, "EndOfRangeKeyPrefix");
    uint8_t cells[MOST + 1];
    size_t len = json_object_is_type(end, json_type_string) ? decode(end, cells, sizeof cells) : 0;
    uint64_t size = len >= HEAD ? read_bytes(cells + COUNT, SIZE, false) : 0;
    if (!is_size(read, size) || len < HEAD + size)
        return false;
    *out = read_bytes(cells + HEAD, size, read->swapped);
    return true;
}

static uint64_t ordered(const boundaries *read, uint64_t hash)
{
    return read->type == RW_HASH_INT8 ? hash ^ TOP_BIT : hash;
}

/* Adds a boundary. False: it is below the last one, or not the number of a bucket. */
static bool add(boundaries *read, uint64_t hash)
{
    if (read->buckets > 0 && hash >= read->buckets)
        return false;
    if (read->count > 0) {
        uint64_t last = read->at[read->count - 1];
        if (last == hash)
            return true; /* the rest of the key tells these partitions apart */
        if (ordered(read, last) > ordered(read, hash))
            return false;
    }
    read->at[read->count++] = hash;
    return true;
}

typedef bool reader(json_object *item, const boundaries *read, uint64_t *out);

/* Reads the first `count` boundaries of a list, in the one order of bytes or the other. */
static bool read_all(json_object *items, size_t count, reader *read_one, boundaries *read)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        size_t i = 0;
        uint64_t hash;
        read->swapped = attempt == 1;
        read->count = 0;
        while (i < count && read_one(json_object_array_get_idx(items, i), read, &hash) &&
               add(read, hash))
            i++;
        if (i == count)
            return true;
    }
    return false;
}

static const char *read_table(json_object *description, const char *column, boundaries *read)
{
    json_object *table = member(description, "Table");
    json_object *key = list(table, "KeyColumnNames");
    json_object *splits = list(table, "SplitBoundary");
    json_object *parts = list(description, "TablePartitions");
    if (length(key) > 0 && !is_text(json_object_array_get_idx(key, 0), column))
        return "its key does not begin with the hash column";
    if (length(splits) == 0 && length(parts) == 0)
        return "it has no boundaries";
    size_t most = length(splits) + length(parts);
    read->at = pgw_alloc(most * sizeof *read->at);
    if ((length(splits) > 0 || length(parts) == 1) &&
        read_all(splits, length(splits), read_split, read))
        return NULL;
    if (length(parts) > 0 && read_all(parts, length(parts) - 1, read_end, read))
        return NULL;
    return "its boundaries are in a form that is not known";
}

static const char *read_description(json_object *root, const char *column, boundaries *read)
{
    json_object *status = member(root, "Status");
    if (status != NULL && !is_text(status, "StatusSuccess"))
        return is_text(status, "StatusPathDoesNotExist") ? "there is no such table"
                                                         : "it is not allowed, or has failed";
    json_object *description = member(root, "PathDescription");
    return read_table(description != NULL ? description : root, column, read);
}

const char *rw_partitions_described(pgw_slice json, const char *column, rw_hash_type type,
                                    uint32_t buckets, rw_partitions *out)
{
    boundaries read = {.type = type, .buckets = buckets};
    if (json.len > RW_DESCRIBED_MOST)
        return "it is too long";
    json_tokener *tokener = json_tokener_new_ex(DEEPEST);
    json_object *root = json_tokener_parse_ex(tokener, json.ptr, (int)json.len);
    const char *reason = root != NULL ? read_description(root, column, &read) : "it is no JSON";
    json_object_put(root);
    json_tokener_free(tokener);
    if (reason != NULL) {
        free(read.at);
        return reason;
    }
    *out =
        (rw_partitions){.kind = RW_PARTITION_AT, .count = (uint32_t)read.count + 1, .at = read.at};
    return NULL;
}
