/*
 * address: the machines that clients come from, and how many connections each has. Counted by the
 * acceptor, given back by the workers.
 */
#ifndef PX_ADDRESS_H
#define PX_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

typedef struct px_addresses px_addresses;
typedef struct px_address px_address;

px_addresses *px_addresses_new(void);
void px_addresses_free(px_addresses *addresses); /* All connections must have left. */

/* Counts one more connection from an address; `count` is how many it has now. NULL for a Unix
 * socket. Ports do not matter, and an IPv4 address is the same when it is mapped into IPv6.
 * Thread-safe. */
px_address *px_address_enter(px_addresses *addresses, const struct sockaddr_storage *from,
                             unsigned *count);
/* Counts one connection less; the address must not be used any more. NULL is fine. Thread-safe. */
void px_address_leave(px_address *address);
/* Counts `by` more connections that have not logged in; returns how many there are (0 for a NULL
 * address). The waiting list's lock guards it. */
unsigned px_address_add_guests(px_address *address, int by);
/* The address for logs: "192.0.2.7", "2001:db8::7" or "unix". */
const char *px_address_text(const px_address *address);

#endif
