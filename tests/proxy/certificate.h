/*
 * certificate: a key of its own and what it says of itself, for a server that nobody knows.
 */
#ifndef TEST_CERTIFICATE_H
#define TEST_CERTIFICATE_H

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>

/* As PEM, good for a day; false if it could not be written. */
static inline bool certificate_write(FILE *certificate_to, FILE *key_to)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
    X509_set_pubkey(certificate, key);
    bool written = X509_sign(certificate, key, EVP_sha256()) > 0 &&
                   PEM_write_X509(certificate_to, certificate) == 1 &&
                   PEM_write_PrivateKey(key_to, key, NULL, NULL, 0, NULL, NULL) == 1;
    X509_free(certificate);
    EVP_PKEY_free(key);
    return written;
}

#endif
