#include "proxy/base/address.h"

#include "protocol/bytes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct px_address {
    px_addresses *all;
    px_address *next; /* next address in the same bucket */
    struct in6_addr key;
    unsigned connections, guests;
    char text[INET6_ADDRSTRLEN];
};

enum { BUCKETS = 4096 };

/* The addresses that have connections. */
struct px_addresses {
    pthread_mutex_t lock;
    px_address *buckets[BUCKETS];
};

px_addresses *px_addresses_new(void)
{
    px_addresses *addresses = pgw_calloc(1, sizeof *addresses);
    pthread_mutex_init(&addresses->lock, NULL);
    return addresses;
}

void px_addresses_free(px_addresses *addresses)
{
    pthread_mutex_destroy(&addresses->lock);
    free(addresses);
}

static px_address **bucket_of(px_addresses *addresses, const struct in6_addr *key)
{
    return &addresses->buckets[XXH3_64bits(key, sizeof *key) % BUCKETS];
}

static struct in6_addr key_of(const struct sockaddr_storage *from)
{
    if (from->ss_family == AF_INET6)
        return ((const struct sockaddr_in6 *)from)->sin6_addr;
    struct in6_addr key = {.s6_addr = {[10] = 0xff, [11] = 0xff}}; /* ::ffff:a.b.c.d */
    memcpy(key.s6_addr + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
    return key;
}

static px_address *new_address(px_addresses *all, const struct in6_addr *key)
{
    px_address *address = pgw_calloc(1, sizeof *address);
    address->all = all;
    address->key = *key;
    if (IN6_IS_ADDR_V4MAPPED(key))
        inet_ntop(AF_INET, key->s6_addr + 12, address->text, sizeof address->text);
    else
        inet_ntop(AF_INET6, key, address->text, sizeof address->text);
    return address;
}

px_address *px_address_enter(px_addresses *addresses, const struct sockaddr_storage *from,
                             unsigned *count)
{
    if (from->ss_family == AF_UNIX) {
        *count = 0;
        return NULL;
    }
    struct in6_addr key = key_of(from);
    pthread_mutex_lock(&addresses->lock);
    px_address **bucket = bucket_of(addresses, &key), *address = *bucket;
    while (address != NULL && memcmp(&address->key, &key, sizeof key) != 0)
        address = address->next;
    if (address == NULL) {
        address = new_address(addresses, &key);
        address->next = *bucket;
        *bucket = address;
    }
    *count = ++address->connections;
    pthread_mutex_unlock(&addresses->lock);
    return address;
}

void px_address_leave(px_address *address)
{
    if (address == NULL)
        return;
    px_addresses *addresses = address->all;
    pthread_mutex_lock(&addresses->lock);
    if (--address->connections == 0) {
        px_address **at = bucket_of(addresses, &address->key);
        while (*at != address)
            at = &(*at)->next;
        *at = address->next;
        free(address);
    }
    pthread_mutex_unlock(&addresses->lock);
}

unsigned px_address_add_guests(px_address *address, int by)
{
    return address != NULL ? address->guests += (unsigned)by : 0;
}

const char *px_address_text(const px_address *address)
{
    return address != NULL ? address->text : "unix";
}
