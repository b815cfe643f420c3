/*
 * replay: runs a fuzz target on every file of the folders and files given, where no libFuzzer is.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return -1;
    }
    size_t len = 0, cap = 1 << 16;
    uint8_t *bytes = malloc(cap);
    while (bytes != NULL) {
        len += fread(bytes + len, 1, cap - len, file);
        if (len < cap)
            break;
        cap *= 2;
        uint8_t *more = realloc(bytes, cap);
        if (more == NULL)
            free(bytes);
        bytes = more;
    }
    fclose(file);
    if (bytes == NULL)
        return -1;
    /* of exactly its size, so that reading past the end is seen */
    uint8_t *exact = realloc(bytes, len > 0 ? len : 1);
    LLVMFuzzerTestOneInput(exact != NULL ? exact : bytes, len);
    free(exact != NULL ? exact : bytes);
    return 1;
}

static int run(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        return run_file(path);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        return -1;
    }
    int count = 0;
    for (struct dirent *entry; count >= 0 && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        int ran = run_file(name);
        count = ran < 0 ? ran : count + ran;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = run(argv[i]);
        if (count < 0)
            return 1;
        total += count;
    }
    printf("%d inputs\n", total);
    return total > 0 ? 0 : 1;
}
